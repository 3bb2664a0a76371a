//! Limits on a Pod's rules.
//!
//! Only new rules are checked: existing rules stay valid even if they predate the limits.

use protocol::PermissionRule;

/// The most rules of one Pod or profile.
pub const RULES_MAX: usize = 200;
/// The most characters of a tool's name in a rule.
pub const RULE_TOOL_CHARS_MAX: usize = 200;
/// The most characters of a rule's pattern.
pub const RULE_PATTERN_CHARS_MAX: usize = 4_096;

/// What is wrong with `rules`, which are to replace `standing`, by its position in `permissions`. Existing rules are
/// accepted, and so is their number, so that it is always possible to reduce too many.
pub fn rules_refusal(rules: &[PermissionRule], standing: &[PermissionRule]) -> Option<String> {
    if rules.len() > RULES_MAX.max(standing.len()) {
        return Some(format!("`permissions` has {} rules; there are at most {RULES_MAX}", rules.len()));
    }
    let mut wrong = rules.iter().enumerate().filter_map(|(at, rule)| Some((at, rule, flaw(rule)?)));
    let (at, _, (field, why)) = wrong.find(|(_, rule, _)| !standing.contains(rule))?;
    Some(format!("`permissions[{at}].{field}` {why}"))
}

/// The rules with `rule` moved or added to the front, or an error if there is no room for it.
pub fn with_rule(rules: &[PermissionRule], rule: PermissionRule) -> Result<Vec<PermissionRule>, String> {
    let others = rules.iter().filter(|other| **other != rule).cloned();
    let all: Vec<PermissionRule> = std::iter::once(rule.clone()).chain(others).collect();
    let length = rule.pattern.as_deref().map_or(0, |pattern| pattern.chars().count());
    if length > RULE_PATTERN_CHARS_MAX && !rules.contains(&rule) {
        return Err(format!("the rule would have {length} characters; it has at most {RULE_PATTERN_CHARS_MAX}"));
    }
    match all.len() > RULES_MAX.max(rules.len()) {
        true => Err(format!("the Pod has {} rules, and at most {RULES_MAX}; take one from it first", rules.len())),
        false => Ok(all),
    }
}

/// The field that is wrong, and why.
fn flaw(rule: &PermissionRule) -> Option<(&'static str, String)> {
    let too_long = |text: &str, most: usize| {
        let length = text.chars().count();
        (length > most).then(|| format!("has {length} characters; it has at most {most}"))
    };
    let blank = |text: &str| text.trim().is_empty();
    if blank(&rule.tool) {
        return Some(("tool", "is empty; it names a tool, such as Bash".to_owned()));
    }
    if let Some(why) = too_long(&rule.tool, RULE_TOOL_CHARS_MAX) {
        return Some(("tool", why));
    }
    if let Some(folder) = rule.folder.as_deref().filter(|folder| !folder.starts_with('/')) {
        return Some(("folder", format!("is \"{folder}\"; it is an absolute path")));
    }
    if let Some(why) = rule.folder.as_deref().and_then(|folder| too_long(folder, RULE_PATTERN_CHARS_MAX)) {
        return Some(("folder", why));
    }
    let pattern = rule.pattern.as_deref()?;
    if blank(pattern) {
        return Some((
            "match",
            "is empty; `*` stands for any text, and without `match` every call is meant".to_owned(),
        ));
    }
    too_long(pattern, RULE_PATTERN_CHARS_MAX).map(|why| ("match", why))
}

#[cfg(test)]
mod tests {
    use protocol::PermissionDecision::{Allow, Deny};

    use super::*;

    fn rule(tool: &str, pattern: Option<&str>) -> PermissionRule {
        PermissionRule {
            tool: tool.to_owned(),
            pattern: pattern.map(str::to_owned),
            folder: None,
            pod: None,
            decision: Allow,
        }
    }

    fn some(count: usize) -> Vec<PermissionRule> {
        (0..count).map(|number| rule("Bash", Some(&format!("make {number}")))).collect()
    }

    #[test]
    fn a_rule_that_says_nothing_or_far_too_much_is_refused_by_its_place() {
        let (long_tool, long_pattern) = ("é".repeat(200), "é".repeat(4_096));
        let good = rule(&long_tool, Some(&long_pattern));
        for (bad, told) in [
            (rule("", None), "`permissions[1].tool` is empty"),
            (rule(" \t", Some("*")), "`permissions[1].tool` is empty"),
            (rule(&(long_tool.clone() + "x"), None), "`permissions[1].tool` has 201 characters; it has at most 200"),
            (rule("Bash", Some("")), "`permissions[1].match` is empty"),
            (rule("Bash", Some("  ")), "`permissions[1].match` is empty"),
            (rule("Bash", Some(&(long_pattern.clone() + "x"))), "`permissions[1].match` has 4097 characters"),
        ] {
            let refusal = rules_refusal(&[good.clone(), bad.clone()], &[]).unwrap();
            assert!(refusal.starts_with(told), "{refusal}");
            assert_eq!(rules_refusal(&[good.clone(), bad.clone()], &[bad]), None, "it stands already");
        }
        assert_eq!(rules_refusal(&[], &[]), None);
    }

    #[test]
    fn more_rules_than_there_may_be_can_only_become_fewer() {
        assert_eq!(rules_refusal(&some(200), &[]), None);
        assert!(
            rules_refusal(&some(201), &[]).unwrap().starts_with("`permissions` has 201 rules; there are at most 200")
        );
        assert!(rules_refusal(&some(251), &some(250)).is_some());
        assert_eq!(rules_refusal(&some(249), &some(250)), None);
    }

    #[test]
    fn an_answer_that_is_kept_is_the_first_rule_and_stands_once() {
        let kept = with_rule(&some(200), rule("Bash", Some("make 7"))).unwrap();
        assert_eq!((kept.len(), &kept[0], &kept[1]), (200, &some(8)[7], &some(1)[0]));
        assert!(with_rule(&some(200), rule("Bash", Some("ls"))).unwrap_err().contains("at most 200"));
        let denied = PermissionRule { decision: Deny, ..some(1)[0].clone() };
        assert_eq!(with_rule(&some(1), denied).unwrap().len(), 2);
        // For a tool without a main argument.
        assert!(with_rule(&[], rule("ListPods", Some(""))).is_ok());
        assert!(with_rule(&[], rule("Bash", Some(&"x".repeat(4_097)))).is_err());
    }
}
