//! Data goes to standard output, messages to standard error.

mod table;

use std::{
    io::{ErrorKind, IsTerminal, Write, stderr, stdout},
    sync::OnceLock,
};

use anyhow::{Context, Result};
use client::{ClientError, in_verbs};
use protocol::{ApiError, ErrorCode};
use serde::Serialize;
use transcript::unseen;

pub(crate) use self::table::{headed, table};
use crate::config::Environment;

/// Worded for the command line; the server's own message is for people who write requests by hand.
pub(crate) const UNAUTHORIZED: &str =
    "the server refuses the token; set YOI_TOKEN, or give its data folder with --data";
/// How many candidates for an ambiguous name are listed.
const CANDIDATES_MAX: usize = 5;

/// Whether standard output is a terminal that shows colours.
static IS_COLOURED: OnceLock<bool> = OnceLock::new();

/// Sets once what the environment wants of the output.
pub(crate) fn start(environment: &Environment) {
    let is_wanted =
        environment.text("NO_COLOR").is_none() && environment.text("TERM").is_none_or(|term| term != "dumb");
    let _ = IS_COLOURED.set(is_wanted && stdout().is_terminal());
}

fn is_coloured() -> bool {
    IS_COLOURED.get().copied().unwrap_or(false)
}

/// Prints one line, sanitised no matter who wrote the text.
pub(crate) fn line(text: &str) -> Result<()> {
    bytes(format!("{}\n", printable(text)).as_bytes())
}

/// The colour of a line on a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tint {
    Plain,
    Bold,
    Red,
    Green,
    Cyan,
}

/// Prints one line, sanitised, and in colour where the terminal shows colours.
pub(crate) fn tinted(tint: Tint, text: &str) -> Result<()> {
    let code = match tint {
        Tint::Plain => return line(text),
        Tint::Bold => 1,
        Tint::Red => 31,
        Tint::Green => 32,
        Tint::Cyan => 36,
    };
    match is_coloured() {
        true => bytes(format!("\u{1b}[{code}m{}\u{1b}[0m\n", printable(text)).as_bytes()),
        false => line(text),
    }
}

/// Writes a piece of a file unchanged. If the reader has seen enough (`yoi log ada | head`), this ends the process
/// quietly.
pub(crate) fn bytes(piece: &[u8]) -> Result<()> {
    let mut out = stdout().lock();
    match out.write_all(piece).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => std::process::exit(0),
        written => written.context("standard output cannot be written"),
    }
}

/// Prints one JSON document on one line.
pub(crate) fn json(document: &impl Serialize) -> Result<()> {
    let json = serde_json::to_string(document).context("the answer cannot be printed as JSON")?;
    bytes(format!("{}\n", escaped(json)).as_bytes())
}

/// JSON allows some control characters in texts, which terminals obey. Escaped, they mean the same to every reader.
fn escaped(json: String) -> String {
    if !json.contains(char::is_control) {
        return json;
    }
    let letter = |letter: char| match letter.is_control() {
        true => format!("\\u{:04x}", u32::from(letter)),
        false => letter.to_string(),
    };
    json.chars().map(letter).collect()
}

/// A note about what is going on, for people.
pub(crate) fn note(text: &str) {
    // If standard error is closed, nobody can be told.
    let _ = writeln!(stderr(), "yoi: {}", printable(text));
}

/// Prints the error with all its causes, on one line.
pub(crate) fn complain(error: &anyhow::Error) {
    let refusal = error.downcast_ref::<ClientError>().and_then(ClientError::api);
    let sentence = refusal.map_or_else(|| format!("{error:#}"), refused);
    note(&sentence.replace('\n', "; "));
}

/// The server's message, with the candidates for what could have been meant.
fn refused(error: &ApiError) -> String {
    if error.code == ErrorCode::Unauthorized {
        return UNAUTHORIZED.to_owned();
    }
    let unsaid = error.candidates.iter().take(CANDIDATES_MAX).map(|candidate| match error.code {
        ErrorCode::AmbiguousName => candidate.pod.to_string(),
        _ => candidate.name.to_string(),
    });
    let unsaid: Vec<_> = unsaid.filter(|name| !error.detail.contains(name.as_str())).collect();
    let detail = in_verbs(&error.detail);
    match (unsaid.is_empty(), error.code) {
        (true, ErrorCode::PodNotFound) => format!("{detail}; `yoi ls` lists the Pods"),
        (true, _) => detail,
        (false, _) => format!("{detail} (did you mean {}?)", unsaid.join(", ")),
    }
}

/// Text from a Pod, made safe for a terminal: escape sequences could move the cursor or worse, and characters that
/// reverse a line could make it look like another.
pub(crate) fn printable(text: &str) -> String {
    let harmless = |char: char| if char.is_control() && char != '\n' && char != '\t' { '\u{fffd}' } else { char };
    unseen::shown(text).chars().map(harmless).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_of_a_pod_reaches_the_terminal_as_a_command() {
        assert_eq!(printable("a\u{1b}]0;x\u{7}\u{9b}2J\tb\n"), "a\u{fffd}]0;x\u{fffd}\u{fffd}2J\tb\n");
        assert_eq!(printable("run \u{202e}txt.sh"), "run [U+202E]txt.sh");
    }

    #[test]
    fn json_holds_no_control_character_and_says_the_same() {
        let text = "a\u{1b}[2J\u{9b}2J\u{7f}é\n";
        let printed = escaped(serde_json::to_string(text).unwrap());
        assert!(!printed.contains(char::is_control), "{printed:?}");
        assert_eq!(serde_json::from_str::<String>(&printed).unwrap(), text);
    }
}
