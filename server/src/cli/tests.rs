use clap::{CommandFactory, error::ErrorKind};

use super::*;

fn parse(line: &str) -> Result<Cli, clap::Error> {
    Cli::try_parse_from(line.split(' '))
}

#[test]
fn the_definition_holds() {
    Cli::command().debug_assert();
}

#[test]
fn serve_is_the_verb_that_may_be_left_out() {
    let bare = parse("yoi --listen 127.0.0.1:0 --data /d --allow-host a --allow-host b").unwrap();
    let named = parse("yoi serve --listen 127.0.0.1:0 --data /d --allow-host a --allow-host b").unwrap();
    let Some(Verb::Serve(serve)) = named.verb else { panic!("{named:?}") };
    assert!(bare.verb.is_none());
    assert_eq!((bare.serve, bare.common), (serve.clone(), named.common));
    assert_eq!(serve.allow_hosts, ["a", "b"]);
}

#[test]
fn common_options_stand_before_or_after_the_verb() {
    for line in ["yoi ls --server http://x --data /d --json", "yoi --server http://x --data /d --json ls"] {
        let cli = parse(line).unwrap();
        let expected =
            CommonOptions { server: Some("http://x".into()), data: Some("/d".into()), config: None, json: true };
        assert_eq!(cli.common, expected, "{line}");
    }
}

#[test]
fn a_message_is_all_that_follows_the_name() {
    let Some(Verb::Send(send)) = parse("yoi send ada say hello --no-queue").unwrap().verb else { panic!() };
    assert_eq!((send.target.as_str(), send.text, send.no_queue), ("ada", vec!["say".into(), "hello".into()], true));
    assert_eq!(parse("yoi send ada").unwrap_err().kind(), ErrorKind::MissingRequiredArgument);
}

#[test]
fn every_control_verb_takes_one_target() {
    for verb in ControlVerb::ALL.into_iter().filter(|verb| *verb != ControlVerb::Restore) {
        let cli = parse(&format!("yoi {} ada@box", verb.as_str())).unwrap();
        assert_eq!(cli.verb.as_ref().and_then(Verb::as_control), Some((verb, "ada@box")));
    }
}

#[test]
fn a_peer_request_names_two_pods_and_may_have_a_note() {
    let Some(Verb::Peer(peer)) = parse("yoi peer ada bob@box --note hello").unwrap().verb else { panic!() };
    let named = (peer.source.as_str(), peer.target.as_str(), peer.note.as_deref());
    assert_eq!(named, ("ada", "bob@box", Some("hello")));
    for line in ["yoi peer ada", "yoi unpeer ada", "yoi peers", "yoi accept ada", "yoi message ada bob"] {
        assert_eq!(parse(line).unwrap_err().kind(), ErrorKind::MissingRequiredArgument, "{line}");
    }
}

#[test]
fn a_restore_may_be_of_a_whole_tree() {
    for (line, tree) in [("yoi restore ada", false), ("yoi restore ada --tree", true)] {
        let Some(Verb::Restore(restore)) = parse(line).unwrap().verb else { panic!("{line}") };
        assert_eq!((restore.target.as_str(), restore.tree), ("ada", tree), "{line}");
    }
}

#[test]
fn an_answer_allows_unless_it_says_deny() {
    let Some(Verb::Approve(yes)) = parse("yoi approve ada q1 --remember").unwrap().verb else { panic!() };
    assert_eq!((yes.id.as_deref(), yes.deny, yes.remember, yes.reason), (Some("q1"), false, true, None));
    let Some(Verb::Approve(no)) = parse("yoi approve ada q1 --deny --reason no").unwrap().verb else { panic!() };
    assert_eq!((no.deny, no.remember, no.reason.as_deref()), (true, false, Some("no")));
    let Some(Verb::Approve(lone)) = parse("yoi approve ada --always").unwrap().verb else { panic!() };
    assert_eq!((lone.target.as_deref(), lone.id), (Some("ada"), None));
    let Some(Verb::Deny(any)) = parse("yoi deny --reason no").unwrap().verb else { panic!() };
    assert_eq!((any.target, any.id), (None, None));
    let line = "yoi approve ada q1 --always --pattern cargo* --scope folder";
    let Some(Verb::Approve(always)) = parse(line).unwrap().verb else { panic!() };
    assert_eq!((always.remember, always.pattern.as_deref()), (true, Some("cargo*")));
    assert_eq!(always.scope, Some(protocol::RuleScope::Folder));
    assert!(parse("yoi approve ada q1 --pattern cargo*").is_err(), "a pattern is about a rule");
}

#[test]
fn a_rewind_names_a_record_and_may_name_the_head() {
    let Some(Verb::Rewind(rewind)) = parse("yoi rewind ada 7 --head 9").unwrap().verb else { panic!() };
    assert_eq!((rewind.seq, rewind.head), (7, Some(9)));
    for line in ["yoi rewind ada", "yoi rewind ada x", "yoi rewind ada -1", "yoi rewind ada 7 --head -9"] {
        assert!(parse(line).is_err(), "{line}");
    }
}

#[test]
fn a_tool_takes_no_arguments_unless_some_are_given() {
    let Some(Verb::Tool(tool)) = parse("yoi tool ada ListPods").unwrap().verb else { panic!() };
    assert_eq!((tool.tool.as_str(), tool.arguments.as_str()), ("ListPods", "{}"));
}

#[test]
fn an_export_is_markdown_or_jsonl_and_an_import_reads_a_file() {
    let Some(Verb::Export(export)) = parse("yoi export ada").unwrap().verb else { panic!() };
    assert_eq!((export.target.as_str(), export.format), ("ada", None));
    assert!(parse("yoi export ada --format jsonl").is_ok());
    assert_eq!(parse("yoi export ada --format pdf").unwrap_err().kind(), ErrorKind::InvalidValue);
    let import = |line: &str| match parse(line).unwrap().verb {
        Some(Verb::Import(import)) => import,
        _ => panic!("{line}"),
    };
    assert_eq!(import("yoi import ada -").what, ["ada", "-"]);
    let from = import("yoi import a.jsonl --name ada --format claude");
    assert_eq!((from.what, from.name.as_deref()), (vec!["a.jsonl".to_owned()], Some("ada")));
    assert!(import("yoi import --list").list);
    assert_eq!(import("yoi import --last codex --name ada").last.as_deref(), Some("codex"));
    for line in [
        "yoi import a b c",
        "yoi import --list a",
        "yoi import --last gemini",
        "yoi import --last claude a",
        "yoi import a --format pdf",
    ] {
        assert!(parse(line).is_err(), "{line}");
    }
}

#[test]
fn a_work_tree_may_have_a_branch_and_a_beginning() {
    for (line, worktree, from) in [
        ("yoi new ada", None, None),
        ("yoi new ada --worktree", Some(None), None),
        ("yoi new --worktree ada", Some(None), None),
        ("yoi new ada --worktree=fix/a --from v1", Some(Some("fix/a")), Some("v1")),
    ] {
        let Some(Verb::New(new)) = parse(line).unwrap().verb else { panic!("{line}") };
        let worktree = worktree.map(|branch: Option<&str>| branch.map(str::to_owned));
        assert_eq!((new.name.as_str(), new.worktree, new.from.as_deref()), ("ada", worktree, from), "{line}");
    }
    assert_eq!(parse("yoi new ada --from v1").unwrap_err().kind(), ErrorKind::MissingRequiredArgument);
    let Some(Verb::Worktree(merge)) = parse("yoi worktree ada merge --into next").unwrap().verb else { panic!() };
    assert_eq!((merge.verb, merge.into.as_deref()), (protocol::WorktreeVerb::Merge, Some("next")));
    assert_eq!(parse("yoi worktree ada burn").unwrap_err().kind(), ErrorKind::InvalidValue);
    let Some(Verb::Commit(commit)) = parse("yoi commit ada -m Round src/a").unwrap().verb else { panic!() };
    assert_eq!((commit.message.as_str(), commit.paths), ("Round", vec!["src/a".to_owned()]));
}

#[test]
fn a_fork_has_a_name_and_may_begin_at_a_record() {
    for (line, at) in [("yoi fork ada eve", None), ("yoi fork ada eve --at 12", Some(12))] {
        let Some(Verb::Fork(fork)) = parse(line).unwrap().verb else { panic!("{line}") };
        assert_eq!((fork.target.as_str(), fork.name.as_str(), fork.at), ("ada", "eve", at), "{line}");
    }
    assert_eq!(parse("yoi fork ada").unwrap_err().kind(), ErrorKind::MissingRequiredArgument);
    assert_eq!(parse("yoi fork ada eve --at 0").unwrap_err().kind(), ErrorKind::ValueValidation);
}

#[test]
fn words_to_find_are_all_that_stands_there() {
    let Some(Verb::Search(search)) = parse("yoi search --pod ada one two").unwrap().verb else { panic!() };
    assert_eq!((search.words, search.pod.as_deref()), (vec!["one".to_owned(), "two".to_owned()], Some("ada")));
    assert!(parse("yoi search").is_err());
}

#[test]
fn an_address_of_a_pod_needs_both_halves() {
    assert!(parse("yoi tui --runtime local --worker 1").is_ok());
    for line in ["yoi tui --runtime local", "yoi tui --worker 1", "yoi tui ada --runtime local --worker 1"] {
        assert!(parse(line).is_err(), "{line}");
    }
}

#[test]
fn a_switch_is_on_or_off_and_a_policy_one_of_three() {
    let Some(Verb::Wake(wake)) = parse("yoi wake ada off").unwrap().verb else { panic!() };
    assert_eq!((wake.target.as_str(), wake.wakes), ("ada", false));
    let Some(Verb::Policy(policy)) = parse("yoi policy ada ask").unwrap().verb else { panic!() };
    assert_eq!(policy.policy, protocol::PeerPolicy::Ask);
    for line in ["yoi wake ada maybe", "yoi policy ada some", "yoi wake ada", "yoi ls --state asleep"] {
        assert!(parse(line).is_err(), "{line}");
    }
    let Some(Verb::New(new)) = parse("yoi new ada --scope read:/a --scope deny:/b --wake off").unwrap().verb else {
        panic!()
    };
    assert_eq!((new.scope.len(), new.wake), (2, Some(false)));
}

#[test]
fn a_message_steers_or_is_not_queued_but_not_both() {
    let Some(Verb::Send(send)) = parse("yoi send ada go on --steer").unwrap().verb else { panic!() };
    assert!(send.steer && !send.no_queue);
    assert_eq!(parse("yoi send ada go --steer --no-queue").unwrap_err().kind(), ErrorKind::ArgumentConflict);
}

#[test]
fn a_login_is_ended_by_its_id_or_with_all_others() {
    for (line, is_good) in [("yoi sign-out", false), ("yoi sign-out x", true), ("yoi sign-out --all", true)] {
        assert_eq!(parse(line).is_ok(), is_good, "{line}");
    }
}

#[test]
fn compacting_can_be_looked_at_before_it_is_done() {
    let cli = parse("yoi compact ada --preview").unwrap();
    assert!(cli.verb.as_ref().and_then(Verb::as_control).is_none());
}

#[test]
fn every_verb_has_an_example_in_the_documentation() {
    let document = include_str!("../../../docs/cli.md");
    let command = Cli::command();
    for verb in command.get_subcommands().map(clap::Command::get_name) {
        let is_there = |end| document.contains(&format!("`yoi {verb}{end}"));
        assert!(is_there(' ') || is_there('`'), "docs/cli.md has no example of `yoi {verb}`");
    }
}

/// Every flag that the documentation mentions exists.
#[test]
fn every_flag_that_the_pages_name_is_one_of_ours() {
    /// Flags of curl, cargo, sqlite3 and docker.
    const OF_OTHERS: [&str; 11] = [
        "--user",
        "--unix-socket",
        "--release",
        "--features",
        "--fast",
        "--only",
        "--long",
        "--binary",
        "--target",
        "--no-block",
        "--security-opt",
    ];
    fn flags(command: &clap::Command, known: &mut std::collections::BTreeSet<String>) {
        let names = |argument: &clap::Arg| {
            let aliases = argument.get_visible_aliases().unwrap_or_default().into_iter();
            aliases.chain(argument.get_long()).map(|name| format!("--{name}")).collect::<Vec<_>>()
        };
        known.extend(command.get_arguments().flat_map(names));
        command.get_subcommands().for_each(|verb| flags(verb, known));
    }
    let mut known = std::collections::BTreeSet::from(["--help".to_owned(), "--version".to_owned()]);
    flags(&Cli::command(), &mut known);
    for page in
        ["README.md", "docs/cli.md", "docs/operations.md", "docs/terminal.md", "docs/peers.md", "docs/security.md"]
    {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(page);
        let text = std::fs::read_to_string(path).unwrap();
        let is_part = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
        let words = text.split(|letter| !is_part(letter)).filter(|word| word.len() > 2 && word.starts_with("--"));
        let named = words.map(|word| word.trim_end_matches('-')).filter(|word| word.len() > 2);
        let strange: Vec<&str> = named.filter(|flag| !known.contains(*flag) && !OF_OTHERS.contains(flag)).collect();
        assert!(strange.is_empty(), "{page} names {strange:?}");
    }
}

#[test]
fn a_key_is_no_argument() {
    let Some(Verb::Key(KeyVerb::Set(set))) = parse("yoi key set lab --kind openai --base-url http://x").unwrap().verb
    else {
        panic!()
    };
    assert_eq!(
        (set.provider.as_str(), set.kind.as_deref(), set.base_url.as_deref()),
        ("lab", Some("openai"), Some("http://x"))
    );
    assert_eq!(parse("yoi key set openai sk-1").unwrap_err().kind(), ErrorKind::UnknownArgument);
}
