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
            told.map_or_else(|| Cow::Owned(arguments.to_string()), Cow::Borrowed)
        }
    };
    text.split_whitespace().collect::<Vec<_>>().join(" ")
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
    fn a_diff_is_counted_without_its_header() {
        assert_eq!(diff_counts("--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-old\n+new\n+more\n same\n"), (2, 1));
    }
}
