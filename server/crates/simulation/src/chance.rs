//! What is decided by a seed.

/// A stream of decisions. The same seed gives the same ones.
#[derive(Debug, Clone)]
pub struct Chance(u64);

impl Chance {
    pub fn of(seed: u64) -> Self {
        Self(seed)
    }

    /// An independent stream for one part of the day, so that one part's draws do not change another's.
    pub fn fork(&mut self) -> Self {
        Self(self.number())
    }

    /// Any number. (Steele, Lea and Flood's SplitMix64.)
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.number() % end
    }

    /// A number from `first` to `last`, both included.
    pub fn within(&mut self, first: u64, last: u64) -> u64 {
        first + self.below(last - first + 1)
    }

    /// True once in `times`.
    pub fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// One of these, of which there is at least one.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        let index = usize::try_from(self.below(from.len() as u64)).unwrap_or_default();
        &from[index]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_decides_the_same_each_time_and_another_decides_otherwise() {
        let decisions = |seed| {
            let mut chance = Chance::of(seed);
            let mut fork = chance.fork();
            (0..9).map(|_| (chance.within(3, 5), fork.once_in(2))).collect::<Vec<_>>()
        };
        assert_eq!(decisions(1), decisions(1));
        assert_ne!(decisions(1), decisions(2));
        assert!(decisions(3).iter().all(|(number, _)| (3..=5).contains(number)));
    }
}
