//! The layout of small charts. Pure and in integers, so that server and browser draw the same.
//!
//! Horizontal positions are shares of the chart's width, so that it fits any screen; vertical ones are CSS pixels
//! from the top, as in SVG.

use std::fmt;

use protocol::{Timestamp, UsageDay};

use crate::format;

/// Height of the bar area, in CSS pixels.
pub(crate) const BARS_HEIGHT: u32 = 120;

/// Space above the highest line, for its label.
pub(crate) const HEAD_HEIGHT: u32 = 12;

/// Height of the whole chart, including the dates below.
pub(crate) const CHART_HEIGHT: u32 = HEAD_HEIGHT + BARS_HEIGHT + 20;

/// How many days are drawn, the newest at the right.
pub(crate) const DAYS: usize = 30;

/// One day in this many is labelled.
const NAMED_EVERY: usize = 7;

/// A share of the width, in hundredths of a percent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Share(pub(crate) u64);

impl Share {
    fn of(part: u64, whole: u64) -> Self {
        Self(scaled(part, 10_000, whole))
    }
}

impl fmt::Display for Share {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{:02}%", self.0 / 100, self.0 % 100)
    }
}

/// One day, as a bar of three pieces: cached input at the bottom, then other input, output on top.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bar {
    /// `21 Nov`.
    pub(crate) day: String,
    pub(crate) usage: UsageDay,
    pub(crate) x: Share,
    pub(crate) width: Share,
    /// From bottom to top.
    pub(crate) pieces: [Piece; 3],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) y: u32,
    pub(crate) height: u32,
}

/// A horizontal line, with its value in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tick {
    pub(crate) y: u32,
    pub(crate) tokens: u64,
}

/// The label of a day, centred at this position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DayName {
    pub(crate) x: Share,
    pub(crate) text: String,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BarChart {
    pub(crate) bars: Vec<Bar>,
    /// From bottom to top.
    pub(crate) ticks: Vec<Tick>,
    pub(crate) names: Vec<DayName>,
}

/// The days up to that of `now`, in UTC as in the report; a day without usage has an empty bar.
pub(crate) fn bar_chart(days: &[UsageDay], now: Timestamp) -> BarChart {
    let shown: Vec<(String, UsageDay)> = (0..DAYS as i64)
        .rev()
        .map(|back| {
            let (key, name) = day_names(now, back);
            (name, days.iter().find(|day| day.day.as_deref() == Some(key.as_str())).cloned().unwrap_or_default())
        })
        .collect();
    let top = round_above(shown.iter().map(|(_, usage)| tokens(usage)).max().unwrap_or(0));
    let count = shown.len() as u64;
    let names = shown
        .iter()
        .enumerate()
        .rev()
        .step_by(NAMED_EVERY)
        .map(|(index, (name, _))| DayName { x: Share::of(2 * index as u64 + 1, 2 * count), text: name.clone() });
    let names = names.collect();
    let bars = shown.into_iter().enumerate().map(|(index, (day, usage))| Bar {
        day,
        x: Share::of(8 * index as u64 + 1, 8 * count),
        width: Share::of(6, 8 * count),
        pieces: pieces(&usage, top),
        usage,
    });
    BarChart { bars: bars.collect(), ticks: ticks(top), names }
}

/// The usage on the day of `now`, in UTC.
pub(crate) fn today(days: &[UsageDay], now: Timestamp) -> UsageDay {
    let (key, _) = day_names(now, 0);
    days.iter().find(|day| day.day.as_deref() == Some(key.as_str())).cloned().unwrap_or_default()
}

/// Input plus output tokens. `input` includes what was cached.
pub(crate) fn tokens(usage: &UsageDay) -> u64 {
    usage.input.saturating_add(usage.output)
}

/// The date `back` days ago, as `2026-11-21` and `21 Nov`.
fn day_names(now: Timestamp, back: i64) -> (String, String) {
    let date = format::date(format::moment(now.as_millisecond() - back * 86_400_000));
    let name = format::day_name(&date);
    (date, name)
}

/// Each boundary is scaled separately, so that pieces meet and the whole is as high as its total.
fn pieces(usage: &UsageDay, top: u64) -> [Piece; 3] {
    let input = usage.input;
    let borders = [0, usage.cached.min(input), input, tokens(usage)].map(|border| height_of(border, top));
    std::array::from_fn(|index| Piece {
        y: HEAD_HEIGHT + BARS_HEIGHT - borders[index + 1],
        height: borders[index + 1] - borders[index],
    })
}

/// Anything above zero is at least one pixel high.
fn height_of(tokens: u64, top: u64) -> u32 {
    match tokens {
        0 => 0,
        tokens => u32::try_from(scaled(tokens, u64::from(BARS_HEIGHT), top)).unwrap_or(BARS_HEIGHT).max(1),
    }
}

/// Zero, half and the whole of the scale.
fn ticks(top: u64) -> Vec<Tick> {
    [0, top / 2, top].map(|tokens| Tick { y: HEAD_HEIGHT + BARS_HEIGHT - height_of(tokens, top), tokens }).to_vec()
}

/// The smallest 1, 2 or 5 times a power of ten that is at least `tokens`; at least 10.
fn round_above(tokens: u64) -> u64 {
    let mut power = 10_u64;
    loop {
        let steps = [1, 2, 5].into_iter().filter_map(|times| power.checked_mul(times));
        match (steps.into_iter().find(|step| *step >= tokens), power.checked_mul(10)) {
            (Some(step), _) => return step,
            (None, Some(next)) => power = next,
            (None, None) => return u64::MAX,
        }
    }
}

/// `part · size / whole`, rounded.
fn scaled(part: u64, size: u64, whole: u64) -> u64 {
    let (part, size, whole) = (u128::from(part), u128::from(size), u128::from(whole.max(1)));
    u64::try_from((part * size + whole / 2) / whole).unwrap_or(u64::MAX)
}

/// A share of a whole, for a bar beside a figure.
pub(crate) fn share_of(part: u64, whole: u64) -> Share {
    Share::of(part.min(whole), whole)
}

/// The points of a `polyline` through these values, in a box of this size. The highest value is at the top; a single
/// value is a flat line.
pub(crate) fn line_points(values: &[u64], width: u32, height: u32) -> String {
    let top = values.iter().copied().max().unwrap_or(0);
    let y = |value: u64| u64::from(height) - scaled(value, u64::from(height), top);
    let steps = values.len().saturating_sub(1) as u64;
    match values {
        [] => String::new(),
        [value] => format!("0,{y} {width},{y}", y = y(*value)),
        values => {
            let point = |(index, value): (usize, &u64)| {
                format!("{},{}", scaled(index as u64, u64::from(width), steps), y(*value))
            };
            values.iter().enumerate().map(point).collect::<Vec<_>>().join(" ")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Timestamp {
        "2026-11-21T09:00:00Z".parse().unwrap()
    }

    fn day(day: &str, input: u64, cached: u64, output: u64) -> UsageDay {
        UsageDay { day: Some(day.to_owned()), input, cached, output, ..UsageDay::default() }
    }

    #[test]
    fn each_day_has_its_place_and_the_newest_is_at_the_right() {
        let chart =
            bar_chart(&[day("2026-11-21", 60, 0, 40), day("2026-11-01", 10, 0, 0), day("2020-01-01", 9, 0, 0)], now());
        assert_eq!(chart.bars.len(), DAYS);
        let used: Vec<_> = chart.bars.iter().filter(|bar| tokens(&bar.usage) > 0).map(|bar| bar.day.as_str()).collect();
        assert_eq!(used, ["1 Nov", "21 Nov"]);
        assert_eq!(chart.bars[0].day, "23 Oct");
        let last = &chart.bars[DAYS - 1];
        assert!(last.x.0 + last.width.0 <= 10_000, "{last:?}");
        assert!(chart.bars.windows(2).all(|pair| pair[0].x.0 + pair[0].width.0 < pair[1].x.0));
    }

    #[test]
    fn a_bar_is_its_pieces_one_upon_the_other() {
        let chart = bar_chart(&[day("2026-11-21", 60, 20, 40)], now());
        let [cached, fresh, output] = chart.bars[DAYS - 1].pieces;
        let ground = HEAD_HEIGHT + BARS_HEIGHT;
        assert_eq!((cached.height, fresh.height, output.height), (24, 48, 48));
        assert_eq!((cached.y, fresh.y, output.y), (ground - 24, ground - 72, HEAD_HEIGHT));
        let empty = chart.bars[0].pieces;
        assert!(empty.iter().all(|piece| piece.height == 0));
    }

    #[test]
    fn a_little_beside_a_lot_is_still_seen() {
        let chart = bar_chart(&[day("2026-11-21", 5_000_000, 0, 0), day("2026-11-20", 1, 0, 0)], now());
        assert_eq!(chart.bars[DAYS - 2].pieces.map(|piece| piece.height), [0, 1, 0]);
    }

    #[test]
    fn the_scale_ends_at_a_round_figure_above_everything() {
        for (most, top) in [
            (0, 10),
            (7, 10),
            (11, 20),
            (20, 20),
            (21, 50),
            (51, 100),
            (100, 100),
            (230_000, 500_000),
            (999_999, 1_000_000),
            (u64::MAX, u64::MAX),
        ] {
            assert_eq!(round_above(most), top, "{most}");
        }
        let ticks = bar_chart(&[day("2026-11-21", 180, 0, 0)], now()).ticks;
        let ground = HEAD_HEIGHT + BARS_HEIGHT;
        let expected = [(0, ground), (100, ground - BARS_HEIGHT / 2), (200, HEAD_HEIGHT)];
        assert_eq!(ticks.iter().map(|tick| (tick.tokens, tick.y)).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn every_seventh_day_has_its_name_counted_from_today() {
        let names: Vec<_> = bar_chart(&[], now()).names.into_iter().map(|name| name.text).collect();
        assert_eq!(names, ["21 Nov", "14 Nov", "7 Nov", "31 Oct", "24 Oct"]);
    }

    #[test]
    fn today_is_the_day_in_utc() {
        let days = [day("2026-11-20", 1, 0, 0), day("2026-11-21", 2, 0, 0)];
        assert_eq!(today(&days, now()).input, 2);
        assert_eq!(today(&days, "2026-11-22T00:00:00Z".parse().unwrap()), UsageDay::default());
    }

    #[test]
    fn a_line_goes_from_edge_to_edge() {
        assert_eq!(line_points(&[0, 5, 10], 100, 20), "0,20 50,10 100,0");
        assert_eq!(line_points(&[3], 100, 20), "0,0 100,0");
        assert_eq!(line_points(&[0, 0], 100, 20), "0,20 100,20");
        assert_eq!(line_points(&[], 100, 20), "");
    }

    #[test]
    fn shares_are_whole_numbers_that_read_as_percent() {
        assert_eq!(share_of(1, 3).to_string(), "33.33%");
        assert_eq!(share_of(9, 3).to_string(), "100.00%");
        assert_eq!(share_of(1, 0).to_string(), "0.00%");
        assert_eq!(share_of(u64::MAX, u64::MAX).to_string(), "100.00%");
    }
}
