//! Which calls are allowed, asked for and denied.

use pod::{PodSpec, permission, remembered};
use protocol::{PermissionDecision, PermissionRule};
use serde_json::{Value, json};

use PermissionDecision::{Allow, Ask, Deny};

fn rules(rules: Value) -> Vec<PermissionRule> {
    serde_json::from_value(rules).unwrap()
}

fn with(own: Value, ceilings: impl IntoIterator<Item = Value>) -> PodSpec {
    PodSpec { permissions: rules(own), ceilings: ceilings.into_iter().map(rules).collect(), ..crate::journal::spec() }
}

fn bash(command: &str) -> Value {
    json!({ "command": command })
}

#[test]
fn without_a_rule_what_changes_something_is_asked() {
    let spec = with(json!([]), []);
    for tool in ["Write", "Edit", "Bash", "WebFetch"] {
        assert_eq!(permission(&spec, tool, &json!({})), Ask, "{tool}");
    }
    for tool in ["Read", "Glob", "Grep", "ListPods", "SpawnPod", "SendToPod", "StopPod", "SendToPeerPod"] {
        assert_eq!(permission(&spec, tool, &json!({})), Allow, "{tool}");
    }
}

#[test]
fn the_first_rule_that_matches_decides() {
    let spec = with(
        json!([
            { "tool": "Bash", "match": "cargo publish*", "decision": "deny" },
            { "tool": "Bash", "match": "cargo *", "decision": "allow" },
            { "tool": "Read", "match": "/etc/*", "decision": "ask" },
            { "tool": "Bash", "decision": "deny" },
            { "tool": "Bash", "decision": "allow" }
        ]),
        [],
    );
    for (tool, arguments, expected) in [
        ("Bash", bash("cargo publish"), Deny),
        ("Bash", bash("cargo test"), Allow),
        ("Bash", bash("cargo test; cargo publish"), Deny),
        ("Bash", bash("ls"), Deny),
        ("Bash", json!({}), Deny),
        ("Read", json!({ "path": "/etc/passwd" }), Ask),
        ("Read", json!({ "path": "/home" }), Allow),
        ("Write", json!({ "path": "/etc/passwd" }), Ask),
    ] {
        assert_eq!(permission(&spec, tool, &arguments), expected, "{tool} {arguments}");
    }
}

#[test]
fn a_rule_over_paths_is_not_got_around_by_another_spelling() {
    let spec = PodSpec {
        cwd: "/work".to_owned(),
        ..with(
            json!([
                { "tool": "Read", "match": "secret*", "decision": "deny" },
                { "tool": "Read", "match": "/work/keys/*", "decision": "deny" },
                { "tool": "Write", "match": "docs/*", "decision": "allow" },
                { "tool": "Write", "match": "up/../exactly", "decision": "allow" }
            ]),
            [],
        )
    };
    for (tool, path, expected) in [
        ("Read", "secret1", Deny),
        ("Read", "./secret1", Deny),
        ("Read", "a/../secret1", Deny),
        ("Read", ".//secret1", Deny),
        ("Read", "/work/secret1", Deny),
        ("Read", "/work/./a/../secret1", Deny),
        ("Read", "keys/a", Deny),
        ("Read", "notsecret", Allow),
        ("Write", "docs/a", Allow),
        ("Write", "./docs/a", Allow),
        ("Write", "/work/docs/a", Allow),
        ("Write", "docs/b/../a", Allow),
        ("Write", "docs/../a", Ask),
        ("Write", "docs/../../etc/passwd", Ask),
        ("Write", "up/../exactly", Allow),
    ] {
        assert_eq!(permission(&spec, tool, &json!({ "path": path })), expected, "{tool} {path}");
    }
}

#[test]
fn of_those_who_lead_it_the_strictest_counts() {
    let rule = |decision: &str| json!([{ "tool": "Bash", "decision": decision }]);
    let words = [("allow", Allow), ("ask", Ask), ("deny", Deny)];
    let order = |decision: PermissionDecision| words.iter().position(|(_, other)| *other == decision).unwrap();
    for (own, one) in words {
        for (parents, two) in words {
            for (grandparents, three) in words {
                let spec = with(rule(own), [rule(parents), rule(grandparents)]);
                let strictest = [one, two, three].into_iter().max_by_key(|decision| order(*decision)).unwrap();
                assert_eq!(permission(&spec, "Bash", &bash("ls")), strictest, "{own} {parents} {grandparents}");
            }
        }
    }
    // A leader without a rule has the defaults.
    assert_eq!(permission(&with(rule("allow"), [json!([])]), "Bash", &bash("ls")), Ask);
}

#[test]
fn nothing_of_a_shell_that_cannot_be_confined_is_allowed_without_a_person() {
    for (decision, expected) in [("allow", Ask), ("ask", Ask), ("deny", Deny)] {
        let mut spec = with(json!([{ "tool": "Bash", "decision": decision }]), []);
        spec.shell_is_unconfined = true;
        assert_eq!(permission(&spec, "Bash", &bash("ls")), expected);
        assert_eq!(permission(&spec, "Read", &json!({ "path": "/a" })), Allow);
    }
}

#[test]
fn what_is_remembered_is_this_tool_with_exactly_this_argument() {
    let arguments = bash(r"ls * \ a");
    for decision in [Allow, Deny] {
        let mut spec = with(json!([{ "tool": "Bash", "decision": "ask" }]), []);
        spec.permissions.insert(0, remembered("Bash", &arguments, decision));
        // It is kept with the Pod's recipe.
        let spec: PodSpec = serde_json::from_str(&serde_json::to_string(&spec).unwrap()).unwrap();
        assert_eq!(permission(&spec, "Bash", &arguments), decision);
        for other in [r"ls x \ a", r"ls * \ ab", "", r"ls * \ a; rm"] {
            assert_eq!(permission(&spec, "Bash", &bash(other)), Ask, "{other}");
        }
        assert_eq!(permission(&spec, "WebFetch", &json!({ "url": r"ls * \ a" })), Ask);
    }
}

#[test]
fn a_command_with_several_parts_can_be_remembered_too() {
    let arguments = bash("cd web && npm test");
    let mut spec = with(json!([]), []);
    spec.permissions.insert(0, remembered("Bash", &arguments, Allow));
    assert_eq!(permission(&spec, "Bash", &arguments), Allow);
}
