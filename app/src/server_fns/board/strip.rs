//! What a Pod did over time, as a strip of bars on an axis that all rows share. Pure.

use jiff::{SignedDuration, Timestamp, tz::TimeZone};

/// Width and height of a strip, in CSS pixels.
pub(super) const SIZE: (u32, u32) = (216, 16);
/// The distance of two bars.
const STEP: u32 = 3;

/// From when you last looked to now.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axis {
    pub(super) from: Timestamp,
    pub(super) to: Timestamp,
}

impl Axis {
    /// Where a moment is, in pixels from the left; `None` before the beginning.
    pub(super) fn px(self, at: Timestamp) -> Option<u32> {
        let (all, part) = (self.to.duration_since(self.from).as_secs_f64(), at.duration_since(self.from).as_secs_f64());
        (part >= 0.0).then(|| ((part / all.max(1.0)).min(1.0) * f64::from(SIZE.0)) as u32)
    }

    /// The times between its ends that are written on it, each with its place in percent: those that have room between
    /// what is written at the ends.
    pub(super) fn ticks(self, zone: &TimeZone) -> Vec<(String, f64)> {
        let all = self.to.duration_since(self.from).as_secs_f64();
        let hours =
            [1, 3, 6, 24, 48, 168].into_iter().find(|hours| all / f64::from(*hours * 3_600) <= 4.0).unwrap_or(168);
        let start = self.from.to_zoned(zone.clone());
        let Ok(midnight) = start.start_of_day() else { return Vec::new() };
        let at = |number: i64| midnight.timestamp() + SignedDuration::from_hours(number * i64::from(hours));
        let place = |at: Timestamp| at.duration_since(self.from).as_secs_f64() / all.max(1.0) * 100.0;
        let ticks = (1..200).map(at).take_while(|at| *at < self.to).map(|at| (at, place(at)));
        ticks
            .filter(|(_, place)| (24.0..=80.0).contains(place))
            .map(|(at, place)| {
                let there = at.to_zoned(zone.clone());
                let words = if hours < 24 { there.strftime("%-H:%M") } else { there.strftime("%-d %b") };
                (words.to_string(), place)
            })
            .take(3)
            .collect()
    }

    /// The path of the bars: the more happened at a time, the higher. Empty if nothing did.
    pub(super) fn bars(self, moments: &[Timestamp]) -> String {
        let mut counts = vec![0u32; (SIZE.0 / STEP) as usize];
        for at in moments.iter().filter_map(|at| self.px(*at)) {
            let last = counts.len() - 1;
            counts[((at / STEP) as usize).min(last)] += 1;
        }
        let bar = |(number, count): (usize, &u32)| {
            let height = (2 + 3 * (32 - count.leading_zeros())).min(SIZE.1 - 1);
            (*count > 0).then(|| format!("M{} {}v-{height}", number as u32 * STEP + 1, SIZE.1))
        };
        counts.iter().enumerate().filter_map(bar).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minutes: i64) -> Timestamp {
        Timestamp::from_second(1_764_000_000 + minutes * 60).unwrap()
    }

    #[test]
    fn what_happened_stands_at_its_time_and_more_of_it_is_higher() {
        let axis = Axis { from: at(0), to: at(720) };
        assert_eq!(axis.bars(&[at(-5)]), "");
        assert_eq!(axis.bars(&[at(0), at(720), at(720), at(800)]), "M1 16v-5M214 16v-8");
        assert_eq!((axis.px(at(360)), axis.px(at(-1))), (Some(108), None));
    }

    #[test]
    fn the_axis_has_a_few_round_times() {
        let axis = Axis { from: at(0), to: at(24 * 60) };
        let ticks = axis.ticks(&TimeZone::UTC);
        assert!(!ticks.is_empty() && ticks.len() <= 3, "{ticks:?}");
        assert!(ticks.iter().all(|(words, _)| words.ends_with(":00")), "{ticks:?}");
        assert!(Axis { from: at(0), to: at(0) }.ticks(&TimeZone::UTC).is_empty());
    }
}
