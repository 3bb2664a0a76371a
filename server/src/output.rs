//! Data on standard output, complaints on standard error.

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

/// For the command line: the server's own sentence is for whoever writes requests by hand.
pub(crate) const UNAUTHORIZED: &str =
    "the server refuses the token; set YOI_TOKEN, or give its data folder with --data";
/// Of what a name could mean, so many are told.
const CANDIDATES_MAX: usize = 5;

/// Whether standard output is a terminal that shows colours.
static IS_COLOURED: OnceLock<bool> = OnceLock::new();

/// Says once what the environment wants of the output.
pub(crate) fn start(environment: &Environment) {
    let is_wanted =
        environment.text("NO_COLOR").is_none() && environment.text("TERM").is_none_or(|term| term != "dumb");
    let _ = IS_COLOURED.set(is_wanted && stdout().is_terminal());
}

fn is_coloured() -> bool {
    IS_COLOURED.get().copied().unwrap_or(false)
}

/// Prints one line, whoever wrote the words in it.
pub(crate) fn line(text: &str) -> Result<()> {
    bytes(format!("{}\n", printable(text)).as_bytes())
}

/// Passes on a piece of a file as it is. A reader that has seen enough (`yoi log ada | head`) ends the process quietly.
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

/// JSON leaves some control characters in texts as they are, and terminals obey those too. Escaped they mean the same to
/// every reader.
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

/// A note on what goes on, for people.
pub(crate) fn note(text: &str) {
    // Nobody is left to tell when standard error is closed.
    let _ = writeln!(stderr(), "yoi: {}", printable(text));
}

/// The error with all its causes, on one line.
pub(crate) fn complain(error: &anyhow::Error) {
    let refusal = error.downcast_ref::<ClientError>().and_then(ClientError::api);
    let sentence = refusal.map_or_else(|| format!("{error:#}"), refused);
    note(&sentence.replace('\n', "; "));
}

/// What the server said, and what could have been meant.
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

/// Text from a Pod as a terminal may show it: escape sequences would move the cursor or worse, and what turns a line around
/// would show another one than there is.
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
