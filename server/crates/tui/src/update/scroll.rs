//! Scrolling the transcript. The position stays, whatever is added below.

use ratatui::layout::Rect;
use transcript::BlockKind;

use crate::{
    model::{Effect, Model, Older, Place, Seek},
    view::{Rows, transcript_area},
};

/// Scrolls up (negative) or down by lines. At the top, requests older records.
pub(crate) fn lines(model: &mut Model, step: isize) {
    let (area, detail) = (transcript_area(model), model.detail);
    let Some(open) = &mut model.open else { return };
    open.mark = None;
    for _ in 0..step.unsigned_abs() {
        let rows = Rows::new(open, detail, area.width);
        let moved = if step < 0 { up(&rows, &open.place, area) } else { down(&rows, &open.place) };
        match moved {
            Some(place) => open.place = place,
            None if step < 0 => return load_older(model),
            None => break,
        }
    }
}

/// Scrolls by a screen less one line, for continuity.
pub(crate) fn page(model: &mut Model, step: isize) {
    let height = isize::try_from(transcript_area(model).height).unwrap_or(1);
    lines(model, step * (height - 1).max(1));
}

/// Goes to the first line that is loaded, and requests older records.
pub(crate) fn top(model: &mut Model) {
    let (area, detail) = (transcript_area(model), model.detail);
    let Some(open) = &mut model.open else { return };
    let rows = Rows::new(open, detail, area.width);
    if rows.len() > 0 {
        open.place = below_line(&rows, 0, 0, usize::from(area.height.saturating_sub(1)));
    }
    load_older(model);
}

/// Goes to the next or previous message to this Pod: from the block that was gone to, else from the top of the screen.
pub(crate) fn turn(model: &mut Model, is_next: bool) {
    let (area, detail) = (transcript_area(model), model.detail);
    let Some(open) = &mut model.open else { return };
    let rows = Rows::new(open, detail, area.width);
    let Some((highest, _)) = rows.highest(&open.place, area.height) else { return };
    let at = open.mark.as_ref().and_then(|mark| rows.row_of(mark)).unwrap_or(highest);
    let begins = |row: &usize| {
        rows.blocks(*row).any(|block| matches!(block.kind, BlockKind::Person { .. } | BlockKind::Peer { .. }))
    };
    let found = if is_next { (at + 1..rows.len()).find(begins) } else { (0..at).rev().find(begins) };
    match found {
        // Its first line goes to the top of the screen.
        Some(row) => {
            let place = below(&rows, row, usize::from(area.height.saturating_sub(1)));
            (open.place, open.mark) = (place, Some(rows.id(row).clone()));
        }
        None if is_next => open.place = Place::End,
        None => top(model),
    }
}

/// Continues to a record further up; stops once it is there or after too many pages.
pub(super) fn seek(model: &mut Model) {
    let (area, detail) = (transcript_area(model), model.detail);
    let Some(open) = &mut model.open else { return };
    let Some(Seek { seq, pages_left }) = open.seek.take() else { return };
    if open.older == Older::OnTheServer && open.transcript.first_seq() > seq {
        if pages_left == 0 {
            return model.complain("too far up to load here; open it in the browser");
        }
        open.seek = Some(Seek { seq, pages_left: pages_left - 1 });
        return load_older(model);
    }
    let rows = Rows::new(open, detail, area.width);
    let found = (0..rows.len()).rev().find(|row| rows.blocks(*row).any(|block| block.seq <= seq));
    if let Some(row) = found {
        let (place, id) = (place_with_room(&rows, row, 0, area.height), rows.id(row).clone());
        (open.place, open.mark) = (place, Some(id));
        open.focus = crate::model::Focus::Transcript;
    }
}

/// A position that shows this line with some room below it.
pub(super) fn place_with_room(rows: &Rows<'_>, row: usize, line: usize, height: u16) -> Place {
    let height = usize::from(height);
    let above: usize = (0..row).map(|row| rows.lines(row).len()).take(height).sum::<usize>() + line;
    match above + height / 2 < height {
        // Then the first line is at the top of the screen, and not further down.
        true => below_line(rows, 0, 0, height.saturating_sub(1)),
        false => below_line(rows, row, line, height / 2),
    }
}

fn below(rows: &Rows<'_>, row: usize, count: usize) -> Place {
    // Most blocks begin with an empty line, which need not be on the screen.
    let first = usize::from(rows.lines(row).first().is_some_and(|line| line.width() == 0));
    below_line(rows, row, first, count)
}

/// The position `count` lines further down; the end if there are not so many.
fn below_line(rows: &Rows<'_>, row: usize, line: usize, count: usize) -> Place {
    let mut left = line + count;
    for row in row..rows.len() {
        let lines = rows.lines(row).len();
        if left < lines {
            return Place::At { block: rows.id(row).clone(), line: left };
        }
        left -= lines;
    }
    Place::End
}

fn load_older(model: &mut Model) {
    let Some(open) = model.open.as_mut().filter(|open| open.older == Older::OnTheServer) else { return };
    open.older = Older::OnTheirWay;
    let (pod, before) = (open.pod.clone(), open.transcript.first_seq());
    model.start(Effect::LoadOlder { pod, before });
}

fn up(rows: &Rows<'_>, place: &Place, area: Rect) -> Option<Place> {
    let (row, line) = rows.lowest(place)?;
    let height = usize::from(area.height);
    // Keep a full screen, otherwise the top of the transcript would move down.
    let mut above = line;
    for row in (0..row).rev() {
        if above >= height {
            break;
        }
        above += rows.lines(row).len();
    }
    if above < height {
        return None;
    }
    if line > 0 {
        return Some(Place::At { block: rows.id(row).clone(), line: line - 1 });
    }
    let before = (0..row).rev().find(|row| !rows.lines(*row).is_empty())?;
    Some(Place::At { block: rows.id(before).clone(), line: rows.lines(before).len() - 1 })
}

fn down(rows: &Rows<'_>, place: &Place) -> Option<Place> {
    if *place == Place::End {
        return None;
    }
    let (row, line) = rows.lowest(place)?;
    if line + 1 < rows.lines(row).len() {
        return Some(at(rows, row, line + 1));
    }
    let next = (row + 1..rows.len()).find(|next| !rows.lines(*next).is_empty());
    Some(next.map_or(Place::End, |next| at(rows, next, 0)))
}

/// The position of a line; the very last line is the end, which follows new records.
fn at(rows: &Rows<'_>, row: usize, line: usize) -> Place {
    let is_last = line + 1 == rows.lines(row).len() && (row + 1..rows.len()).all(|row| rows.lines(row).is_empty());
    if is_last { Place::End } else { Place::At { block: rows.id(row).clone(), line } }
}
