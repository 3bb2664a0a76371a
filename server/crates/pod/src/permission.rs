//! Which tool calls are allowed: the first rule that matches decides.

use protocol::{PermissionDecision, PermissionRule};
use serde_json::Value;

use crate::{PodSpec, spelling};

/// What patterns are held against.
struct Argument<'a> {
    given: &'a str,
    /// Of a path: its plain spellings.
    plain: Vec<String>,
}

impl<'a> Argument<'a> {
    fn of(spec: &PodSpec, tool: &str, arguments: &'a Value) -> Self {
        let given = main_argument(tool, arguments);
        let plain = match tool {
            "Read" | "Write" | "Edit" => spelling::plain(&spec.cwd, given),
            _ => Vec::new(),
        };
        Self { given, plain }
    }
}

/// What the rules of a Pod say of one call, and those of the Pods that lead it: the strictest counts. Without a matching
/// rule: Read, Glob, Grep and the Pod tools are allowed, everything else is asked.
pub fn permission(spec: &PodSpec, tool: &str, arguments: &Value) -> PermissionDecision {
    let argument = Argument::of(spec, tool, arguments);
    let own = decision(&spec.permissions, tool, &argument);
    let ceilings = spec.ceilings.iter().map(|rules| decision(rules, tool, &argument));
    match ceilings.fold(own, stricter) {
        PermissionDecision::Allow if tool == "Bash" && spec.shell_is_unconfined => PermissionDecision::Ask,
        decided => decided,
    }
}

/// The rule that a person's "always" comes to: this tool with exactly this argument.
pub fn remembered(tool: &str, arguments: &Value, decision: PermissionDecision) -> PermissionRule {
    let mut pattern = String::new();
    for character in main_argument(tool, arguments).chars() {
        if matches!(character, '*' | '\\') {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    PermissionRule { tool: tool.to_owned(), pattern: Some(pattern), decision }
}

fn decision(rules: &[PermissionRule], tool: &str, argument: &Argument<'_>) -> PermissionDecision {
    let matching = rules.iter().find(|rule| rule.tool == tool && covers(rule, argument));
    match matching {
        Some(rule) => rule.decision,
        None => default_permission(tool),
    }
}

/// What becomes of a call that no rule is about.
pub fn default_permission(tool: &str) -> PermissionDecision {
    match tool {
        "Write" | "Edit" | "Bash" | "WebFetch" => PermissionDecision::Ask,
        _ => PermissionDecision::Allow,
    }
}

fn covers(rule: &PermissionRule, argument: &Argument<'_>) -> bool {
    let Some(pattern) = rule.pattern.as_deref() else { return true };
    let Argument { given, plain } = argument;
    let allows = rule.decision == PermissionDecision::Allow;
    let is_loose = allows && rule.tool == "Bash" && pattern != "*";
    // "docs/*" allows what is beneath docs, and not where a path leads that goes up again.
    let is_elsewhere = allows && !plain.is_empty() && spelling::goes_up(given) && literals(pattern).len() > 1;
    // "cargo *" means one command of cargo, and no other command behind it.
    let as_given = matches(pattern, given) && !is_elsewhere && !(is_loose && chains_beyond(pattern, given));
    as_given || plain.iter().any(|plain| matches(pattern, plain))
}

/// The text joins another command, or has the shell put one in, where the pattern does not say so itself. The whole
/// text is looked at: what opens a command may be partly the pattern's and partly the star's.
fn chains_beyond(pattern: &str, text: &str) -> bool {
    let literals = literals(pattern);
    [";", "&", "|", "`", "\n", "$(", "<(", ">("].iter().any(|opening| {
        let said = literals.iter().map(|literal| literal.matches(opening).count()).sum();
        text.matches(opening).count() > said
    })
}

fn stricter(one: PermissionDecision, other: PermissionDecision) -> PermissionDecision {
    use PermissionDecision::{Allow, Ask, Deny};
    match (one, other) {
        (Deny, _) | (_, Deny) => Deny,
        (Ask, _) | (_, Ask) => Ask,
        (Allow, Allow) => Allow,
    }
}

/// The argument that patterns are held against, and that a call is known by in one line.
pub fn main_argument<'a>(tool: &str, arguments: &'a Value) -> &'a str {
    let field = match tool {
        "Bash" => "command",
        "WebFetch" => "url",
        "Glob" | "Grep" => "pattern",
        "Read" | "Write" | "Edit" => "path",
        _ => "name",
    };
    arguments.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// `*` stands for any text, also none; `\*` and `\\` for themselves, and so does everything else.
fn matches(pattern: &str, text: &str) -> bool {
    let parts = literals(pattern);
    let Some((first, others)) = parts.split_first() else { return false };
    let Some(mut rest) = text.strip_prefix(first.as_str()) else { return false };
    let Some((last, between)) = others.split_last() else { return rest.is_empty() };
    for part in between {
        let Some(at) = rest.find(part.as_str()) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last.as_str())
}

/// The pattern's plain pieces, cut at each `*`.
fn literals(pattern: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        let plain = match character {
            '*' => {
                parts.push(String::new());
                continue;
            }
            '\\' => characters.next().unwrap_or('\\'),
            other => other,
        };
        if let Some(part) = parts.last_mut() {
            part.push(plain);
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

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
            (r"rm \*", "rm *", true),
            (r"rm \*", "rm x", false),
            (r"a\\*", r"a\b", true),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} over {text}");
        }
    }

    fn decided(rules: &[PermissionRule], tool: &str, given: &str) -> PermissionDecision {
        decision(rules, tool, &Argument { given, plain: Vec::new() })
    }

    fn rule(pattern: &str, decision: PermissionDecision) -> PermissionRule {
        PermissionRule { tool: "Bash".to_owned(), pattern: Some(pattern.to_owned()), decision }
    }

    #[test]
    fn a_star_in_a_rule_that_allows_a_command_lets_no_other_command_through() {
        for (command, expected) in [
            ("cargo test -p x", PermissionDecision::Allow),
            ("cargo test > log.txt", PermissionDecision::Allow),
            ("cargo test; rm -r .", PermissionDecision::Ask),
            ("cargo test && rm -r .", PermissionDecision::Ask),
            ("cargo test | sh", PermissionDecision::Ask),
            ("cargo test\nrm -r .", PermissionDecision::Ask),
            ("cargo $(rm -r .)", PermissionDecision::Ask),
            ("cargo `rm -r .`", PermissionDecision::Ask),
        ] {
            let rules = [rule("cargo *", PermissionDecision::Allow)];
            assert_eq!(decided(&rules, "Bash", command), expected, "{command}");
            let rules = [rule("cargo *", PermissionDecision::Deny)];
            assert_eq!(decided(&rules, "Bash", command), PermissionDecision::Deny, "{command}");
        }
        assert_eq!(decided(&[rule("*", PermissionDecision::Allow)], "Bash", "a; b"), PermissionDecision::Allow);
        for (pattern, command, expected) in [
            ("echo $*", "echo $(rm -r .)", PermissionDecision::Ask),
            ("cat <*", "cat <(rm -r .)", PermissionDecision::Ask),
            ("cd * && cargo test", "cd web && cargo test", PermissionDecision::Allow),
            ("cd * && cargo test", "cd web; rm -r . && cargo test", PermissionDecision::Ask),
        ] {
            assert_eq!(decided(&[rule(pattern, PermissionDecision::Allow)], "Bash", command), expected, "{command}");
        }
    }

    #[test]
    fn what_is_remembered_is_exactly_this_argument() {
        let arguments = serde_json::json!({ "command": r"rm * \x" });
        let rules = [remembered("Bash", &arguments, PermissionDecision::Allow)];
        assert_eq!(decided(&rules, "Bash", r"rm * \x"), PermissionDecision::Allow);
        assert_eq!(decided(&rules, "Bash", r"rm a \x"), PermissionDecision::Ask);
        assert_eq!(decided(&rules, "Write", r"rm * \x"), PermissionDecision::Ask);
    }
}
