//! Going somewhere: to the end, the start, a turn, a block that may not be drawn; and where the reader was last.

use super::{
    super::browser,
    MARGIN_PX,
    holding::top_of,
    log::{Held, IDLE_MS, Log},
    place::{Place, Target, linked},
    with_log,
};

impl Log {
    pub(super) fn scroll_to_end(&mut self) {
        self.above_px += self.lacking_px();
        self.set_rooms();
        self.scroller.set_scroll_top(self.scroller.scroll_height());
        self.last_top = self.scroller.scroll_top();
    }

    pub(super) fn return_to_end(&mut self) {
        self.sought = None;
        self.is_going = false;
        self.scroll_to_end();
        self.follow(true);
        self.look();
    }

    pub(super) fn go_to_start(&mut self) {
        let before_blocks = top_of(&self.above) - top_of(&self.scroller) + f64::from(self.scroller.scroll_top());
        self.go(0, before_blocks);
    }

    /// False when it is not in this page.
    pub(super) fn go_to_block(&mut self, id: &str, offset: f64) -> bool {
        let index = self.rows.index_of(id);
        if let Some(index) = index {
            self.go(index, offset);
        }
        index.is_some()
    }

    /// To an entry, drawn or not: its top is so far below the top of the view then.
    pub(super) fn go(&mut self, index: usize, offset: f64) {
        let Some(id) = self.rows.dom_id_at(index) else { return };
        self.unfold();
        self.sought = None;
        self.follow(false);
        self.held = Some(Held { id, offset });
        self.is_going = true;
        let before = self.rows.drawn_now();
        self.look();
        // Otherwise it follows as soon as the blocks are in the page.
        if self.rows.drawn_now() == before {
            self.put_back();
        }
        self.wait_for_idle();
    }

    /// False when none is open.
    pub(super) fn go_to_question(&mut self) -> bool {
        let index = self.rows.open_question();
        if let Some(index) = index {
            self.go(index, MARGIN_PX);
        }
        index.is_some()
    }

    pub(super) fn go_to_turn(&mut self, step: i32) {
        self.unfold();
        self.hold();
        let Some(index) = self.held.as_ref().and_then(|held| self.rows.index_of(&held.id)) else { return };
        let nearest = self.rows.turn_from(if step > 0 { index } else { index + 1 }, step);
        // The heading at the top of the view is that of the turn that one is in.
        let beyond = nearest.and_then(|turn| self.rows.turn_from(turn + usize::from(step > 0), step));
        match nearest.filter(|turn| self.is_elsewhere(*turn)).or(beyond) {
            Some(turn) => self.go(turn, MARGIN_PX),
            None if step < 0 => self.go_to_start(),
            None => (),
        }
    }

    /// The entry is not the one at the top of the view, where one comes to by going to it.
    fn is_elsewhere(&self, index: usize) -> bool {
        let block = self.rows.dom_id_at(index).and_then(|id| browser::element(&id));
        block.is_none_or(|block| (self.offset_of(&block) - MARGIN_PX).abs() > 4.0)
    }

    pub(super) fn wait_for_idle(&mut self) {
        if !std::mem::replace(&mut self.is_waiting, true) {
            browser::after(IDLE_MS, || {
                with_log(Log::idle);
            });
        }
    }

    pub(super) fn idle(&mut self) {
        self.is_waiting = false;
        if browser::monotonic_ms() - self.scrolled_at < f64::from(IDLE_MS) / 2.0 {
            return self.wait_for_idle();
        }
        if !self.following && self.sought.is_none() {
            self.put_right();
        }
        self.save();
    }

    pub(super) fn save(&mut self) {
        self.is_waiting = false;
        if !self.scroller.is_connected() || self.sought.is_some() || self.folded.is_some() {
            return;
        }
        let Some(anchor) = self.first_in_sight() else { return };
        let offset = self.offset_of(&anchor);
        Place { following: self.following, anchor: anchor.id(), offset }.save(&self.key);
    }

    pub(super) fn take_sought(&mut self) -> Option<Target> {
        self.sought.take()
    }

    pub(super) fn seek(&mut self, target: Target) {
        self.follow(false);
        self.sought = Some(target);
    }

    /// Where this visit begins; none at the end.
    pub(super) fn wanted(&self) -> Option<Target> {
        let is_here = |id: &String| self.rows.index_of(id).is_some() || id.starts_with("seq-");
        linked().filter(is_here).map(Target::Block).or_else(|| Place::kept(&self.key).map(Target::Place))
    }
}
