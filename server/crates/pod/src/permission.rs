//! Which tool calls are allowed: the first rule that matches decides.

use protocol::PermissionDecision;
use serde_json::Value;

use crate::PodSpec;

/// What the rules of a Pod say of one call. Without a matching rule: Read, Glob, Grep and the Pod tools are allowed,
/// everything else is asked.
pub fn permission(spec: &PodSpec, tool: &str, arguments: &Value) -> PermissionDecision {
    let argument = main_argument(tool, arguments);
    let matching = spec
        .permissions
        .iter()
        .find(|rule| rule.tool == tool && rule.pattern.as_deref().is_none_or(|pattern| matches(pattern, argument)));
    match matching {
        Some(rule) => rule.decision,
        None if matches!(tool, "Write" | "Edit" | "Bash" | "WebFetch") => PermissionDecision::Ask,
        None => PermissionDecision::Allow,
    }
}

/// The argument that patterns are held against.
fn main_argument<'a>(tool: &str, arguments: &'a Value) -> &'a str {
    let field = match tool {
        "Bash" => "command",
        "WebFetch" => "url",
        "Glob" | "Grep" => "pattern",
        "Read" | "Write" | "Edit" => "path",
        _ => "name",
    };
    arguments.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// `*` stands for any text, also none; everything else for itself.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, text, expected) in [
            ("cargo *", "cargo test", true),
            ("cargo *", "cargo", false),
            ("cargo test", "cargo test", true),
            ("cargo test", "cargo test -p x", false),
            ("*", "", true),
            ("git * --stat", "git diff --stat", true),
            ("git * --stat", "git diff --stat x", false),
            ("a*b*c", "abbc", true),
            ("a*b*c", "acb", false),
            ("ab*ba", "aba", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} over {text}");
        }
    }
}
