//! What a mode decides, and what rules decide before it.

use pod::{Leader, PodSpec, Remembering, Sight, Verdict, offers, rule_for, verdict, would_allow};
use protocol::{Mode, NetworkPolicy, PermissionDecision, PermissionRule, RuleScope};
use serde_json::{Value, json};

/// `allow`, `ask`, or why not.
fn said(spec: &PodSpec, tool: &str, arguments: &Value) -> String {
    match verdict(spec, tool, arguments) {
        Verdict::Allow => "allow".to_owned(),
        Verdict::Ask => "ask".to_owned(),
        Verdict::Deny(denial) => denial.sentence(tool),
    }
}

fn in_mode(mode: Mode) -> PodSpec {
    PodSpec { mode, ..crate::journal::spec() }
}

fn rule(tool: &str, pattern: &str, decision: PermissionDecision) -> PermissionRule {
    PermissionRule { tool: tool.to_owned(), pattern: Some(pattern.to_owned()), folder: None, pod: None, decision }
}

#[test]
fn a_mode_decides_where_no_rule_does_and_never_allows_what_nothing_holds() {
    let planned = "this Pod is in plan mode";
    for (tool, expected) in [
        ("Read", ["allow", "allow", "allow", "allow"]),
        ("Write", ["ask", "allow", planned, "allow"]),
        ("Edit", ["ask", "allow", planned, "allow"]),
        ("Bash", ["ask", "ask", planned, "allow"]),
        ("WebFetch", ["ask"; 4]),
        ("Network", ["ask"; 4]),
        ("files__write", ["ask"; 4]),
        ("Unheard", ["ask"; 4]),
        // An agent's own work, which nothing confines.
        ("edit", ["ask", "ask", planned, "ask"]),
        ("execute", ["ask", "ask", planned, "ask"]),
        ("delete", ["ask", "ask", planned, "ask"]),
        ("other", ["ask"; 4]),
    ] {
        for (mode, expected) in Mode::ALL.into_iter().zip(expected) {
            let told = said(&in_mode(mode), tool, &json!({ "path": "a", "command": "ls" }));
            assert!(told.starts_with(expected), "{tool} in {mode}: {told}");
        }
    }
}

#[test]
fn an_agents_own_work_is_allowed_as_far_as_the_scope_or_its_sandbox_hold_it() {
    let arguments = json!({ "path": "/work/a" });
    let judged = |mode, tool: &str, is_in_scope, agent_is_confined| {
        let mut spec = PodSpec { agent_is_confined, ..in_mode(mode) };
        spec.sights.note(tool, &arguments, Sight { is_in_scope, ..Sight::default() });
        said(&spec, tool, &arguments)
    };
    for (mode, tool, is_in_scope, is_confined, expected) in [
        (Mode::AcceptEdits, "edit", true, false, "allow"),
        (Mode::AcceptEdits, "edit", false, true, "ask"),
        (Mode::AcceptEdits, "delete", true, true, "ask"),
        (Mode::Free, "edit", true, false, "allow"),
        (Mode::Free, "edit", false, false, "ask"),
        (Mode::Free, "read", true, false, "allow"),
        (Mode::Free, "execute", true, false, "ask"),
        (Mode::Free, "execute", false, true, "allow"),
        (Mode::Free, "delete", true, true, "allow"),
        (Mode::Free, "other", true, true, "ask"),
    ] {
        assert_eq!(judged(mode, tool, is_in_scope, is_confined), expected, "{tool} in {mode}");
    }
}

#[test]
fn rules_come_before_the_mode_and_a_deny_wherever_it_stands() {
    let bash = json!({ "command": "ls" });
    let mut spec = in_mode(Mode::Free);
    spec.permissions = vec![rule("Bash", "ls", PermissionDecision::Ask)];
    assert_eq!(said(&spec, "Bash", &bash), "ask");
    spec.shared_rules = vec![rule("Bash", "ls", PermissionDecision::Allow)].into();
    assert_eq!(said(&spec, "Bash", &bash), "ask", "the nearest list decides");
    spec.shared_rules = vec![rule("Bash", "ls", PermissionDecision::Deny)].into();
    spec.permissions = vec![rule("Bash", "*", PermissionDecision::Allow)];
    assert!(said(&spec, "Bash", &bash).starts_with("a rule of this Pod denies Bash"));
    let plan = PodSpec { permissions: vec![rule("Write", "*", PermissionDecision::Allow)], ..in_mode(Mode::Plan) };
    assert!(said(&plan, "Write", &json!({ "path": "a" })).contains("plan mode"), "no rule allows what plan forbids");
    let unconfined = PodSpec { shell_is_unconfined: true, ..in_mode(Mode::Free) };
    assert_eq!(said(&unconfined, "Bash", &bash), "ask");
}

#[test]
fn a_child_does_no_more_than_the_least_of_the_modes_above_it() {
    let (bash, write) = (json!({ "command": "ls" }), json!({ "path": "a" }));
    for (parent, to_run, to_write) in [
        (Mode::Free, "allow", "allow"),
        (Mode::AcceptEdits, "ask", "allow"),
        (Mode::Ask, "ask", "ask"),
        (Mode::Plan, "this Pod is in plan mode", "this Pod is in plan mode"),
    ] {
        let mut spec = in_mode(Mode::Free);
        let leader = Leader { cwd: "/".to_owned(), permissions: Vec::new(), network: NetworkPolicy::Ask, mode: parent };
        spec.leaders = Some(vec![leader]);
        assert!(said(&spec, "Bash", &bash).starts_with(to_run), "{parent}");
        assert!(said(&spec, "Write", &write).starts_with(to_write), "{parent}");
    }
}

#[test]
fn what_cannot_succeed_is_not_asked_for() {
    let arguments = json!({ "path": "/etc/passwd" });
    let mut spec = in_mode(Mode::Ask);
    let cannot = Some("/etc/passwd is outside the scope of this Pod".to_owned());
    spec.sights.note("Write", &arguments, Sight { cannot, ..Sight::default() });
    assert_eq!(said(&spec, "Write", &arguments), "/etc/passwd is outside the scope of this Pod");
}

/// What is known about a command line of literal words.
fn words(command: &str) -> Sight {
    let commands = command.split("; ").map(|one| one.split(' ').map(str::to_owned).collect()).collect();
    Sight { commands: Some(commands), ..Sight::default() }
}

#[test]
fn patterns_are_offered_from_exactly_this_call_to_every_call_and_each_covers_it() {
    let offered = |tool: &str, arguments: &Value, sight: Sight| -> Vec<String> {
        offers("/work", tool, arguments, sight).into_iter().map(|offer| offer.pattern).collect()
    };
    let bash = |command: &str| offered("Bash", &json!({ "command": command }), words(command));
    assert_eq!(bash("cargo test -p a"), ["cargo test -p a", "cargo test *", "cargo *", "*"]);
    assert_eq!(bash("ls"), ["ls", "ls *", "*"]);
    assert_eq!(bash("ls -l"), ["ls -l", "ls *", "*"]);
    assert_eq!(
        bash("cargo test; cargo run"),
        ["cargo test; cargo run", "cargo test *; cargo run *", "cargo *; cargo *", "*"]
    );
    assert_eq!(offered("Bash", &json!({ "command": "ls > a" }), words("ls")), ["ls > a", "*"]);
    let odd = offered("Bash", &json!({ "command": "ls $(x)" }), Sight::default());
    assert_eq!(odd, ["ls $(x)", "*"]);
    let at = |path: &str| Sight { leads: Some(path.to_owned()), ..Sight::default() };
    assert_eq!(offered("Write", &json!({ "path": "src/a.rs" }), at("/work/src/a.rs")), ["src/a.rs", "src/*", "*"]);
    assert_eq!(offered("Write", &json!({ "path": "a" }), at("/work/a")), ["a", "/work/*", "*"]);
    let fetch = json!({ "url": "https://docs.rs/x?y" });
    assert_eq!(offered("WebFetch", &fetch, Sight::default()), ["https://docs.rs/x?y", "https://docs.rs/*", "*"]);
    let host = json!({ "host": "static.crates.io", "port": 443 });
    assert_eq!(offered("Network", &host, Sight::default()), ["static.crates.io", "*.crates.io"]);
    for offer in offers("/work", "Bash", &json!({ "command": "cargo test" }), words("cargo test")) {
        assert!(would_allow(&offer.rule, "/work", "Bash", &json!({ "command": "cargo test" }), words("cargo test")));
    }
}

#[test]
fn a_pattern_that_does_not_cover_the_call_makes_no_rule() {
    let asked = |command: &str, pattern: Option<&str>, scope| {
        let remembering = Remembering { decision: PermissionDecision::Allow, scope, pattern };
        rule_for("/work", "Bash", &json!({ "command": command }), words(command), remembering)
    };
    for (command, pattern) in [
        ("cargo test; ls", "cargo test *"),
        ("ls", "cargo *"),
        ("ls", ""),
        ("ls", "  "),
        ("cargo test", "cargo test > *"),
        ("ls", &"x".repeat(5_000)),
    ] {
        assert!(asked(command, Some(pattern), RuleScope::Pod).is_err(), "{pattern:.40} for {command}");
    }
    let rule = asked("cargo test", Some("cargo test *"), RuleScope::Everywhere).unwrap();
    assert_eq!((rule.folder, rule.pattern.as_deref()), (None, Some("cargo test *")));
    let rule = asked("cargo test", None, RuleScope::Folder).unwrap();
    assert_eq!((rule.folder.as_deref(), rule.pattern.as_deref()), (Some("/work"), Some("cargo test")));
    // Elsewhere a relative path would be another file.
    let sight = Sight { leads: Some("/work/a".to_owned()), ..Sight::default() };
    let remembering = Remembering { decision: PermissionDecision::Deny, scope: RuleScope::Everywhere, pattern: None };
    let rule = rule_for("/work", "Write", &json!({ "path": "a" }), sight, remembering).unwrap();
    assert_eq!((rule.folder, rule.pattern.as_deref()), (None, Some("/work/a")));
    for (pattern, kept) in [("a", "/work/a"), ("d/*", "/work/d/*"), ("*.rs", "*.rs"), ("/work/*", "/work/*")] {
        let path = if pattern == "a" { "a" } else { "d/a.rs" };
        let sight = Sight { leads: Some(format!("/work/{path}")), ..Sight::default() };
        let remembering =
            Remembering { decision: PermissionDecision::Allow, scope: RuleScope::Everywhere, pattern: Some(pattern) };
        let rule = rule_for("/work", "Write", &json!({ "path": path }), sight, remembering).unwrap();
        assert_eq!((rule.folder, rule.pattern.as_deref()), (None, Some(kept)), "{pattern}");
    }
}

#[test]
fn no_pattern_covers_a_redirection_to_any_file() {
    let remember = |pattern| {
        let remembering =
            Remembering { decision: PermissionDecision::Allow, scope: RuleScope::Pod, pattern: Some(pattern) };
        rule_for("/work", "Bash", &json!({ "command": "echo a > 'b c'" }), words("echo a"), remembering)
    };
    for pattern in ["echo * > *", "echo * > b*", "echo * > 'b *'", "echo * > b\\ *", "echo *"] {
        assert!(remember(pattern).is_err(), "{pattern}");
    }
    assert!(remember("echo * > 'b c'").is_ok());
}
