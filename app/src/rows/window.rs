//! Which blocks of a long transcript are drawn: those around the view. Two empty spacers stand in for the rest, with
//! the same height. Pure: `live::scroll` measures, and draws what is decided here.

mod estimate;
mod heights;

use std::{hash::Hash, ops::Range};

pub(crate) use self::{
    estimate::{LINES_MAX, block_px, end_lines, only_looks},
    heights::Heights,
};

/// Up to this many blocks, all are drawn, and the browser's own search finds every word.
pub(crate) const ALL_DRAWN_MAX: usize = 200;

/// How many at the end are drawn before a new page is shown; all, if they fill less than a screen.
pub(crate) const FIRST_DRAWN: usize = 30;

/// At least this many screens above and below are drawn; with less, more is drawn.
const REACH_LEAST: f64 = 0.75;
/// How many screens to draw once more is needed: few enough to be done within a frame.
const REACH: f64 = 1.5;
/// The drawn range may be this many times the wanted one before some of it is removed.
const SPARE_FACTOR: f64 = 3.0;

/// The visible part, in CSS pixels from the top of the first block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct View {
    pub(crate) top: f64,
    pub(crate) height: f64,
}

impl View {
    fn with<K: Eq + Hash>(self, heights: &Heights<K>, screens: f64) -> Range<usize> {
        let reach = self.height * screens;
        heights.between(self.top - reach, self.top + self.height + reach)
    }
}

/// The blocks to draw in place of those drawn now; `None` while these will do.
pub(crate) fn fit<K: Eq + Hash>(heights: &Heights<K>, view: View, drawn: &Range<usize>) -> Option<Range<usize>> {
    let len = heights.len();
    if len <= ALL_DRAWN_MAX {
        return (*drawn != (0..len)).then_some(0..len);
    }
    let needed = view.with(heights, REACH_LEAST);
    let wanted = view.with(heights, REACH);
    let is_enough = drawn.start <= needed.start && needed.end <= drawn.end && drawn.end <= len;
    let px = |range: &Range<usize>| heights.above(range.end) - heights.above(range.start);
    let is_too_much = px(drawn) > SPARE_FACTOR * px(&wanted).max(view.height);
    (!is_enough || is_too_much).then_some(wanted).filter(|wanted| wanted != drawn)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// This many blocks of 40 pixels each.
    fn blocks(count: usize) -> Heights<usize> {
        let mut heights = Heights::default();
        heights.replace(0, (0..count).collect(), |_| 40.0);
        heights
    }

    fn view(top: f64) -> View {
        View { top, height: 800.0 }
    }

    #[test]
    fn a_short_transcript_is_drawn_as_a_whole() {
        assert_eq!(fit(&blocks(200), view(0.0), &(0..200)), None);
        assert_eq!(fit(&blocks(200), view(0.0), &(0..180)), Some(0..200));
        assert_eq!(fit(&blocks(0), view(0.0), &(0..0)), None);
    }

    #[test]
    fn only_what_is_near_the_view_is_drawn_and_the_same_while_the_view_hardly_moves() {
        let heights = blocks(10_000);
        let top = 200_000.0;
        let drawn = fit(&heights, view(top), &(0..10_000)).unwrap();
        assert_eq!(drawn, 4_970..5_051);
        for moved in [-590.0, -100.0, 0.0, 100.0, 590.0] {
            assert_eq!(fit(&heights, view(top + moved), &drawn), None, "moved by {moved}");
        }
        assert_eq!(fit(&heights, view(top + 700.0), &drawn), Some(4_987..5_068));
    }

    #[test]
    fn at_the_ends_there_is_nothing_more_to_draw() {
        let heights = blocks(10_000);
        assert_eq!(fit(&heights, view(0.0), &(0..51)), None);
        assert_eq!(fit(&heights, view(399_200.0), &(9_950..10_000)), None);
        assert_eq!(fit(&heights, view(1e9), &(0..51)), Some(9_999..10_000));
    }

    #[test]
    fn a_block_that_fills_many_screens_is_drawn_with_its_neighbours() {
        let mut heights = blocks(1_000);
        heights.set(500, 90_000.0);
        let middle = heights.above(500) + 40_000.0;
        assert_eq!(fit(&heights, view(middle), &(0..20)), Some(500..501));
        assert_eq!(fit(&heights, view(middle), &(490..520)), None);
    }

    #[test]
    fn what_came_while_the_end_was_followed_goes_once_it_is_much() {
        let heights = blocks(10_000);
        assert_eq!(fit(&heights, view(399_200.0), &(9_900..10_000)), None);
        assert_eq!(fit(&heights, view(399_200.0), &(9_700..10_000)), Some(9_950..10_000));
    }
}
