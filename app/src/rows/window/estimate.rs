//! Estimates the height of a block that has never been drawn. Pure; only approximate, and corrected once the block is
//! drawn.

use protocol::tool::{self, Card};
use transcript::{Block, BlockKind};

/// How many lines of a change are visible before "show all".
pub(crate) const LINES_MAX: usize = 12;

/// How many lines of an output are visible: its end, which is longer where a failure is explained.
pub(crate) fn end_lines(is_error: bool) -> usize {
    if is_error { 12 } else { 5 }
}

/// Whether the tool changes nothing and its output is rarely read, so that its card is one line.
pub(crate) fn only_looks(tool: &str) -> bool {
    tool::facts(tool).card != Card::Full
}

/// Height of a line of text, in CSS pixels.
const LINE_PX: f64 = 24.0;
/// Height of a line of code or output.
const CODE_PX: f64 = 18.0;
/// Height of a line between blocks, with the margin below it.
const NOTE_PX: f64 = 30.0;
/// Typical height of a picture.
const PICTURE_PX: f64 = 240.0;
/// How much of a text is counted; the rest is extrapolated.
const COUNTED_BYTES: usize = 8_000;

/// Estimated height in CSS pixels. `columns` is the number of characters per line.
pub(crate) fn block_px(block: &Block, columns: usize) -> f64 {
    let text_px = |text: &str| lines(text, columns) * LINE_PX;
    if block.is_empty() {
        return 0.0;
    }
    match &block.kind {
        BlockKind::Turn { .. } => 46.0,
        BlockKind::Person { segments, .. } => {
            let text = |segment: &protocol::Segment| match segment {
                protocol::Segment::Text { text } => text_px(text),
                protocol::Segment::Image { .. } => PICTURE_PX,
                _ => LINE_PX,
            };
            48.0 + segments.iter().map(text).sum::<f64>()
        }
        BlockKind::Peer { text, .. } => 58.0 + text_px(text),
        BlockKind::Assistant { text, .. } => 16.0 + text_px(text),
        BlockKind::Tool { name, result: Some(result), .. } => match name {
            Some(name) if only_looks(name) && !result.is_error => NOTE_PX + 8.0,
            _ => {
                let shown = result.diff.as_deref().or(result.content.as_deref()).unwrap_or(&result.summary);
                let most = if result.diff.is_some() { LINES_MAX } else { end_lines(result.is_error) };
                let shown = shown.lines().take(most + 1).count();
                let toggle = if shown > most { 24.0 } else { 0.0 };
                48.0 + toggle + shown.min(most) as f64 * CODE_PX
            }
        },
        BlockKind::Tool { .. } => 42.0,
        BlockKind::Approval { .. } => NOTE_PX,
        _ => NOTE_PX,
    }
}

/// Lines on the screen. The end of a paragraph counts as one more line.
fn lines(text: &str, columns: usize) -> f64 {
    let columns = columns.max(1);
    let counted = &text.as_bytes()[..text.len().min(COUNTED_BYTES)];
    let lines: usize = counted.split(|byte| *byte == b'\n').map(|line| line.len().div_ceil(columns).max(1)).sum();
    lines as f64 * (text.len().max(1) as f64 / counted.len().max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn a_long_line_is_broken_and_a_long_text_is_not_counted_to_its_end() {
        assert_eq!(lines("", 80), 1.0);
        assert_eq!(lines(&"x".repeat(161), 80), 3.0);
        assert_eq!(lines("a\n\nb", 80), 3.0);
        let long = "12345678901234567890123456789012345678\n".repeat(10_000);
        assert!((lines(&long, 80) - 10_000.0).abs() < 200.0);
        assert_eq!(lines("x", 0), 1.0);
    }
}
