//! Details that an audit row carries besides its target. They never say more about a call than the transcript does, and
//! long ones are cut shorter.

use std::borrow::Cow;

use protocol::{Approval, AuditAbout, tool::NETWORK};
use serde_json::Value;

const SUBJECT_CHARS_MAX: usize = 200;

/// The details for a tool call.
pub fn about_call(tool: &str, arguments: &Value) -> AuditAbout {
    let subject = subject(tool, arguments);
    let cut = match subject.char_indices().nth(SUBJECT_CHARS_MAX) {
        Some((at, _)) => format!("{}…", &subject[..at]),
        None => subject.into_owned(),
    };
    AuditAbout { tool: Some(tool.to_owned()), subject: (!cut.is_empty()).then_some(cut), ..AuditAbout::default() }
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

/// The details for an answered approval.
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
