//! What a call does, as one line. Pure.

use serde_json::Value;
use transcript::{ToolResult, call::telling, unseen, words::duration_words};

/// The maximum length of the line in characters; the opened card shows everything.
const LINE_CHARS_MAX: usize = 200;

/// What the call is about, truncated if long.
pub(crate) fn summary(arguments: Option<&Value>, streaming: &str) -> String {
    let line = unseen::shown(&telling(arguments, streaming)).into_owned();
    match line.char_indices().nth(LINE_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// The numbers of added and removed lines in a unified diff, without its two header lines.
pub(crate) fn diff_counts(diff: &str) -> (usize, usize) {
    let count = |mark: char, header: &str| {
        diff.lines().filter(|line| line.starts_with(mark) && !line.starts_with(header)).count()
    };
    (count('+', "+++ "), count('-', "--- "))
}

/// The last lines of a growing output.
pub(crate) fn last_lines(text: &str, count: usize) -> &str {
    let end = text.trim_end_matches('\n');
    match end.rmatch_indices('\n').nth(count.saturating_sub(1)) {
        Some((at, _)) => &text[at + 1..],
        None => text,
    }
}

/// The tool's summary line, unless its output, its diff or the card's head already says the same: how it was killed,
/// how much was left out.
pub(crate) fn said_beside(result: &ToolResult) -> Option<String> {
    let content = result.content.as_deref().unwrap_or_default();
    // The card's head shows a command's exit status.
    let is_said = content.is_empty()
        || result.diff.is_some()
        || content.starts_with(&result.summary)
        || result.summary.starts_with("exit ");
    (!is_said && !result.summary.is_empty()).then(|| result.summary.clone())
}

/// How a command succeeded; nothing for any other call.
pub(crate) fn succeeded_words(result: &ToolResult) -> &'static str {
    if result.summary.starts_with("exit 0") { "exit 0" } else { "" }
}

/// How a call failed: a command by its exit status, any other by its code.
pub(crate) fn failure_words(result: &ToolResult) -> String {
    match result.code.as_deref().unwrap_or("failed") {
        "exit" => {
            let status = result.summary.split_once("exit ").map(|(_, rest)| rest);
            let status = status.and_then(|rest| rest.split_whitespace().next());
            status.map_or_else(|| "failed".to_owned(), |status| format!("exit {status}"))
        }
        "signal" => "killed".to_owned(),
        "timeout" => "timed out".to_owned(),
        code => code.replace('_', " "),
    }
}

/// How long it has been running. The page's clock ticks every ten seconds, so nothing is shown before that.
pub(crate) fn running_words(ms: u64) -> String {
    match ms {
        0..10_000 => "running".to_owned(),
        _ => format!("running · {}", duration_words(ms)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_telling_argument_stands_for_the_call() {
        assert_eq!(summary(Some(&json!({ "command": "cargo\n  test", "timeout_s": 3 })), ""), "cargo test");
        assert_eq!(summary(Some(&json!({ "pattern": "a.*b", "path": "src" })), ""), "src");
        assert_eq!(summary(Some(&json!({ "x": 1 })), ""), r#"{"x":1}"#);
        assert_eq!(summary(Some(&json!({})), ""), "");
        assert_eq!(summary(None, r#"{"comm"#), r#"{"comm"#);
        assert_eq!(summary(Some(&json!({ "command": "sh \u{202e}txt.x" })), ""), "sh [U+202E]txt.x");
        assert_eq!(summary(Some(&json!({ "task": "é".repeat(300) })), "").chars().count(), 201);
    }

    #[test]
    fn a_diff_is_counted_without_its_header() {
        assert_eq!(diff_counts("--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-old\n+new\n+more\n same\n"), (2, 1));
    }

    #[test]
    fn a_tools_own_line_is_said_once() {
        let result = |summary: &str, content: Option<&str>, diff: Option<&str>| {
            let (content, diff) = (content.map(str::to_owned), diff.map(str::to_owned));
            said_beside(&ToolResult {
                summary: summary.to_owned(),
                content,
                is_error: false,
                code: None,
                diff,
                duration_ms: 1,
                blobs: protocol::Blobs::default(),
            })
        };
        assert_eq!(result("killed by signal 9", Some("ok"), None).as_deref(), Some("killed by signal 9"));
        assert_eq!(result("exit 0 in 0.0 s · 1 line", Some("ok"), None), None);
        assert_eq!(result("exit 0", None, None), None);
        assert_eq!(result("two files", Some("two files\na\nb"), None), None);
        assert_eq!(result("changed a", Some("x"), Some("+x")), None);
    }

    #[test]
    fn a_command_that_failed_says_its_exit() {
        let words = |code: Option<&str>, summary: &str| {
            failure_words(&ToolResult {
                summary: summary.to_owned(),
                content: None,
                is_error: true,
                code: code.map(str::to_owned),
                diff: None,
                duration_ms: 1,
                blobs: protocol::Blobs::default(),
            })
        };
        assert_eq!(words(Some("exit"), "exit 101 in 0.4 s · 3 lines"), "exit 101");
        assert_eq!(words(Some("exit"), "not confined by the kernel: exit 1 in 0.0 s · 0 lines"), "exit 1");
        assert_eq!((words(Some("exit"), "odd"), words(None, "")), ("failed".to_owned(), "failed".to_owned()));
        assert_eq!(words(Some("timeout"), "killed after 3 s (time limit) · 0 lines"), "timed out");
        assert_eq!(words(Some("not_found"), "no such file"), "not found");
    }

    #[test]
    fn the_time_of_a_call_is_told_once_it_is_long() {
        assert_eq!((running_words(9_999), running_words(124_000)), ("running".into(), "running · 2 m 04 s".into()));
    }

    #[test]
    fn the_end_of_an_output_is_whole_lines() {
        assert_eq!(last_lines("a\nb\nc\n", 2), "b\nc\n");
        assert_eq!(last_lines("a\nb", 2), "a\nb");
        assert_eq!(last_lines("", 2), "");
    }
}
