//! Details that an audit row carries besides its target. They never say more about a call than the transcript does, and
//! long ones are cut shorter.

use std::borrow::Cow;

use protocol::{Approval, ApprovalCommand, AuditAbout, tool::NETWORK};
use serde_json::Value;

const SUBJECT_CHARS_MAX: usize = 200;

/// The details for a tool call.
pub fn about_call(tool: &str, arguments: &Value) -> AuditAbout {
    let cut = cut(&subject(tool, arguments));
    AuditAbout { tool: Some(tool.to_owned()), subject: (!cut.is_empty()).then_some(cut), ..AuditAbout::default() }
}

/// As much of a text as a row has of it.
pub(crate) fn cut(text: &str) -> String {
    match text.char_indices().nth(SUBJECT_CHARS_MAX) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// The argument that identifies a call. For network access this is the host with its port.
fn subject<'a>(tool: &str, arguments: &'a Value) -> Cow<'a, str> {
    let known = pod::main_argument(tool, arguments);
    match arguments.get("port").and_then(Value::as_u64).filter(|_| tool == NETWORK) {
        // IPv6: the brackets separate the address from the port.
        Some(port) if known.contains(':') && !known.starts_with('[') => format!("[{known}]:{port}").into(),
        Some(port) => format!("{known}:{port}").into(),
        None => known.into(),
    }
}

/// The details for an answered approval. `pattern` is that of the rule which the answer made, or what was asked for.
pub fn about_answer(answered: &Approval, command: &ApprovalCommand, pattern: Option<&str>) -> AuditAbout {
    AuditAbout {
        decision: answered.decision,
        remembered: command.remember,
        scope: command.remember.then(|| command.scope.unwrap_or_default()),
        pattern: pattern.filter(|_| command.remember).map(cut),
        ..about_call(&answered.tool, &answered.arguments)
    }
}

#[cfg(test)]
mod tests {
    use protocol::{Decision, RuleScope};
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_from_now_on_says_for_which_calls_and_where() {
        let at = protocol::Timestamp::UNIX_EPOCH;
        let asked = Approval::open("q".to_owned(), "Bash".to_owned(), json!({ "command": "ls -la | head" }), at);
        let answered = Approval { decision: Some(Decision::Allow), ..asked };
        let once = ApprovalCommand::once(Decision::Allow);
        assert_eq!(about_answer(&answered, &once, None).to_string(), "allowed Bash: ls -la | head");
        let always = ApprovalCommand { remember: true, ..once };
        let said = about_answer(&answered, &always, None).to_string();
        assert_eq!(said, "always allowed Bash: ls -la | head (in this Pod)");
        let everywhere = ApprovalCommand { scope: Some(RuleScope::Everywhere), ..always };
        let said = about_answer(&answered, &everywhere, Some("ls * | head *")).to_string();
        assert_eq!(said, "always allowed Bash: ls -la | head (ls * | head *, everywhere)");
    }

    #[test]
    fn a_call_is_known_by_its_main_argument_cut_between_characters() {
        let about = about_call("Bash", &json!({ "command": "cargo  test\n-p x", "timeout_s": 5 }));
        assert_eq!(about.to_string(), "Bash: cargo test -p x");
        assert_eq!(about_call("ListPods", &json!({})).to_string(), "ListPods");
        let out = |host: &str, port: u16| {
            about_call("Network", &json!({ "host": host, "port": port, "command": "curl" })).to_string()
        };
        assert_eq!(out("docs.rs", 443), "Network: docs.rs:443");
        assert_eq!(out("::1", 80), "Network: [::1]:80");
        assert_eq!(out("[::1]", 80), "Network: [::1]:80");
        let long = about_call("Write", &json!({ "path": "ä".repeat(300), "content": "secret" }));
        assert_eq!(long.subject.unwrap(), format!("{}…", "ä".repeat(SUBJECT_CHARS_MAX)));
    }
}
