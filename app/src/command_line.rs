//! The `:` commands of the composer: what is offered, and what a line means.

use protocol::{ControlVerb, PodState};

use crate::allowed;

/// A line that has been understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Command {
    Control(ControlVerb),
    Rename(String),
    /// Deletes this Pod; the name has to be its own.
    Delete(String),
    New(String),
    Help,
}

/// One entry of the completion list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Offer {
    /// Without the colon.
    pub(crate) word: &'static str,
    /// What follows the word, as a hint.
    pub(crate) argument: &'static str,
    pub(crate) what: &'static str,
    /// Why it is not available now.
    pub(crate) refusal: Option<&'static str>,
}

impl Offer {
    /// The line has this whole word already.
    pub(crate) fn is_typed_in(&self, text: &str) -> bool {
        text.strip_prefix(':').and_then(|line| line.split(' ').next()) == Some(self.word)
    }
}

/// Where the choice stands before an arrow key has moved it.
pub(crate) fn first_available(offers: &[Offer]) -> usize {
    offers.iter().position(|offer| offer.refusal.is_none()).unwrap_or_default()
}

const ALL: [(&str, &str, &str); 9] = [
    ("pause", "", "close the open block and hold the run"),
    ("resume", "", "go on with the held run"),
    ("cancel", "", "end the run and drop what is open"),
    ("stop", "", "end the Pod; it can be restored"),
    ("restore", "", "bring the stopped Pod back"),
    ("rename", "NAME", "give this Pod another name"),
    ("delete", "NAME", "remove this Pod and its records; type its name"),
    ("new", "NAME", "make a Pod with every default"),
    ("help", "", "list all keys and commands"),
];

/// Whether the composer holds a command and not a message.
pub(crate) fn is_command(text: &str) -> bool {
    text.starts_with(':') && !text.contains('\n')
}

/// The commands that begin with what has been typed.
pub(crate) fn offers(text: &str, state: PodState) -> Vec<Offer> {
    let Some(line) = text.strip_prefix(':') else { return Vec::new() };
    let (typed, complete) = match line.split_once(' ') {
        Some((word, _)) => (word, true),
        None => (line, false),
    };
    ALL.into_iter()
        .filter(|(word, ..)| if complete { *word == typed } else { word.starts_with(typed) })
        .map(|(word, argument, what)| Offer { word, argument, what, refusal: word_refusal(word, state) })
        .collect()
}

fn control_verb(word: &str) -> Option<ControlVerb> {
    ControlVerb::ALL.into_iter().find(|verb| verb.as_str() == word)
}

fn word_refusal(word: &str, state: PodState) -> Option<&'static str> {
    control_verb(word).and_then(|verb| allowed::refusal(verb, state))
}

/// Reads a line. The error is a sentence for the person.
pub(crate) fn parse(text: &str, state: PodState) -> Result<Command, String> {
    let line = text.strip_prefix(':').unwrap_or(text).trim();
    let (word, argument) = line.split_once(' ').map_or((line, ""), |(word, rest)| (word, rest.trim()));
    if let Some(refusal) = word_refusal(word, state) {
        return Err(format!(":{word} does nothing now: {refusal}"));
    }
    let named = |make: fn(String) -> Command| match argument {
        "" => Err(format!(":{word} needs a name after it")),
        name => Ok(make(name.to_owned())),
    };
    match word {
        "rename" => named(Command::Rename),
        "delete" => named(Command::Delete),
        "new" => named(Command::New),
        _ if !argument.is_empty() => Err(format!(":{word} takes nothing after it")),
        "help" => Ok(Command::Help),
        _ => control_verb(word)
            .map(Command::Control)
            .ok_or_else(|| format!("there is no command :{word}; type : to see those that there are")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&'static str> {
        offers(text, PodState::Idle).iter().map(|offer| offer.word).collect()
    }

    #[test]
    fn typing_narrows_the_offers() {
        assert_eq!(words(":").len(), 9);
        assert_eq!(words(":re"), ["resume", "restore", "rename"]);
        assert_eq!(words(":rename eve"), ["rename"]);
        assert!(words(":x").is_empty() && words("pause").is_empty());
    }

    #[test]
    fn what_is_unavailable_is_offered_with_its_reason() {
        let offer = offers(":pause", PodState::Idle).remove(0);
        assert_eq!(offer.refusal, Some("nothing is running"));
        assert_eq!(offers(":pause", PodState::Running).remove(0).refusal, None);
    }

    #[test]
    fn the_choice_begins_at_what_can_be_done() {
        assert_eq!(first_available(&offers(":", PodState::Idle)), 3);
        assert_eq!(first_available(&offers(":pau", PodState::Idle)), 0);
        assert!(offers(":rename e", PodState::Idle)[0].is_typed_in(":rename e"));
        assert!(!offers(":ren", PodState::Idle)[0].is_typed_in(":ren"));
    }

    #[test]
    fn lines_are_read_or_refused_with_a_sentence() {
        let idle = |text| parse(text, PodState::Idle);
        assert_eq!(idle(":stop"), Ok(Command::Control(ControlVerb::Stop)));
        assert_eq!(idle(":rename  eve "), Ok(Command::Rename("eve".into())));
        assert_eq!(idle(":help"), Ok(Command::Help));
        assert_eq!(idle(":new"), Err(":new needs a name after it".into()));
        assert_eq!(idle(":help me"), Err(":help takes nothing after it".into()));
        assert_eq!(idle(":resume"), Err(":resume does nothing now: it is not paused".into()));
        assert!(idle(":dance").unwrap_err().contains("no command :dance"));
    }

    #[test]
    fn a_message_that_begins_with_a_colon_and_has_lines_is_a_message() {
        assert!(is_command(":") && is_command(":stop") && !is_command("a:") && !is_command(":a\nb"));
    }
}
