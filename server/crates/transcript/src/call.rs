//! What a call is about, on one line.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// The arguments that can tell what a call is about, in order of preference.
const TELLING: [&str; 7] = ["command", "path", "pattern", "url", "name", "task", "message"];

/// The first of these arguments that is present.
pub fn telling_argument(fields: &Map<String, Value>) -> Option<&'static str> {
    TELLING.into_iter().find(|name| fields.get(*name).is_some_and(Value::is_string))
}

/// The call's main argument, or all of them as JSON, on one line; the streaming text while they are incomplete.
pub fn telling(arguments: Option<&Value>, streaming: &str) -> String {
    let text = match arguments {
        None => Cow::Borrowed(streaming),
        Some(Value::Object(fields)) if fields.is_empty() => Cow::Borrowed(""),
        Some(arguments) => {
            let told = arguments.as_object().and_then(|fields| fields.get(telling_argument(fields)?)?.as_str());
            let told = told.map(Cow::Borrowed).or_else(|| tasks(arguments).map(Cow::Owned));
            told.unwrap_or_else(|| Cow::Owned(arguments.to_string()))
        }
    };
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A task list as its progress: `1 of 3 done, now: Write the test`.
fn tasks(arguments: &Value) -> Option<String> {
    let items = arguments.get("items")?.as_array().filter(|items| !items.is_empty())?;
    // Models also call these fields what other agents call them.
    let said =
        |item: &Value, names: [&str; 2]| names.into_iter().find_map(|name| item.get(name)?.as_str().map(str::to_owned));
    let item = |item: &Value| Some((said(item, ["text", "content"])?, said(item, ["state", "status"])?));
    let items: Vec<_> = items.iter().map(item).collect::<Option<_>>()?;
    let done = items.iter().filter(|(_, state)| matches!(state.as_str(), "done" | "completed")).count();
    let now = items.iter().find(|(_, state)| state == "in_progress").map(|(text, _)| format!(", now: {text}"));
    Some(format!("{done} of {} done{}", items.len(), now.unwrap_or_default()))
}

/// The numbers of added and removed lines in a unified diff, without its two header lines.
pub fn diff_counts(diff: &str) -> (usize, usize) {
    let count = |mark: char, header: &str| {
        diff.lines().filter(|line| line.starts_with(mark) && !line.starts_with(header)).count()
    };
    (count('+', "+++ "), count('-', "--- "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_telling_argument_stands_for_the_call() {
        assert_eq!(telling(Some(&json!({ "command": "cargo\n  test", "timeout_s": 3 })), ""), "cargo test");
        assert_eq!(telling(Some(&json!({ "pattern": "a.*b", "path": "src" })), ""), "src");
        assert_eq!(telling(Some(&json!({ "command": 7, "name": "a" })), ""), "a");
        assert_eq!(telling(Some(&json!({ "x": 1 })), ""), r#"{"x":1}"#);
        assert_eq!(telling(Some(&json!({})), ""), "");
        assert_eq!(telling(Some(&json!("rm  x")), ""), "\"rm x\"");
        assert_eq!(telling(None, r#"{"comm"#), r#"{"comm"#);
    }

    #[test]
    fn a_task_list_is_told_as_its_progress() {
        let items = json!([
            { "text": "Read", "state": "done" }, { "text": "Mend", "state": "in_progress" }, { "text": "Test", "state": "pending" },
        ]);
        assert_eq!(telling(Some(&json!({ "items": items })), ""), "1 of 3 done, now: Mend");
        assert_eq!(telling(Some(&json!({ "items": [{ "text": "Read", "state": "done" }] })), ""), "1 of 1 done");
        assert_eq!(telling(Some(&json!({ "items": ["a"] })), ""), r#"{"items":["a"]}"#);
        assert_eq!(telling(Some(&json!({ "items": [] })), ""), r#"{"items":[]}"#);
    }

    #[test]
    fn a_diff_is_counted_without_its_header() {
        assert_eq!(diff_counts("--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-old\n+new\n+more\n same\n"), (2, 1));
    }
}
