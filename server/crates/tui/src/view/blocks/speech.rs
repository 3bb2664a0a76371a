//! What people, peers and the model say, and the model's reasoning.

use commands::peering::called;
use protocol::{Blobs, PeerLabel, Segment};
use ratatui::{
    style::{Color, Style, Stylize},
    text::{Line, Span},
};
use transcript::{
    Block, BlockKind, PersonState, Receipt, Status,
    words::{actor_words, duration_words, receipt_words, said_words},
};

use super::{Look, heading};
use crate::{
    composer::paste_words,
    model::Detail,
    view::{self, markup},
    wrap::{fit, wrap},
};

pub(super) fn person(
    (segments, blobs): (&[Segment], &Blobs),
    by: &str,
    state: PersonState,
    look: Look,
) -> Vec<Line<'static>> {
    let rest = match state {
        PersonState::Stored => " · stored, not yet read",
        PersonState::Read => "",
        PersonState::Returned => " · returned: the run was rolled back",
    };
    let mut lines =
        vec![Line::default(), heading(&format!("❯ {}", actor_words(by)), rest, Style::new().fg(Color::Cyan), look)];
    for piece in segments.chunk_by(|one, other| !is_paste(one) && !is_paste(other)) {
        match piece {
            [Segment::Paste { text }] if look.detail != Detail::Full => {
                lines.push(Line::from(fit(&format!("  {}", paste_words(text)), look.width)).dim());
            }
            piece => lines.extend(indented(&said_words(piece, blobs), Style::new(), look)),
        }
    }
    lines
}

fn is_paste(segment: &Segment) -> bool {
    matches!(segment, Segment::Paste { .. })
}

pub(super) fn peer(
    from: &PeerLabel,
    text: &str,
    hops: u32,
    receipt: Option<&Receipt>,
    look: Look,
) -> Vec<Line<'static>> {
    let hops = match hops {
        0 => String::new(),
        1 => " · 1 hop".to_owned(),
        hops => format!(" · {hops} hops"),
    };
    // The record itself shows that the message has arrived.
    let state = receipt.map_or_else(|| "stored, not yet read".to_owned(), receipt_text);
    let style = Style::new().fg(Color::Magenta);
    let mut lines = vec![
        Line::default(),
        heading(&format!("⇄ {}", peer_name(from)), &format!(" · peer{hops} · {state}"), style, look),
    ];
    lines.extend(view::indented(markup::lines(text, look.width.saturating_sub(2)), "  "));
    lines
}

/// `bob`, or `bob@box`.
pub(super) fn peer_name(peer: &PeerLabel) -> String {
    called(&peer.name, &peer.runtime_id)
}

/// `read (turn 3)`.
pub(super) fn receipt_text(receipt: &Receipt) -> String {
    match receipt.turn {
        Some(turn) => format!("{} (turn {turn})", receipt_words(receipt.state)),
        None => receipt_words(receipt.state).to_owned(),
    }
}

pub(super) fn assistant(text: &str, status: Status, look: Look) -> Vec<Line<'static>> {
    let mut lines = vec![Line::default()];
    lines.extend(markup::lines(text, look.width));
    match (status, lines.last_mut()) {
        (Status::Streaming, Some(last)) => last.spans.push(Span::raw("▍")),
        (Status::Interrupted, _) => lines.push(Line::from(fit("(interrupted)", look.width)).yellow()),
        _ => {}
    }
    lines
}

/// Reasoning as one line, or in full. Consecutive blocks are combined.
pub(in crate::view) fn thoughts_lines(blocks: &[&Block], look: Look) -> Vec<Line<'static>> {
    let mut texts: Vec<&str> = Vec::new();
    let (mut is_live, mut is_cut, mut ms) = (false, false, Some(0));
    for block in blocks {
        if let BlockKind::Reasoning { text, status, started_at, ended_at } = &block.kind {
            texts.push(text);
            is_live |= *status == Status::Streaming;
            is_cut |= *status == Status::Interrupted;
            let took = started_at.zip(*ended_at).map(|(start, end)| end.as_millisecond() - start.as_millisecond());
            ms = ms.zip(took).map(|(sum, took)| sum + u64::try_from(took).unwrap_or_default());
        }
    }
    let said: Vec<&str> = texts.iter().flat_map(|text| text.lines()).filter(|line| !line.trim().is_empty()).collect();
    let took = ms.filter(|ms| *ms > 0 && !is_live).map(|ms| format!(" {}", duration_words(ms))).unwrap_or_default();
    let cut = if is_cut { " (interrupted)" } else { "" };
    let (word, line) = if is_live { ("thinking", said.last()) } else { ("thought", said.first()) };
    let line = line.copied().unwrap_or("…");
    let dim = Style::new().dim().italic();
    if look.detail != Detail::Full {
        let more = if said.len() > 1 { " …" } else { "" };
        return vec![Line::from(fit(&format!("∴ {word}{took}{cut}: {line}{more}"), look.width)).style(dim)];
    }
    let mut lines = vec![Line::from(fit(&format!("∴ {word}{took}{cut}"), look.width)).style(dim)];
    texts.iter().for_each(|text| lines.extend(indented(text.trim_end(), dim, look)));
    lines
}

fn indented(text: &str, style: Style, look: Look) -> Vec<Line<'static>> {
    let lines = wrap(text, look.width.saturating_sub(2)).into_iter();
    lines.map(|line| Line::from(Span::styled(format!("  {line}"), style))).collect()
}
