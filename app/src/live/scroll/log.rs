//! The scrolling part of a Pod's page: what is held in place, what is drawn, and the rooms for what is not.

use web_sys::{HtmlCollection, HtmlElement};

use super::{super::browser, folded::Folded, opened::Opened, place::Target, with_log};
use crate::rows::{Rows, View};

/// So close to the end counts as at the end, in CSS pixels.
const END_PX: i32 = 24;

/// So many screens before the first block more are fetched.
pub(super) const NEAR_START_SCREENS: f64 = 2.0;

/// A place is saved, and the room above put right, once nobody has scrolled for so many milliseconds.
pub(super) const IDLE_MS: u32 = 200;

/// Of a letter, in CSS pixels: only for estimates.
const LETTER_PX: i32 = 8;

/// The block that stays where it is.
pub(super) struct Held {
    /// Of its element.
    pub(super) id: String,
    /// Of its top below the top of the view, in CSS pixels, as of `Log::held_at`.
    pub(super) offset: f64,
}

pub(super) struct Log {
    pub(super) scroller: HtmlElement,
    pub(super) earlier: HtmlElement,
    pub(super) above: HtmlElement,
    pub(super) drawn: HtmlElement,
    pub(super) below: HtmlElement,
    /// The elements of what is drawn, in order; follows the page by itself.
    pub(super) blocks: HtmlCollection,
    pub(super) rows: Rows,
    /// Height of the room above, in CSS pixels. While somebody scrolls it takes up what the estimates were wrong by,
    /// so that nothing has to be scrolled against the reader's hand.
    pub(super) above_px: f64,
    pub(super) held: Option<Held>,
    /// How far was scrolled when it was taken hold of: somebody may have scrolled on without our having been told yet.
    pub(super) held_at: i32,
    /// The held block is to be scrolled to.
    pub(super) is_going: bool,
    pub(super) opened: Opened,
    /// Blocks far from the view that take no part in the layout for the first frames after a return.
    pub(super) folded: Option<Folded>,
    /// Put in order already for the first frame after a return.
    pub(super) is_just_back: bool,
    /// Of a short transcript that was not seen before the blocks at its end are drawn, and no others yet.
    pub(super) has_end_only: bool,
    pub(super) has_focus: bool,
    /// Name under which the place is kept.
    pub(super) key: String,
    pub(super) following: bool,
    pub(super) last_top: i32,
    /// Height of all there is to scroll, when it was last put in order.
    pub(super) last_height: i32,
    /// Height of the view then: the browser itself scrolls when that changes, and nobody has left.
    pub(super) last_view: i32,
    pub(super) width: i32,
    pub(super) scrolled_at: f64,
    pub(super) is_waiting: bool,
    pub(super) is_looking: bool,
    /// Where to go once that place has been loaded; nothing is saved over it meanwhile.
    pub(super) sought: Option<Target>,
    pub(super) told: Box<dyn Fn(bool)>,
    pub(super) near_start: Box<dyn Fn()>,
}

impl Log {
    pub(super) fn find(key: String, rows: Rows, told: Box<dyn Fn(bool)>, near_start: Box<dyn Fn()>) -> Option<Self> {
        let (scroller, drawn) = (browser::element("log")?, browser::element("log-drawn")?);
        Some(Self {
            last_top: scroller.scroll_top(),
            last_height: scroller.scroll_height(),
            last_view: scroller.client_height(),
            width: drawn.client_width(),
            earlier: browser::element("log-earlier")?,
            above: browser::element("log-above")?,
            below: browser::element("log-below")?,
            blocks: drawn.children(),
            scroller,
            drawn,
            rows,
            above_px: 0.0,
            held: None,
            held_at: 0,
            is_going: false,
            opened: Opened::default(),
            folded: None,
            is_just_back: false,
            has_end_only: false,
            has_focus: false,
            key,
            following: true,
            scrolled_at: 0.0,
            is_waiting: false,
            is_looking: false,
            sought: None,
            told,
            near_start,
        })
    }

    pub(super) fn begin(&mut self) {
        self.rows.begin_window(columns(self.width));
        self.measure();
        self.has_end_only = self.rows.is_whole() && self.rows.drawn_now().start > 0;
        if self.has_end_only {
            browser::once_painted(|| {
                with_log(Log::draw_rest);
            });
        }
    }

    /// The end is seen.
    pub(super) fn draw_rest(&mut self) {
        if std::mem::take(&mut self.has_end_only) {
            self.look();
        }
    }

    pub(super) fn end(&mut self) {
        if self.is_waiting {
            self.save();
        }
        self.rows.end_window();
    }

    pub(super) fn rows(&self) -> Rows {
        self.rows
    }

    pub(super) fn scroller(&self) -> &HtmlElement {
        &self.scroller
    }

    pub(super) fn drawn(&self) -> &HtmlElement {
        &self.drawn
    }

    /// Not the rooms: we set their height ourselves.
    pub(super) fn observed(&self) -> [&HtmlElement; 3] {
        [&self.scroller, &self.earlier, &self.drawn]
    }

    /// Growing content does not end the following; only a way upwards does.
    pub(super) fn scrolled(&mut self) {
        let top = self.scroller.scroll_top();
        if self.sought.is_some() {
            self.last_top = top;
            return;
        }
        if self.following && self.is_resized() {
            return self.settle();
        }
        // Our own corrections come back as scrolling, too; only a person's takes hold of another block.
        if top != self.last_top && !self.is_on_its_way() {
            self.unfold();
            self.hold();
        }
        if self.distance_to_end() <= END_PX {
            self.follow(true);
        } else if top < self.last_top {
            self.follow(false);
        }
        self.last_top = top;
        self.scrolled_at = browser::monotonic_ms();
        self.look();
        self.wait_for_idle();
    }

    /// Blocks have come or gone, or have another height than before: puts everything where it belongs.
    pub(super) fn settle(&mut self) {
        if self.screen_px() == 0.0 {
            return;
        }
        // Less to scroll takes the view upwards by itself: blocks left the page, or are less high. Nobody has left then.
        let has_shrunk = self.scroller.scroll_height() < self.last_height;
        if self.folded.is_none() {
            self.opened.restore(&self.blocks);
        }
        self.refocus();
        self.set_rooms();
        let is_above = self.scroller.scroll_top() < self.last_top && self.distance_to_end() > END_PX;
        let has_left = is_above && !has_shrunk && !self.is_resized();
        if self.following && has_left {
            self.stop_following();
        }
        self.measure();
        match self.following {
            true => self.scroll_to_end(),
            false => self.put_back(),
        }
        self.last_height = self.scroller.scroll_height();
        self.last_view = self.scroller.client_height();
        self.look_soon();
    }

    /// Draws what belongs around the view, and asks for more where it comes near the start.
    pub(super) fn look(&mut self) {
        self.is_looking = false;
        if self.folded.is_some() {
            return;
        }
        let has_one_screen = self.scroller.scroll_height() <= self.scroller.client_height();
        if self.has_end_only && self.following && !has_one_screen {
            return;
        }
        let Some(view) = self.view() else { return };
        if let Some(range) = self.rows.fit(view) {
            let start = self.rows.drawn_now().start;
            let px = |index| self.rows.with_heights(|heights| heights.above(index)).unwrap_or_default();
            self.above_px = (self.above_px + px(range.start) - px(start)).max(0.0);
            self.opened.keep(&self.blocks);
            self.has_focus = self.drawn.contains(browser::document().active_element().as_deref());
            self.rows.draw_only(range);
        }
        let is_near = f64::from(self.scroller.scroll_top()) < NEAR_START_SCREENS * view.height;
        if is_near && (!self.following || has_one_screen) && self.sought.is_none() && !self.is_going {
            (self.near_start)();
        }
    }

    pub(super) fn look_soon(&mut self) {
        if !std::mem::replace(&mut self.is_looking, true) {
            browser::before_paint(|| {
                with_log(Log::look);
            });
        }
    }

    /// What is in sight, as the heights say it.
    pub(super) fn view(&self) -> Option<View> {
        let height = self.screen_px();
        let held = self.held.as_ref();
        let index = if self.following { None } else { Some(self.rows.index_of(&held?.id)?) };
        let top = self.rows.with_heights(|heights| {
            let end = heights.total() - height;
            let top = index.map_or(end, |index| heights.above(index) - held.map_or(0.0, |held| held.offset));
            top.min(end).max(0.0)
        })?;
        (height > 0.0).then_some(View { top, height })
    }

    pub(super) fn distance_to_end(&self) -> i32 {
        self.scroller.scroll_height() - self.scroller.scroll_top() - self.scroller.client_height()
    }

    /// What is below has grown or become smaller since everything was put in order, as the field for a message does.
    fn is_resized(&self) -> bool {
        self.scroller.client_height() != self.last_view
    }

    pub(super) fn follow(&mut self, following: bool) {
        if self.following != following {
            self.following = following;
            (self.told)(following);
        }
    }

    pub(super) fn stop_following(&mut self) {
        self.follow(false);
        self.hold();
    }

    pub(super) fn follow_if_at_end(&mut self) {
        if self.distance_to_end() <= END_PX {
            self.follow(true);
        }
    }

    pub(super) fn screen_px(&self) -> f64 {
        f64::from(self.scroller.client_height())
    }

    /// What had the focus may have left the page with its block.
    pub(super) fn refocus(&mut self) {
        let is_lost = || browser::document().active_element().is_none_or(|active| active.tag_name() == "BODY");
        if std::mem::take(&mut self.has_focus) && is_lost() {
            let _ = self.scroller.focus();
        }
    }
}

/// Characters in a line of this width.
pub(super) fn columns(px: i32) -> usize {
    (px / LETTER_PX).max(20) as usize
}
