//! Moving over the transcript. What is looked at stays where it is, whatever is added below.

use crate::{
    model::{Effect, Model, Older, OpenPod, Place},
    view::{block_lines, transcript_area},
};

/// Up (negative) or down by lines. At the top, older records are asked for.
pub(crate) fn lines(model: &mut Model, step: isize) -> Vec<Effect> {
    let area = transcript_area(model);
    let Some(open) = &mut model.open else { return Vec::new() };
    let (width, height) = (usize::from(area.width), usize::from(area.height));
    for _ in 0..step.unsigned_abs() {
        let moved = if step < 0 { up(open, width, height) } else { down(open, width) };
        match moved {
            Some(place) => open.place = place,
            None if step < 0 => return load_older(open),
            None => break,
        }
    }
    Vec::new()
}

fn load_older(open: &mut OpenPod) -> Vec<Effect> {
    if open.older != Older::OnTheServer {
        return Vec::new();
    }
    open.older = Older::OnTheirWay;
    vec![Effect::LoadOlder { pod: open.pod.clone(), before: open.transcript.first_seq() }]
}

/// Up or down by a screen, less one line to hold on to.
pub(crate) fn page(model: &mut Model, step: isize) -> Vec<Effect> {
    let height = isize::try_from(transcript_area(model).height).unwrap_or(1);
    lines(model, step * (height - 1).max(1))
}

/// The place as the index of its block and the line in it; none when there is nothing to look at.
pub(crate) fn lowest_line(open: &OpenPod, width: usize) -> Option<(usize, usize)> {
    let blocks = open.transcript.blocks();
    let at = match &open.place {
        Place::End => None,
        Place::At { block, line } => blocks.iter().position(|known| known.id == *block).map(|index| (index, *line)),
    };
    let Some((index, line)) = at else {
        let index = blocks.iter().rposition(|block| !block_lines(block, width).is_empty())?;
        return Some((index, block_lines(&blocks[index], width).len() - 1));
    };
    let count = block_lines(&blocks[index], width).len();
    Some((index, line.min(count.saturating_sub(1))))
}

fn up(open: &OpenPod, width: usize, height: usize) -> Option<Place> {
    let (index, line) = lowest_line(open, width)?;
    let blocks = open.transcript.blocks();
    // A screenful has to be left, else the top of the transcript would move down the screen.
    let mut above = line;
    for block in blocks[..index].iter().rev() {
        if above >= height {
            break;
        }
        above += block_lines(block, width).len();
    }
    if above < height {
        return None;
    }
    if line > 0 {
        return Some(Place::At { block: blocks[index].id.clone(), line: line - 1 });
    }
    let before = blocks[..index].iter().rposition(|block| !block_lines(block, width).is_empty())?;
    let line = block_lines(&blocks[before], width).len() - 1;
    Some(Place::At { block: blocks[before].id.clone(), line })
}

fn down(open: &OpenPod, width: usize) -> Option<Place> {
    if open.place == Place::End {
        return None;
    }
    let (index, line) = lowest_line(open, width)?;
    let blocks = open.transcript.blocks();
    if line + 1 < block_lines(&blocks[index], width).len() {
        return Some(Place::At { block: blocks[index].id.clone(), line: line + 1 });
    }
    let next = (index + 1..blocks.len()).find(|next| !block_lines(&blocks[*next], width).is_empty());
    Some(next.map_or(Place::End, |next| Place::At { block: blocks[next].id.clone(), line: 0 }))
}
