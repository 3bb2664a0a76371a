//! A unified diff: added lines green with a plus, removed ones red with a minus.

use ratatui::{
    style::{Color, Style},
    text::Line,
};
use transcript::call::diff_counts;

use crate::wrap::fit;

/// `+2 −1 · `.
pub(super) fn counts(diff: &str) -> String {
    let (more, less) = diff_counts(diff);
    format!("+{more} −{less} · ")
}

/// One line each, truncated at the edge.
pub(super) fn lines(diff: &str, width: usize) -> Vec<Line<'static>> {
    let lines = diff.lines().filter(|line| !line.starts_with("+++ ") && !line.starts_with("--- "));
    lines.map(|line| Line::from(fit(&format!("  {line}"), width)).style(style(line))).collect()
}

fn style(line: &str) -> Style {
    match line.chars().next() {
        Some('+') => Style::new().fg(Color::Green),
        Some('-') => Style::new().fg(Color::Red),
        Some('@') => Style::new().fg(Color::Cyan),
        _ => Style::new().dim(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_is_counted_and_drawn_without_its_header() {
        let diff = "--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-old\n+new\n+more\n same\n";
        assert_eq!(counts(diff), "+2 −1 · ");
        let drawn: Vec<_> = lines(diff, 40).iter().map(Line::to_string).collect();
        assert_eq!(drawn, ["  @@ -1 +1,2 @@", "  -old", "  +new", "  +more", "   same"]);
    }
}
