//! Which calls are allowed, asked for and denied.

use pod::{PodSpec, Sight, has_rules, main_argument, remembered};
use protocol::{PermissionDecision, PermissionRule};
use serde_json::{Value, json};

use PermissionDecision::{Allow, Ask, Deny};

fn rules(rules: Value) -> Vec<PermissionRule> {
    serde_json::from_value(rules).unwrap()
}

fn with(own: Value, ceilings: impl IntoIterator<Item = Value>) -> PodSpec {
    PodSpec { permissions: rules(own), ceilings: ceilings.into_iter().map(rules).collect(), ..crate::journal::spec() }
}

/// The decision on a call about which everything is known: its path leads where it says, and its command line consists
/// of the commands between `;`, `&` and `|`.
fn permission(spec: &PodSpec, tool: &str, arguments: &Value) -> PermissionDecision {
    let given = main_argument(tool, arguments);
    let mut spec = spec.clone();
    let commands = commands(&given.replace("2>&1", ""));
    let leads = Some(straight(&format!("{}/{given}", if given.starts_with('/') { "" } else { &spec.cwd })));
    if has_rules(&spec, tool) {
        spec.sights.note(tool, arguments, Sight { leads, commands: Some(commands), ..Sight::default() });
    }
    pod::permission(&spec, tool, arguments)
}

/// The words between the operators that join commands, where those are not quoted.
fn commands(text: &str) -> Vec<Vec<String>> {
    let (mut quote, mut commands, mut word) = (None, vec![vec![]], String::new());
    for character in text.chars().chain([';']) {
        match (quote, character) {
            (Some(open), close) if open == close => quote = None,
            (None, '\'' | '"') => quote = Some(character),
            (None, ' ' | '&' | '|' | ';' | '\n') => {
                let command = commands.last_mut().unwrap();
                command.extend(Some(std::mem::take(&mut word)).filter(|word: &String| !word.is_empty()));
                if character != ' ' {
                    commands.push(Vec::new());
                }
            }
            (_, other) => word.push(other),
        }
    }
    commands.into_iter().filter(|words| !words.is_empty()).collect()
}

fn straight(path: &str) -> String {
    let mut names = Vec::new();
    for name in path.split('/').filter(|name| !name.is_empty() && *name != ".") {
        match name {
            ".." => drop(names.pop()),
            name => names.push(name),
        }
    }
    format!("/{}", names.join("/"))
}

fn bash(command: &str) -> Value {
    json!({ "command": command })
}

#[test]
fn without_a_rule_what_is_not_known_to_be_harmless_is_asked() {
    let spec = with(json!([]), []);
    for tool in ["Write", "Edit", "Bash", "WebFetch", "Network", "Deploy", "read", "Read ", ""] {
        assert_eq!(permission(&spec, tool, &json!({})), Ask, "{tool}");
    }
    for tool in ["Read", "Glob", "Grep"] {
        assert_eq!(permission(&spec, tool, &json!({})), Allow, "{tool}");
    }
    let of_pods = ["ListPods", "SpawnPod", "SendToPod", "ReadPodOutput", "StopPod", "RestorePod", "SendToPeerPod"];
    for tool in of_pods {
        assert_eq!(permission(&spec, tool, &json!({})), Allow, "{tool}");
    }
}

#[test]
fn the_default_that_was_found_out_counts_where_no_rule_does() {
    let of = |rules: Value, ceilings: Vec<Value>, tool: &str, default| {
        let mut spec = with(rules, ceilings);
        spec.sights.note(tool, &json!({}), Sight { default: Some(default), ..Sight::default() });
        pod::permission(&spec, tool, &json!({}))
    };
    for default in [Allow, Ask, Deny] {
        for tool in ["Deploy", "Read", "Bash", "SendToPod"] {
            assert_eq!(of(json!([]), vec![json!([])], tool, default), default, "{tool}");
            let rule = |decision| json!([{ "tool": tool, "decision": decision }]);
            assert_eq!(of(rule("ask"), vec![], tool, default), Ask, "{tool}");
            assert_eq!(of(json!([]), vec![rule("deny")], tool, default), Deny, "{tool}");
        }
    }
    // What was found out about one call does not apply to another one.
    let mut spec = with(json!([]), []);
    spec.sights.note("Deploy", &json!({ "to": "a" }), Sight { default: Some(Allow), ..Sight::default() });
    assert_eq!(pod::permission(&spec, "Deploy", &json!({ "to": "b" })), Ask);
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
        ("Bash", bash("cargo test; cargo build"), Allow),
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
fn of_all_parents_above_it_the_strictest_counts() {
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
    // A parent without a rule has the defaults.
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
        spec.permissions.insert(0, remembered(&spec.cwd, "Bash", &arguments, Sight::default(), decision));
        // It is kept with the Pod's settings.
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
    spec.permissions.insert(0, remembered(&spec.cwd, "Bash", &arguments, Sight::default(), Allow));
    assert_eq!(permission(&spec, "Bash", &arguments), Allow);
}

#[test]
fn a_path_is_allowed_by_where_it_leads_and_denied_by_either() {
    let judged = |decision: &str, pattern: &str, path: &str, leads: Option<&str>| {
        let mut spec = with(json!([{ "tool": "Write", "match": pattern, "decision": decision }]), []);
        spec.cwd = "/work".to_owned();
        let arguments = json!({ "path": path });
        let sight = Sight { leads: leads.map(str::to_owned), ..Sight::default() };
        spec.sights.note("Write", &arguments, sight);
        pod::permission(&spec, "Write", &arguments)
    };
    for (pattern, path, leads, expected) in [
        ("docs/*", "docs/a", Some("/work/docs/a"), Allow),
        ("docs/*", "link/a", Some("/work/docs/a"), Allow),
        ("/work/docs/*", "link/a", Some("/work/docs/a"), Allow),
        ("docs/*", "docs/link/a", Some("/etc/a"), Ask),
        ("docs/*", "docs/a", None, Ask),
        ("docs/a", "docs/a", Some("/work/other"), Ask),
        ("*", "docs/a", None, Allow),
    ] {
        assert_eq!(judged("allow", pattern, path, leads), expected, "{pattern} over {path}, which leads to {leads:?}");
    }
    for (pattern, path, leads, expected) in [
        ("secret/*", "link/a", Some("/work/secret/a"), Deny),
        ("secret/*", "secret/a", Some("/work/other/a"), Deny),
        ("secret/*", "./secret/a", None, Deny),
        ("secret/*", "link/a", Some("/work/other/a"), Ask),
    ] {
        assert_eq!(judged("deny", pattern, path, leads), expected, "{pattern} over {path}, which leads to {leads:?}");
    }
}

#[test]
fn a_rule_over_commands_means_the_words_of_each() {
    let spec = with(
        json!([
            { "tool": "Bash", "match": "rm *", "decision": "deny" },
            { "tool": "Bash", "match": "git push*", "decision": "ask" },
            { "tool": "Bash", "match": "cargo *", "decision": "allow" },
            { "tool": "Bash", "match": "git *", "decision": "allow" },
            { "tool": "Bash", "match": "cd * && npm test", "decision": "allow" },
            { "tool": "Bash", "match": "npm * > out/*", "decision": "allow" },
            { "tool": "Bash", "match": "printf *", "decision": "allow" },
            { "tool": "Bash", "match": "export *", "decision": "allow" },
            { "tool": "Bash", "match": "set *", "decision": "allow" }
        ]),
        [],
    );
    for (command, expected) in [
        ("cargo test -p x", Allow),
        ("cargo test; git status", Allow),
        ("'cargo' \"test\"", Allow),
        ("cargo test 2>&1 | git hash-object", Allow),
        ("cargo test > log.txt", Ask),
        ("cargo test > /dev/null", Allow),
        ("cargo test; ls", Ask),
        ("cargo $(rm -r .)", Ask),
        ("cargo test && rm -r .", Deny),
        ("git push; rm x", Deny),
        ("git push", Ask),
        ("/bin/rm x", Deny),
        ("r''m x", Deny),
        ("env A=1 rm x", Deny),
        ("nohup sudo -u me rm x", Deny),
        ("bash -c 'echo; rm x'", Deny),
        ("sh -c \"bash -c 'rm x'\"", Deny),
        ("xargs /bin/rm -f", Deny),
        ("echo rm x", Ask),
        ("PATH=. cargo test", Ask),
        ("cargo *", Ask),
        ("cargo ~/x", Ask),
        ("printf '[%s]' a", Allow),
        ("printf -v 'a[$(x)]' a", Ask),
        ("printf -v 'a[$(x)]' a; rm x", Deny),
        ("export PATH=x", Ask),
        ("set -eu; cargo test", Allow),
        ("set -k; cargo test", Ask),
        ("trap 'rm x' EXIT", Deny),
        ("coproc rm x", Deny),
        ("cd web && npm test", Allow),
        ("cd web; rm x && npm test", Deny),
        ("cd web; ls && npm test", Ask),
        ("npm test > out/log", Allow),
        ("npm test > /etc/x", Ask),
        (&format!("cargo {}", "x".repeat(20_000)), Deny),
    ] {
        assert_eq!(permission(&spec, "Bash", &bash(command)), expected, "{command:.80}");
    }
}

#[test]
fn always_is_for_the_folder_that_it_was_given_in() {
    let cargo = |folder: &str| json!({ "command": "cargo test", "cwd": folder });
    let mut spec = PodSpec { cwd: "/work".to_owned(), ..with(json!([]), []) };
    let rule = remembered("/work", "Bash", &cargo("web"), Sight::default(), Allow);
    assert_eq!(rule.folder.as_deref(), Some("/work/web"));
    spec.permissions.push(rule);
    for (folder, expected) in [("web", Allow), ("/work/web/", Allow), ("./x/../web", Allow), ("web/x", Ask), ("", Ask)]
    {
        assert_eq!(permission(&spec, "Bash", &cargo(folder)), expected, "{folder}");
    }
    spec.permissions = rules(json!([
        { "tool": "Bash", "match": "cargo *", "folder": "/work", "decision": "allow" },
        { "tool": "Bash", "match": "cd *", "decision": "allow" }
    ]));
    assert_eq!(permission(&spec, "Bash", &bash("cargo test; cd x")), Allow);
    assert_eq!(permission(&spec, "Bash", &bash("cd x; cargo test")), Ask);
    spec.permissions.extend(rules(json!([{ "tool": "Bash", "match": "command *", "decision": "allow" }])));
    assert_eq!(permission(&spec, "Bash", &bash("command -- cd x; cargo test")), Ask);
}

#[test]
fn a_rule_about_a_pod_is_about_that_one_and_none_of_its_name() {
    let (first, second) = ("0197-first", "0197-second");
    let judged = |decision: &str, pod: Option<&str>, id: &str, name: &str| {
        let rule = json!([{ "tool": "SendToPod", "match": "bob", "pod": pod, "decision": decision },
            { "tool": "SendToPod", "decision": "ask" }]);
        let mut spec = with(rule, []);
        let arguments = json!({ "name": name, "message": "x" });
        let pod = Some((serde_json::from_value(json!(id)).unwrap(), name.to_owned()));
        spec.sights.note("SendToPod", &arguments, Sight { pod, ..Sight::default() });
        pod::permission(&spec, "SendToPod", &arguments)
    };
    assert_eq!(judged("allow", Some(first), first, "bob"), Allow);
    assert_eq!(judged("allow", Some(first), first, "renamed"), Allow);
    assert_eq!(judged("allow", Some(first), second, "bob"), Ask);
    assert_eq!(judged("allow", None, second, "bob"), Ask);
    assert_eq!(judged("deny", Some(first), first, "renamed"), Deny);
    assert_eq!(judged("deny", Some(first), second, "bob"), Deny);
}

#[test]
fn paths_in_a_parents_rules_are_relative_to_its_own_folder() {
    let mut spec =
        PodSpec { cwd: "/work/docs".to_owned(), ..with(json!([{ "tool": "Write", "decision": "allow" }]), []) };
    let leads = json!([{ "tool": "Write", "match": "docs/secret*", "decision": "deny" },
        { "tool": "Write", "match": "docs/*", "decision": "allow" }]);
    spec.leaders = Some(vec![pod::Leader {
        cwd: "/work".to_owned(),
        permissions: rules(leads),
        network: protocol::NetworkPolicy::Ask,
        mode: protocol::Mode::Ask,
    }]);
    for (path, expected) in [("a", Allow), ("secret1", Deny), ("../a", Ask)] {
        assert_eq!(permission(&spec, "Write", &json!({ "path": path })), expected, "{path}");
    }
}
