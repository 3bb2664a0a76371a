//! The heights of all blocks of a transcript, including those not drawn. Pure.

use std::{collections::HashMap, hash::Hash, ops::Range};

/// Heights in CSS pixels, top to bottom: estimated until a block has been measured. Prefix sums, searches by height
/// and updates take logarithmic time; changing the list takes time linear in its length.
#[derive(Debug, Clone)]
pub(crate) struct Heights<K> {
    keys: Vec<K>,
    px: Vec<f64>,
    /// A Fenwick tree over `px`: entry `n` sums as many blocks before `n` as the value of `n`'s lowest set bit.
    sums: Vec<f64>,
}

impl<K> Default for Heights<K> {
    fn default() -> Self {
        Self { keys: Vec::new(), px: Vec::new(), sums: vec![0.0] }
    }
}

impl<K: Eq + Hash> Heights<K> {
    pub(crate) fn len(&self) -> usize {
        self.px.len()
    }

    /// Replaces the blocks from `from` on. A block that existed before, wherever it was, keeps its height; `estimate`
    /// is called for the others.
    pub(crate) fn replace(&mut self, from: usize, keys: Vec<K>, mut estimate: impl FnMut(usize) -> f64) {
        let (mut gone, gone_px) = (self.keys.split_off(from), self.px.split_off(from));
        // Prepending an older page leaves everything after it unchanged.
        let same = gone.iter().rev().zip(keys.iter().rev()).take_while(|(before, now)| before == now).count();
        let moved = gone.len() - same;
        let mut known: HashMap<K, f64> = gone.drain(..moved).zip(gone_px.iter().copied()).collect();
        let fresh = keys.len() - same;
        for (offset, key) in keys[..fresh].iter().enumerate() {
            self.px.push(known.remove(key).unwrap_or_else(|| estimate(from + offset)));
        }
        self.px.extend_from_slice(&gone_px[moved..]);
        self.keys.extend(keys);
        self.sum_up();
    }

    /// Sets the height of the block at `index`.
    pub(crate) fn set(&mut self, index: usize, px: f64) {
        let more = px - self.px[index];
        if more == 0.0 {
            return;
        }
        self.px[index] = px;
        let mut at = index + 1;
        while at < self.sums.len() {
            self.sums[at] += more;
            at += lowest_bit(at);
        }
    }

    /// The total height of all blocks before `index`.
    pub(crate) fn above(&self, index: usize) -> f64 {
        let mut at = index.min(self.len());
        let mut sum = 0.0;
        while at > 0 {
            sum += self.sums[at];
            at -= lowest_bit(at);
        }
        sum
    }

    pub(crate) fn total(&self) -> f64 {
        self.above(self.len())
    }

    /// The block at pixel `y`: the first one for a `y` above all blocks, the last one below.
    pub(crate) fn at(&self, y: f64) -> usize {
        let (mut before, mut left) = (0, y);
        let mut step = self.len().checked_ilog2().map_or(0, |bits| 1 << bits);
        while step > 0 {
            if before + step < self.sums.len() && self.sums[before + step] <= left {
                before += step;
                left -= self.sums[before];
            }
            step /= 2;
        }
        before.min(self.len().saturating_sub(1))
    }

    /// The blocks that overlap this range of pixels.
    pub(crate) fn between(&self, top: f64, bottom: f64) -> Range<usize> {
        match self.len() {
            0 => 0..0,
            _ => self.at(top)..self.at(bottom) + 1,
        }
    }

    fn sum_up(&mut self) {
        self.sums.clear();
        self.sums.push(0.0);
        self.sums.extend_from_slice(&self.px);
        for at in 1..self.sums.len() {
            let parent = at + lowest_bit(at);
            if parent < self.sums.len() {
                self.sums[parent] += self.sums[at];
            }
        }
    }
}

fn lowest_bit(number: usize) -> usize {
    number & number.wrapping_neg()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(px: &[f64]) -> Heights<usize> {
        let mut heights = Heights::default();
        heights.replace(0, (0..px.len()).collect(), |index| px[index]);
        heights
    }

    #[test]
    fn sums_and_searches_agree_with_adding_up_one_by_one() {
        for len in [0_usize, 1, 2, 3, 7, 8, 9, 100, 1_000] {
            let mut px: Vec<f64> = (0..len).map(|index| ((index * 37) % 11) as f64 * 8.0).collect();
            let mut heights = of(&px);
            for index in (0..len).step_by(3) {
                px[index] = (index % 5) as f64;
                heights.set(index, px[index]);
            }
            let sum = |index: usize| px[..index].iter().sum::<f64>();
            for index in 0..=len {
                assert_eq!(heights.above(index), sum(index), "{index} of {len}");
            }
            for y in (0..=sum(len) as usize).step_by(5).take(500) {
                let slow = (0..len).find(|&index| sum(index + 1) > y as f64).unwrap_or(len.saturating_sub(1));
                assert_eq!(heights.at(y as f64), slow, "y {y} of {len}");
            }
        }
    }

    #[test]
    fn a_place_outside_of_everything_is_at_the_nearest_end() {
        let heights = of(&[10.0, 0.0, 10.0]);
        assert_eq!((heights.at(-50.0), heights.at(10.0), heights.at(900.0)), (0, 2, 2));
        assert_eq!(heights.between(-50.0, 9.0), 0..1);
        assert_eq!(heights.between(5.0, 900.0), 0..3);
        assert_eq!(of(&[]).between(0.0, 100.0), 0..0);
    }

    #[test]
    fn an_older_page_is_estimated_and_what_was_measured_stays() {
        let mut heights = Heights::default();
        heights.replace(0, vec!["c", "d"], |_| 50.0);
        heights.set(0, 33.0);
        let mut asked = Vec::new();
        heights.replace(0, vec!["a", "b", "c", "d"], |index| {
            asked.push(index);
            7.0
        });
        assert_eq!(asked, [0, 1]);
        assert_eq!((heights.above(2), heights.above(3), heights.total()), (14.0, 47.0, 97.0));
    }

    #[test]
    fn a_block_that_moves_takes_its_height_along_and_one_that_goes_leaves_none() {
        let mut heights = Heights::default();
        heights.replace(0, vec!["a", "b", "c", "d"], |index| index as f64);
        heights.replace(1, vec!["c", "x", "b"], |_| 100.0);
        assert_eq!([1, 2, 3, 4].map(|index| heights.above(index)), [0.0, 2.0, 102.0, 103.0]);
        heights.replace(4, vec!["e"], |_| 5.0);
        assert_eq!((heights.len(), heights.total()), (5, 108.0));
    }
}
