//! The log and its scrolling: it follows the end, or holds what is being read in place.

use super::{
    super::browser,
    anchor::{Anchor, NEAR_START_SCREENS},
    pane::Pane,
    place::Visit,
    rooms::Rooms,
    with_log,
};
use crate::rows::Rows;

/// The place is saved and the spacer above corrected after this many milliseconds without scrolling.
const IDLE_MS: u32 = 200;

pub(super) struct Log {
    pub(super) rooms: Rooms,
    pub(super) anchor: Anchor,
    pub(super) visit: Visit,
    /// Set after a return, when the first frame has already been settled.
    pub(super) is_just_back: bool,
    /// A short transcript on its first visit: only the blocks at its end are drawn so far.
    pub(super) has_end_only: bool,
    pub(super) following: bool,
    /// The scroll height when it was last settled.
    pub(super) last_height: i32,
    /// The view's height then. When that changes the browser scrolls by itself, which does not mean that the reader
    /// left the end.
    last_view: i32,
    scrolled_at: f64,
    pub(super) is_waiting: bool,
    pub(super) is_looking: bool,
    told: Box<dyn Fn(bool)>,
    near_start: Box<dyn Fn()>,
}

impl Log {
    pub(super) fn find(key: String, rows: Rows, told: Box<dyn Fn(bool)>, near_start: Box<dyn Fn()>) -> Option<Self> {
        let pane = Pane::find()?;
        let scroller = pane.scroller.clone();
        Some(Self {
            anchor: Anchor { held: None, held_at: 0, is_going: false, last_top: scroller.scroll_top() },
            last_height: scroller.scroll_height(),
            last_view: scroller.client_height(),
            rooms: Rooms::new(pane, rows),
            visit: Visit { key, sought: None },
            is_just_back: false,
            has_end_only: false,
            following: true,
            scrolled_at: 0.0,
            is_waiting: false,
            is_looking: false,
            told,
            near_start,
        })
    }

    pub(super) fn begin(&mut self) {
        self.rooms.begin();
        let window = self.rooms.rows.window;
        self.has_end_only = window.is_whole() && window.drawn_now().start > 0;
        if self.has_end_only {
            browser::once_painted(|| {
                with_log(Log::draw_rest);
            });
        }
    }

    /// Draws the rest of a short transcript, once its end has been shown.
    pub(super) fn draw_rest(&mut self) {
        if std::mem::take(&mut self.has_end_only) {
            self.look();
        }
    }

    pub(super) fn end(&mut self) {
        if self.is_waiting {
            self.visit.save(&self.rooms, self.following);
        }
        self.rooms.rows.window.end();
    }

    /// Handles a scroll event. Growing content does not end following; only scrolling up does.
    pub(super) fn scrolled(&mut self) {
        let top = self.rooms.pane.scroller.scroll_top();
        if self.visit.sought.is_some() {
            self.anchor.last_top = top;
            return;
        }
        if self.following && self.is_resized() {
            return self.settle();
        }
        // Our own corrections also arrive as scroll events; only the user's take hold of another block.
        if top != self.anchor.last_top && !self.anchor.is_on_its_way(&self.rooms) {
            self.unfold();
            self.anchor.hold(&self.rooms);
        }
        if self.rooms.pane.is_at_end() {
            self.follow(true);
        } else if top < self.anchor.last_top {
            self.follow(false);
        }
        self.anchor.last_top = top;
        self.scrolled_at = browser::monotonic_ms();
        self.look();
        self.wait_for_idle();
    }

    /// Puts everything in its place after blocks were added, removed or resized.
    pub(super) fn settle(&mut self) {
        let scroller = self.rooms.pane.scroller.clone();
        if scroller.client_height() == 0 {
            return;
        }
        // Shrinking content scrolls the view up by itself, because blocks were removed or became shorter. That does
        // not end following.
        let has_shrunk = scroller.scroll_height() < self.last_height;
        self.rooms.drawn();
        self.rooms.set_heights();
        let is_above = scroller.scroll_top() < self.anchor.last_top && !self.rooms.pane.is_at_end();
        let has_left = is_above && !has_shrunk && !self.is_resized();
        if self.following && has_left {
            self.stop_following();
        }
        self.rooms.measure();
        match self.following {
            true => self.scroll_to_end(),
            false => self.anchor.put_back(&mut self.rooms),
        }
        self.last_height = scroller.scroll_height();
        self.last_view = scroller.client_height();
        self.look_soon();
    }

    /// Draws what belongs around the view, and requests more when it comes near the start.
    pub(super) fn look(&mut self) {
        self.is_looking = false;
        if self.rooms.folded.is_some() {
            return;
        }
        let has_one_screen = self.rooms.pane.has_one_screen();
        if self.has_end_only && self.following && !has_one_screen {
            return;
        }
        let Some(view) = self.anchor.view(&self.rooms, self.following) else { return };
        if let Some(range) = self.rooms.rows.window.fit(view) {
            self.rooms.draw(range);
        }
        let is_near = f64::from(self.rooms.pane.scroller.scroll_top()) < NEAR_START_SCREENS * view.height;
        let is_still = self.visit.sought.is_none() && !self.anchor.is_going;
        if is_near && (!self.following || has_one_screen) && is_still {
            (self.near_start)();
        }
    }

    fn look_soon(&mut self) {
        if !std::mem::replace(&mut self.is_looking, true) {
            browser::before_paint(|| {
                with_log(Log::look);
            });
        }
    }

    /// Whether the view has been resized since it was last settled, as when the message field grows.
    fn is_resized(&self) -> bool {
        self.rooms.pane.scroller.client_height() != self.last_view
    }

    pub(super) fn follow(&mut self, following: bool) {
        if self.following != following {
            self.following = following;
            (self.told)(following);
        }
    }

    pub(super) fn stop_following(&mut self) {
        self.follow(false);
        self.anchor.hold(&self.rooms);
    }

    pub(super) fn wait_for_idle(&mut self) {
        if !std::mem::replace(&mut self.is_waiting, true) {
            browser::after(IDLE_MS, || {
                with_log(Log::idle);
            });
        }
    }

    fn idle(&mut self) {
        self.is_waiting = false;
        if browser::monotonic_ms() - self.scrolled_at < f64::from(IDLE_MS) / 2.0 {
            return self.wait_for_idle();
        }
        if !self.following && self.visit.sought.is_none() {
            self.anchor.put_right(&mut self.rooms);
        }
        self.visit.save(&self.rooms, self.following);
    }
}
