//! Fuzz target (docs/testing.md): a rule that allows commands never covers what a shell would expand, or write
//! somewhere else, whatever stands around it. `tests/reading.rs` asks bash itself about fewer texts.

#![allow(clippy::unwrap_used)]

use pod::{PodSpec, Sight};
use protocol::{PermissionDecision, PermissionRule};
use serde_json::json;
use testkit::fuzz::{Choices, corpus};
use tools::bash::commands_in;

const PIECES: &[&str] = &[
    "say",
    "say a",
    " ",
    "a",
    "rm",
    "\n",
    "\t",
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
    "2>",
    "2>&1",
    "> f",
    ">/dev/null",
    "&>",
    ">|",
    "<(",
    ">(",
    "<<<",
    "<<a",
    "$",
    "$(",
    "$x",
    "${",
    "`",
    "#",
    " #",
    "*",
    "?",
    "[",
    "]",
    "~",
    "=",
    "x=",
    "!",
    "if ",
    "$'",
    "$((",
    "\r",
    "\u{0}",
    "\u{1}",
    "\u{2}",
    "é",
    "\u{a0}",
    "\u{4e2d}",
    "\u{10fffd}",
    "{1..",
    "say -- ",
    "sudo ",
    "eval ",
];
/// None of these has a redirection or a substitution in it.
const PATTERNS: &[&str] = &["say *", "say a", "say * && say *", "say 'a b' *", "say *; say *", "say * | say *"];

/// What a naive reader of the shell's quotes finds: something that is expanded, and something that is redirected to a
/// file other than `/dev/null`.
fn dangers(text: &str) -> (bool, bool) {
    let (mut expands, mut redirects) = (false, false);
    let mut letters = text.chars().peekable();
    // The quote that is open, and whether a word has begun.
    let (mut quote, mut is_in_word) = (None, false);
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (Some('\''), _) => (),
            // A line that goes on is no letter of a word.
            (_, '\\') if letters.next() == Some('\n') => continue,
            (_, '\\') => (),
            (_, '$')
                if letters.peek().is_some_and(|next| next.is_alphanumeric() || "({'\"_@*#?$!-".contains(*next)) =>
            {
                // A dollar before the quote that ends the text it is in is only a dollar.
                expands |= !(quote == Some('"') && letters.peek() == Some(&'"'));
            }
            (_, '`') => expands = true,
            (Some(_), _) => (),
            (None, '\'' | '"') => quote = Some(letter),
            (None, '#') if !is_in_word => while letters.next_if(|next| *next != '\n').is_some() {},
            (None, '<' | '>') => {
                expands |= letters.peek() == Some(&'(');
                redirects |= !is_harmless(&letters.clone().collect::<String>());
            }
            (None, _) => (),
        }
        is_in_word = quote.is_some() || !(letter.is_whitespace() || ";&|()<>".contains(letter));
    }
    (expands, redirects)
}

/// Whether what follows the sign of a redirection is another stream, or nowhere.
fn is_harmless(behind: &str) -> bool {
    let behind = behind.trim_start_matches(['<', '>', '|']);
    let is_copy = behind.starts_with('&');
    let target = behind.trim_start_matches('&').trim_start_matches([' ', '\t', '\\', '\n']);
    let end = target.find(|letter: char| letter.is_whitespace() || ";&|<>()".contains(letter));
    let word = target[..end.unwrap_or(target.len())].replace(['\'', '"', '\\'], "");
    word == "/dev/null" || (is_copy && (word == "-" || word.bytes().all(|byte| byte.is_ascii_digit())))
}

fn decision(command: &str, pattern: &str) -> PermissionDecision {
    let rule = PermissionRule {
        tool: "Bash".to_owned(),
        pattern: Some(pattern.to_owned()),
        folder: None,
        pod: None,
        decision: PermissionDecision::Allow,
    };
    let spec = serde_json::from_value::<PodSpec>(json!({
        "provider": "rehearsal", "model": "rehearsal", "cwd": "/w", "scope": [], "wake_on_peer": true,
    }));
    let mut spec = PodSpec { permissions: vec![rule], ..spec.unwrap() };
    let arguments = json!({ "command": command });
    let sight = Sight { folder: Some("/w".to_owned()), commands: commands_in(command), ..Sight::default() };
    spec.sights.note("Bash", &arguments, sight);
    pod::permission(&spec, "Bash", &arguments)
}

fn any_command(bytes: &[u8]) {
    let mut choices = Choices::of(bytes);
    let pattern = choices.pick(PATTERNS);
    let made = format!("say {}", choices.text(PIECES, 16));
    for command in [made.as_str(), &*String::from_utf8_lossy(bytes)] {
        if decision(command, pattern) != PermissionDecision::Allow {
            continue;
        }
        let (expands, redirects) = dangers(command);
        assert!(!expands, "{pattern:?} allows {command:?}, which a shell expands");
        assert!(!redirects, "{pattern:?} allows {command:?}, which a shell redirects");
    }
}

#[test]
fn no_rule_for_words_covers_an_expansion_or_a_redirection() {
    corpus(env!("CARGO_MANIFEST_DIR"), "commands", any_command);
    bolero::check!().with_iterations(6_000).with_max_len(48).for_each(any_command);
}

#[test]
fn a_rule_for_words_covers_words() {
    for command in ["say a", "say a && say b", "say 'a b' c", "say a; say b", "say a | say b", "say a 2>&1"] {
        assert!(
            PATTERNS.iter().any(|pattern| decision(command, pattern) == PermissionDecision::Allow),
            "{command:?} is allowed by none, so the target would prove nothing"
        );
    }
}
