//! Rules take for literal words exactly what bash takes for them: both read the same texts, and bash reports what it
//! would run.

#![allow(clippy::unwrap_used)]

use std::process::Command;

use pod::{PodSpec, Sight};
use proptest::prelude::*;
use protocol::{PermissionDecision, PermissionRule};
use serde_json::json;

/// Fragments that texts are made of: words, quotes, operators, and what a shell expands.
const PIECES: &[&str] = &[
    "say",
    " ",
    "a",
    "b",
    "\t",
    "\n",
    "'",
    "\"",
    "\\",
    "\\\n",
    ";",
    "&",
    "&&",
    "|",
    "||",
    "(",
    ")",
    "{",
    "}",
    "<",
    ">",
    ">>",
    "2>&1",
    "/dev/null",
    "$",
    "$x",
    "`",
    "#",
    " #",
    "*",
    "?",
    "[",
    "]",
    "~",
    "~/",
    "=",
    "x=",
    "!",
    "! ",
    "if ",
    "time ",
    "$'",
    "\u{a0}",
    "\r",
    ",",
    "..",
    "-",
    "é",
    ":",
    "%",
    "^",
    "@",
    "+(",
    "x+=",
    "2",
    "{a,b}",
    "function ",
    "coproc ",
    "<<",
    "<<<",
    "<(",
    ">(",
    "&>",
    ">&",
];

/// Whether the rule `say *` allows this text.
fn is_allowed(text: &str) -> bool {
    is_allowed_by(&["say *"], text)
}

fn rule(pattern: &str) -> PermissionRule {
    PermissionRule {
        tool: "Bash".to_owned(),
        pattern: Some(pattern.to_owned()),
        folder: None,
        pod: None,
        decision: PermissionDecision::Allow,
    }
}

fn is_allowed_by(patterns: &[&str], text: &str) -> bool {
    let mut spec: PodSpec = serde_json::from_value(json!({ "provider": "p", "model": "m", "cwd": "/w", "scope": [],
        "wake_on_peer": true }))
    .unwrap();
    spec.permissions.extend(patterns.iter().map(|pattern| rule(pattern)));
    let arguments = json!({ "command": text });
    let commands = tools::bash::commands_in(text);
    spec.sights.note("Bash", &arguments, Sight { commands, ..Sight::default() });
    pod::permission(&spec, "Bash", &arguments) == PermissionDecision::Allow
}

/// The names of all commands that bash runs for this text, where only `say` can be run.
fn run(text: &str) -> Vec<String> {
    // Commands that are not found are passed to this function.
    let prelude = "command_not_found_handle() { printf '%s\\0' \"$1\" >&9; }; exec 9>&1 >/dev/null 2>&1 </dev/null; PATH=/nowhere\n";
    let folder = tempfile::tempdir().unwrap();
    let mut bash = Command::new("/bin/bash");
    bash.args(["--norc", "-c"]).arg(format!("{prelude}{text}")).env_clear().current_dir(folder.path());
    let shell = bash.output().unwrap();
    let files =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| format!("a file {:?}", entry.unwrap().file_name()));
    let names = shell.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    names.map(|name| String::from_utf8_lossy(name).into_owned()).chain(files).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_allowed_by_its_words_runs_nothing_else(pieces in prop::collection::vec(prop::sample::select(PIECES), 1..14)) {
        let text = format!("say {}", pieces.concat());
        if is_allowed(&text) {
            let run = run(&text);
            prop_assert!(run.iter().all(|name| name == "say"), "{text:?} runs {run:?}");
        }
    }
}

/// Literal arguments that one builtin or another evaluates.
const EVALUATED: [&str; 15] = [
    "'a[$(other)]'",
    "'a[$(other)]' b",
    "'a[$(other)]=1'",
    "b 'a[$(other)]' -b",
    "-v 'a[$(other)]' b",
    "1 -a -v 'a[$(other)]'",
    "'a[$(other)]' -eq 1",
    "-i 'b=a[$(other)]'",
    "-a 'b=($(other))'",
    "-n -p 'a[$(other)]'",
    "-C other b",
    "-W '$(other)' b",
    "-x other",
    "other EXIT",
    "-c other",
];

/// The variable `_` has the last word of the command before, and an index is evaluated.
const BEFORE: &str = "say 'a[$(other)]'; ";

#[test]
fn no_builtin_that_a_rule_allows_evaluates_its_words_unless_the_rule_is_warned_of() {
    let listed = Command::new("/bin/bash").args(["-c", "compgen -b"]).output().unwrap();
    let (mut allowed, mut evaluated) = (0, 0);
    for name in String::from_utf8(listed.stdout).unwrap().lines() {
        let pattern = format!("{name} *");
        let is_warned_of = !pod::rule_warnings(&[rule(&pattern)]).is_empty();
        let texts = EVALUATED.iter().map(|arguments| format!("{name} {arguments}"));
        let texts = texts.chain([format!("{BEFORE}{name} -v 'b[_]'"), format!("{BEFORE}{name} 'b[_]=1'")]);
        for text in texts {
            let runs_other = || run(&text).iter().any(|name| name == "other");
            match (is_allowed_by(&[&pattern, "say *"], &text), is_warned_of) {
                (true, true) => (),
                (true, false) => {
                    allowed += 1;
                    assert!(!runs_other(), "{text} is allowed by {pattern}");
                }
                (false, _) => evaluated += usize::from(runs_other()),
            }
        }
    }
    assert!(allowed > 100 && evaluated > 10, "{allowed} allowed, {evaluated} that would have run something");
}

#[test]
fn the_test_itself_sees_what_bash_runs() {
    assert_eq!(run("say a; say 'b'"), ["say", "say"]);
    assert_eq!(run("say $(other)"), ["other", "say"]);
    assert_eq!(run("say > x"), ["say", "a file \"x\""]);
    assert!(is_allowed("say a; say 'b'") && !is_allowed("say a; other"));
}
