//! Commands that begin with a colon.

use protocol::ControlVerb;

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Command {
    Control(ControlVerb),
    New { name: String },
    Open { target: String },
    Quit,
}

/// The words, for completion and for the sentence that lists them.
const WORDS: [&str; 8] = ["pause", "resume", "cancel", "stop", "restore", "new NAME", "open NAME", "quit"];

/// Reads a line without its colon.
///
/// # Errors
/// A sentence that can be shown.
pub(crate) fn parse(line: &str) -> Result<Command, String> {
    let words: Vec<_> = line.split_whitespace().collect();
    if let [word] = words[..]
        && let Some(verb) = ControlVerb::ALL.into_iter().find(|verb| verb.as_str() == word)
    {
        return Ok(Command::Control(verb));
    }
    match words[..] {
        ["new", name] => Ok(Command::New { name: name.to_owned() }),
        ["open", target] => Ok(Command::Open { target: target.to_owned() }),
        ["quit" | "q"] => Ok(Command::Quit),
        _ => Err(format!("\":{line}\" is no command; there are {}", WORDS.join(", "))),
    }
}

/// The rest of the only word that begins so.
pub(crate) fn completion(line: &str) -> Option<&'static str> {
    let mut fitting =
        WORDS.iter().map(|word| word.split(' ').next().unwrap_or(word)).filter(|word| word.starts_with(line));
    match (fitting.next(), fitting.next()) {
        (Some(word), None) => Some(&word[line.len()..]),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_words_and_what_is_none_is_answered_with_those_that_are() {
        assert_eq!(parse("pause"), Ok(Command::Control(ControlVerb::Pause)));
        assert_eq!(parse(" new  ada "), Ok(Command::New { name: "ada".into() }));
        assert_eq!(parse("q"), Ok(Command::Quit));
        for wrong in ["", "paus", "pause ada", "new"] {
            assert!(parse(wrong).unwrap_err().contains("restore"), "{wrong:?}");
        }
    }

    #[test]
    fn a_word_is_completed_when_only_one_fits() {
        assert_eq!(completion("pa"), Some("use"));
        assert_eq!(completion("re"), None);
        assert_eq!(completion("x"), None);
    }
}
