//! What rows of the audit are about beyond their target. They say no more of a call than the transcript does, and less where it
//! is long.

use protocol::{Approval, AuditAbout};
use serde_json::Value;

const SUBJECT_CHARS_MAX: usize = 200;

/// A tool's call.
pub fn about_call(tool: &str, arguments: &Value) -> AuditAbout {
    let subject = pod::main_argument(tool, arguments);
    let cut = match subject.char_indices().nth(SUBJECT_CHARS_MAX) {
        Some((at, _)) => format!("{}…", &subject[..at]),
        None => subject.to_owned(),
    };
    AuditAbout { tool: Some(tool.to_owned()), subject: (!cut.is_empty()).then_some(cut), ..AuditAbout::default() }
}

/// An answered question.
pub fn about_answer(answered: &Approval, remembered: bool) -> AuditAbout {
    AuditAbout { decision: answered.decision, remembered, ..about_call(&answered.tool, &answered.arguments) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_is_known_by_its_main_argument_cut_between_characters() {
        let about = about_call("Bash", &json!({ "command": "cargo  test\n-p x", "timeout_s": 5 }));
        assert_eq!(about.to_string(), "Bash: cargo test -p x");
        assert_eq!(about_call("ListPods", &json!({})).to_string(), "ListPods");
        let long = about_call("Write", &json!({ "path": "ä".repeat(300), "content": "secret" }));
        assert_eq!(long.subject.unwrap(), format!("{}…", "ä".repeat(SUBJECT_CHARS_MAX)));
    }
}
