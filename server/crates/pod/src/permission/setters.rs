//! Builtins of a shell that set something: a variable, the meaning of a name, or how the shell reads what follows. Like an
//! assignment, this can change what a later command does.
//!
//! Most of them also evaluate literal arguments: where bash takes `a[$(x)]` for the name of a variable, it runs `x`, even
//! in single quotes. And with variables set, an index without any sign (`a[b]`) can do the same. So a command that sets
//! something is not read at all, whatever its arguments are.

use super::words::STAR;

/// They do nothing else.
const SETTERS: [&str; 16] = [
    "alias",
    "declare",
    "enable",
    "export",
    "getopts",
    "hash",
    "let",
    "local",
    "mapfile",
    "read",
    "readarray",
    "readonly",
    "shopt",
    "typeset",
    "unalias",
    "unset",
];
/// Options of `set` that are no danger, and do not change how a command is read.
const PLAIN_OPTIONS: [&str; 4] = ["errexit", "nounset", "pipefail", "xtrace"];
/// The same as letters, with the one that precedes a name.
const PLAIN_LETTERS: &str = "euxo";

/// The name of the command that runs, and its arguments: `command printf` and `builtin printf` are `printf`.
pub(super) fn split(words: &[String]) -> Option<(&str, &[String])> {
    let is_before = |word: &&String| matches!(word.as_str(), "builtin" | "command") || word.starts_with('-');
    let before = match words.first()?.as_str() {
        "builtin" | "command" => words.iter().take_while(is_before).count(),
        _ => 0,
    };
    words.get(before..)?.split_first().map(|(name, arguments)| (name.as_str(), arguments))
}

/// Whether a command sets something.
pub(super) fn is_one(words: &[String]) -> bool {
    let Some((name, arguments)) = split(words) else { return false };
    let has = |is_meant: fn(&str) -> bool| arguments.iter().any(|word| is_meant(word));
    match name {
        "test" | "[" => has(|word| word == "-v"),
        "printf" => has(|word| word.starts_with("-v") || counts(word)),
        "wait" => has(|word| word.starts_with('-') && word.contains('p')),
        "set" => has(|word| !is_plain_option(word)),
        name => SETTERS.contains(&name),
    }
}

/// A format with `%n`, which sets a variable to how much was written.
fn counts(format: &str) -> bool {
    let is_between = |sign: char| sign.is_ascii_digit() || "-+ #'.*$hlLjzt".contains(sign);
    format.split('%').skip(1).any(|rest| rest.trim_start_matches(is_between).starts_with('n'))
}

fn is_plain_option(word: &str) -> bool {
    let is_plain = |letters: &str| !letters.is_empty() && letters.chars().all(|letter| PLAIN_LETTERS.contains(letter));
    // In a pattern, where it is the command that counts.
    word.contains(STAR) || PLAIN_OPTIONS.contains(&word) || word.strip_prefix(['-', '+']).is_some_and(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_sets_something_is_recognized() {
        for (words, expected) in [
            (&["printf", "-v", "a[$(b)]", "c"][..], true),
            (&["printf", "-vPATH", "c"], true),
            (&["printf", "a%5n", "b"], true),
            (&["printf", "--", "%ln", "b"], true),
            (&["printf", "[%s]\\n", "$b"], false),
            (&["printf", "%d%%\\n", "5"], false),
            (&["builtin", "printf", "-v", "a", "b"], true),
            (&["command", "-p", "--", "read", "a"], true),
            (&["command", "printf", "a"], false),
            (&["/usr/bin/printf", "-v"], false),
            (&["test", "-v", "a[_]"], true),
            (&["[", "a", "-o", "-v", "b", "]"], true),
            (&["test", "-f", "a[$(b)]"], false),
            (&["wait", "-np", "a"], true),
            (&["wait", "-n", "-p", "a"], true),
            (&["wait", "-n"], false),
            (&["set", "-euxo", "pipefail"], false),
            (&["set", "+x"], false),
            (&["set", "-k"], true),
            (&["set", "-o", "posix"], true),
            (&["set", "--", "a"], true),
            (&["export", "A"], true),
            (&["let", "a"], true),
            (&["exports"], false),
            (&["echo", "-v", "a[$(b)]"], false),
            (&["command"], false),
        ] {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(is_one(&words), expected, "{words:?}");
        }
    }
}
