//! Going somewhere: to the end, the start, a turn, or a block that may not be drawn.

use super::{super::browser, MARGIN_PX, anchor::Held, log::Log, pane::top_of, rooms::Rooms};

impl Log {
    pub(super) fn scroll_to_end(&mut self) {
        self.rooms.above_px += self.rooms.lacking_px();
        self.rooms.set_heights();
        let scroller = &self.rooms.pane.scroller;
        scroller.set_scroll_top(scroller.scroll_height());
        self.anchor.last_top = scroller.scroll_top();
    }

    pub(super) fn return_to_end(&mut self) {
        self.visit.sought = None;
        self.anchor.is_going = false;
        self.scroll_to_end();
        self.follow(true);
        self.look();
    }

    pub(super) fn go_to_start(&mut self) {
        let pane = &self.rooms.pane;
        let before_blocks = top_of(&pane.above) - pane.edge() + f64::from(pane.scroller.scroll_top());
        self.go(0, before_blocks);
    }

    /// Goes to the block with this id. Returns false if it is not on this page.
    pub(super) fn go_to_block(&mut self, id: &str, offset: f64) -> bool {
        let index = self.rooms.rows.index_of(id);
        if let Some(index) = index {
            self.go(index, offset);
        }
        index.is_some()
    }

    /// Goes to the block, leaving room for the find bar if it covers the top of the transcript.
    pub(super) fn show(&mut self, id: &str) -> bool {
        let bar = browser::all(".find-bar.is-open").into_iter().next();
        let covered = bar.map_or(0.0, |bar| bar.get_bounding_client_rect().bottom() - self.rooms.pane.edge());
        self.go_to_block(id, MARGIN_PX + covered.max(0.0))
    }

    /// Goes to a row, drawn or not, placing its top `offset` below the top of the view.
    pub(super) fn go(&mut self, index: usize, offset: f64) {
        let window = self.rooms.rows.window;
        let Some(id) = window.dom_id_at(index) else { return };
        self.unfold();
        self.visit.sought = None;
        self.follow(false);
        self.anchor.held = Some(Held { id, offset });
        self.anchor.is_going = true;
        let before = window.drawn_now();
        self.look();
        // Otherwise this happens as soon as the blocks are in the document.
        if window.drawn_now() == before {
            self.anchor.put_back(&mut self.rooms);
        }
        self.wait_for_idle();
    }

    pub(super) fn go_to_turn(&mut self, step: i32) {
        self.unfold();
        self.anchor.hold(&self.rooms);
        let rows = self.rooms.rows;
        let Some(index) = self.anchor.held.as_ref().and_then(|held| rows.index_of(&held.id)) else { return };
        let nearest = rows.window.turn_from(if step > 0 { index } else { index + 1 }, step);
        // If that heading is already at the top of the view, go one further.
        let beyond = nearest.and_then(|turn| rows.window.turn_from(turn + usize::from(step > 0), step));
        match nearest.filter(|turn| is_elsewhere(&self.rooms, *turn)).or(beyond) {
            Some(turn) => self.go(turn, MARGIN_PX),
            None if step < 0 => self.go_to_start(),
            None => (),
        }
    }
}

/// Whether the row is not already at the top of the view, where going to it would put it.
fn is_elsewhere(rooms: &Rooms, index: usize) -> bool {
    let block = rooms.rows.window.dom_id_at(index).and_then(|id| browser::element(&id));
    block.is_none_or(|block| (rooms.pane.offset_of(&block) - MARGIN_PX).abs() > 4.0)
}
