//! A tool call: what it is about, and its output.

use protocol::{
    AgentOption, Approval, ToolBy,
    tool::{self, Card},
};
use ratatui::{
    style::{Color, Style, Stylize},
    text::{Line, Span},
};
use serde_json::Value;
use transcript::{Block, BlockKind, ToolResult, ansi, call, words::duration_words};

use super::{
    blocks::Look,
    diff,
    output::{Part, indented, limited, output_lines},
};
use crate::{
    model::Detail,
    wrap::{fit, printable, width_of},
};

/// How many of the newest output lines are shown while a tool runs.
const LIVE_LINES_MAX: usize = 5;
/// How many lines of a result, and of a diff, are shown at normal detail.
const RESULT_LINES_MAX: usize = 6;
const DIFF_LINES_MAX: usize = 14;
/// How many lines of a text to another Pod, and of each argument of an approval, are shown.
const SENT_LINES_MAX: usize = 4;
const ASKED_LINES_MAX: usize = 6;
/// How many lines of an approval's diff are shown.
const CHANGE_LINES_MAX: usize = 40;
/// Even full detail is limited; export the transcript to see more.
const FULL_LINES_MAX: usize = 2_000;

/// Arguments that are texts for a file or another Pod, and the marks of their lines.
const PIECES: [(&str, &str, Color); 5] = [
    ("old", "  - ", Color::Red),
    ("new", "  + ", Color::Green),
    ("content", "  + ", Color::Green),
    ("task", "  ❯ ", Color::Reset),
    ("message", "  ❯ ", Color::Reset),
];

/// What a call is about, on one line.
pub(super) fn telling(arguments: Option<&Value>, streaming: &str) -> String {
    arguments.and_then(way_out).unwrap_or_else(|| call::telling(arguments, streaming))
}

/// `host:port` where a command asks to reach one, because the approval is about that and not about the command.
fn way_out(arguments: &Value) -> Option<String> {
    Some(format!("{}:{}", arguments.get("host")?.as_str()?, arguments.get("port")?.as_u64()?))
}

/// The lines of a call. `is_asked`: it waits for your approval.
pub(super) fn lines(kind: &BlockKind, is_asked: bool, look: Look) -> Vec<Line<'static>> {
    let BlockKind::Tool { name, arguments, arguments_text, output, result, by, interrupted, .. } = kind else {
        return Vec::new();
    };
    let by = if *by == Some(ToolBy::Operator) { " (you)" } else { "" };
    let name = format!("⚙ {}{by} ", name.as_deref().unwrap_or("…"));
    let (outcome, style) = outcome(result.as_ref(), *interrupted, is_asked);
    let room = look.width.saturating_sub(width_of(&name) + width_of(&outcome) + 2);
    let about = fit(&telling(arguments.as_ref(), arguments_text), room);
    let head = vec![Span::raw(printable(&name)).bold(), Span::raw(about), Span::styled(format!("  {outcome}"), style)];
    let mut lines = vec![Line::from(head)];
    if look.detail == Detail::Full
        && let Some(arguments) = arguments.as_ref().filter(|arguments| has_more(arguments, result.as_ref()))
    {
        let text = serde_json::to_string_pretty(arguments).unwrap_or_default();
        lines.extend(plain(&text, FULL_LINES_MAX, look));
    }
    if look.detail == Detail::Normal {
        lines.extend(sent_lines(arguments.as_ref(), look));
    }
    match result {
        Some(result) => lines.extend(result_lines(kind, result, look)),
        None => lines.extend(tail(&ansi::strip(output), look)),
    }
    lines
}

/// The text sent to another Pod, which matters as much as the Pod's name.
fn sent_lines(arguments: Option<&Value>, look: Look) -> Vec<Line<'static>> {
    let words = |name: &str| arguments.and_then(|arguments| arguments.get(name)?.as_str());
    let text = words("name").and(words("message").or_else(|| words("task")));
    text.map(|text| limited(indented(text, "  ❯ ", look), SENT_LINES_MAX)).unwrap_or_default()
}

/// What you are asked to allow, so that you can judge it: the subject with its line breaks, because a second line may
/// do what the first one hides; every other argument by name; an edit as removed and added lines. If a `change` is
/// known, its diff and effect instead.
pub(super) fn asked_lines(arguments: &Value, change: Option<&Approval>, look: Look) -> Vec<Line<'static>> {
    let Some(Approval { diff, effect: Some(effect), .. }) = change else { return argument_lines(arguments, look) };
    let effect = || indented(effect, "  ", look).into_iter().map(|line| line.style(Style::new().bold()));
    match diff {
        Some(diff) => {
            let path = arguments.get("path").and_then(Value::as_str).unwrap_or_default();
            let lines_max = if look.detail == Detail::Full { FULL_LINES_MAX } else { CHANGE_LINES_MAX };
            let lines = indented(path, "  ", look).into_iter().chain(effect());
            lines.chain(limited(diff::lines(diff, look.width), lines_max)).collect()
        }
        None => argument_lines(arguments, look).into_iter().chain(effect()).collect(),
    }
}

/// Returns the answers that an agent offers to its own question, and how to choose each.
pub(super) fn option_lines(options: &[AgentOption], look: Look) -> Vec<Line<'static>> {
    let words = |option: &AgentOption| format!(":option {}  {} ({})", option.id, option.name, option.kind);
    options.iter().flat_map(|option| indented(&words(option), "  ", look)).collect()
}

fn argument_lines(arguments: &Value, look: Look) -> Vec<Line<'static>> {
    if look.detail == Detail::Full {
        let text = serde_json::to_string_pretty(arguments).unwrap_or_default();
        return limited(indented(&text, "  ", look), FULL_LINES_MAX);
    }
    let Value::Object(fields) = arguments else { return indented(&arguments.to_string(), "  ", look) };
    let words = |name: &str| fields.get(name).and_then(Value::as_str);
    let told = call::telling_argument(fields);
    let mut lines = told.and_then(words).map(|text| indented(text, "  ", look)).unwrap_or_default();
    let pieces: Vec<_> = PIECES.into_iter().filter(|(name, ..)| told != Some(*name) && words(name).is_some()).collect();
    for (name, value) in fields {
        let is_shown = told == Some(name) || pieces.iter().any(|(piece, ..)| piece == name);
        if !is_shown {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let fact = format!("{}: {value}", name.replace('_', " "));
            lines.extend(limited(indented(&fact, "  ", look), ASKED_LINES_MAX));
        }
    }
    for (name, mark, colour) in pieces {
        let piece = limited(indented(words(name).unwrap_or_default(), mark, look), ASKED_LINES_MAX);
        lines.extend(piece.into_iter().map(|line| line.style(Style::new().fg(colour))));
    }
    lines
}

/// Whether the arguments say more than the head and the diff do.
fn has_more(arguments: &Value, result: Option<&ToolResult>) -> bool {
    let is_told = result.is_some_and(|result| result.diff.is_some());
    !is_told && arguments.as_object().is_none_or(|fields| fields.len() > 1)
}

/// The state of the call, as words and colour.
fn outcome(result: Option<&ToolResult>, interrupted: bool, is_asked: bool) -> (String, Style) {
    match result {
        Some(result) if result.is_error => {
            let code = result.code.as_deref().unwrap_or("failed");
            (format!("✗ {code} · {}", duration_words(result.duration_ms)), Style::new().fg(Color::Red))
        }
        Some(result) => {
            let counts = result.diff.as_deref().map(diff::counts).unwrap_or_default();
            (format!("✓ {counts}{}", duration_words(result.duration_ms)), Style::new().fg(Color::Green))
        }
        None if interrupted => ("interrupted".to_owned(), Style::new().fg(Color::Yellow)),
        None if is_asked => ("asks for permission".to_owned(), Style::new().fg(Color::Yellow)),
        None => ("running …".to_owned(), Style::new().fg(Color::Yellow)),
    }
}

fn only_looks(kind: &BlockKind) -> bool {
    matches!(kind, BlockKind::Tool { name: Some(name), .. } if tool::facts(name).card != Card::Full)
}

fn result_lines(kind: &BlockKind, result: &ToolResult, look: Look) -> Vec<Line<'static>> {
    let content = result.content.as_deref().unwrap_or_default();
    let mut lines = Vec::new();
    // The tool's summary line, unless its output or its diff already says it.
    if content.is_empty() && result.diff.is_none() || !content.starts_with(&result.summary) {
        let style = if result.is_error { Style::new().fg(Color::Red) } else { Style::new().dim() };
        lines.push(Line::from(fit(&format!("  → {}", result.summary), look.width)).style(style));
    }
    let (of_result, of_diff) = match look.detail {
        Detail::Brief => (0, 0),
        Detail::Normal if only_looks(kind) && !result.is_error => (0, 0),
        Detail::Normal => (RESULT_LINES_MAX, DIFF_LINES_MAX),
        Detail::Full => (FULL_LINES_MAX, FULL_LINES_MAX),
    };
    match &result.diff {
        Some(diff) => lines.extend(limited(diff::lines(diff, look.width), of_diff)),
        None => {
            let part = if result.is_error { Part::End } else { Part::Beginning };
            lines.extend(output_lines(content, of_result, part, look));
        }
    }
    lines
}

/// The newest lines while it runs, or the output so far if it was interrupted.
fn tail(output: &str, look: Look) -> Vec<Line<'static>> {
    let lines: Vec<_> = output.lines().collect();
    let count = match look.detail {
        Detail::Brief => 0,
        Detail::Normal => LIVE_LINES_MAX,
        Detail::Full => FULL_LINES_MAX,
    };
    let newest = &lines[lines.len().saturating_sub(count)..];
    newest.iter().map(|line| Line::from(fit(&format!("  {line}"), look.width)).dim()).collect()
}

fn plain(text: &str, count: usize, look: Look) -> Vec<Line<'static>> {
    let lines = text.lines().map(|line| Line::from(fit(&format!("  {line}"), look.width)).dim()).collect();
    limited(lines, count)
}

/// Consecutive read-only calls as one line that says what was read, or as one line each.
pub(super) fn reads_lines(blocks: &[&Block], look: Look) -> Vec<Line<'static>> {
    if look.detail == Detail::Full {
        return blocks.iter().flat_map(|block| lines(&block.kind, false, look)).collect();
    }
    let is_failed =
        |block: &&&Block| matches!(&block.kind, BlockKind::Tool { result: Some(result), .. } if result.is_error);
    let about: Vec<String> = blocks
        .iter()
        .filter_map(|block| match &block.kind {
            BlockKind::Tool { arguments, arguments_text, .. } => Some(telling(arguments.as_ref(), arguments_text)),
            _ => None,
        })
        .collect();
    let running = if blocks.iter().any(|block| block.is_live()) { "  running …" } else { "" };
    let failed = match blocks.iter().filter(is_failed).count() {
        0 => String::new(),
        count => format!("  ✗ {count} failed"),
    };
    let name = format!("⚙ Read {} files ", blocks.len());
    let room = look.width.saturating_sub(width_of(&name) + width_of(running) + width_of(&failed));
    let spans = vec![
        Span::raw(name).bold(),
        Span::raw(fit(&about.join(", "), room)),
        Span::styled(running, Style::new().fg(Color::Yellow)),
        Span::styled(failed, Style::new().fg(Color::Red)),
    ];
    vec![Line::from(spans)]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_way_out_is_told_by_its_host_and_port_and_a_command_by_its_words() {
        let asked = json!({ "host": "crates.io", "port": 443, "command": "cargo add x" });
        assert_eq!(telling(Some(&asked), ""), "crates.io:443");
        assert_eq!(telling(Some(&json!({ "command": "cargo  add x" })), ""), "cargo add x");
    }

    #[test]
    fn whoever_allows_a_call_has_seen_every_line_and_every_argument_of_it() {
        let shown = |arguments| {
            let look = Look { width: 40, detail: Detail::Normal };
            asked_lines(&arguments, None, look).iter().map(Line::to_string).collect::<Vec<_>>()
        };
        let hidden = json!({ "command": "true # all is well\nrm -rf ~", "timeout_s": 9 });
        assert_eq!(shown(hidden), ["  true # all is well", "  rm -rf ~", "  timeout s: 9"]);
        let edit = json!({ "path": "a", "old": "x", "new": "y", "replace_all": true });
        assert_eq!(shown(edit), ["  a", "  replace all: true", "  - x", "  + y"]);
        assert_eq!(shown(json!({ "command": 7, "content": [1] })), ["  command: 7", "  content: [1]"]);
        assert_eq!(shown(json!("rm")), ["  \"rm\""]);
        assert_eq!(shown(json!({ "command": "ls \u{202e}txt.sh" })), ["  ls [U+202E]txt.sh"]);
        assert_eq!(shown(json!({ "name": "kid", "task": "dig", "scope": [] })), ["  kid", "  scope: []", "  ❯ dig"]);
        assert_eq!(shown(json!({ "task": "dig" })), ["  dig"]);
    }
}
