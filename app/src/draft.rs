//! What has been typed and not yet been accepted.

use protocol::{CommandId, Segment};
use serde::{Deserialize, Serialize};

/// A paste of more characters than this becomes a chip,
const PASTE_CHARS_MAX: usize = 2_000;
/// and so does one of more lines than this.
const PASTE_LINES_MAX: usize = 20;

/// One Pod's composer, as it is kept over reloads and restarts.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Draft {
    pub(crate) text: String,
    /// Long pastes, whole.
    pub(crate) pastes: Vec<String>,
    /// Sent, and no answer seen. The same text sent again carries the same id, so that it happens once.
    pub(crate) unanswered: Option<Unanswered>,
    /// The text that was accepted last, for the up arrow.
    pub(crate) last_sent: String,
}

/// A message under way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Unanswered {
    pub(crate) command_id: CommandId,
    pub(crate) segments: Vec<Segment>,
}

impl Draft {
    /// There is nothing to send.
    pub(crate) fn is_blank(&self) -> bool {
        self.text.trim().is_empty() && self.pastes.is_empty()
    }

    /// The words first, then what was pasted.
    pub(crate) fn segments(&self) -> Vec<Segment> {
        let text = self.text.trim_end();
        let words = (!text.trim().is_empty()).then(|| Segment::text(text));
        words.into_iter().chain(self.pastes.iter().map(|text| Segment::Paste { text: text.clone() })).collect()
    }

    /// The message to send now. A text whose answer never came keeps its id; another text gets `fresh`.
    pub(crate) fn sending(&mut self, fresh: CommandId) -> Unanswered {
        let segments = self.segments();
        let message = match self.unanswered.take() {
            Some(earlier) if earlier.segments == segments => earlier,
            _ => Unanswered { command_id: fresh, segments },
        };
        self.unanswered = Some(message.clone());
        message
    }

    /// The server has it. What was typed in the meantime stays.
    pub(crate) fn accepted(&mut self, sent: &Unanswered) {
        self.unanswered = None;
        self.last_sent = sent.segments.iter().find_map(as_words).unwrap_or_default();
        // What was typed in the meantime stays; what was sent goes.
        if let Some(rest) = self.text.strip_prefix(self.last_sent.as_str()) {
            self.text = rest.trim_start_matches('\n').to_owned();
            if self.text.trim().is_empty() {
                self.text.clear();
            }
        }
        self.pastes.retain(|paste| !sent.segments.contains(&Segment::Paste { text: paste.clone() }));
    }

    /// Takes a message that came back, behind what has been typed.
    pub(crate) fn put_back(&mut self, segments: &[Segment]) {
        for segment in segments {
            match segment {
                Segment::Paste { text } => self.pastes.push(text.clone()),
                words => {
                    let gap = if self.text.trim().is_empty() { "" } else { "\n" };
                    self.text = format!("{}{gap}{}", self.text.trim_end(), words.as_text());
                }
            }
        }
    }

    /// The server refused it; the same text sent again is a new attempt.
    pub(crate) fn refused(&mut self) {
        self.unanswered = None;
    }
}

fn as_words(segment: &Segment) -> Option<String> {
    match segment {
        Segment::Text { text } => Some(text.clone()),
        _ => None,
    }
}

/// Whether a paste is too long to be read in the text box.
pub(crate) fn is_long_paste(text: &str) -> bool {
    text.chars().nth(PASTE_CHARS_MAX).is_some() || text.lines().nth(PASTE_LINES_MAX).is_some()
}

/// `48 lines · 3.2k characters`.
pub(crate) fn paste_words(text: &str) -> String {
    let lines = crate::format::counted(text.lines().count() as u64, "line");
    format!("{lines} · {} characters", transcript::words::tokens_words(text.chars().count() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> CommandId {
        CommandId::parse(text).unwrap()
    }

    fn draft(text: &str) -> Draft {
        Draft { text: text.to_owned(), ..Draft::default() }
    }

    #[test]
    fn text_goes_first_and_pastes_keep_their_type() {
        let draft = Draft { pastes: vec!["log".into()], ..draft("read this\n") };
        assert_eq!(draft.segments(), [Segment::text("read this"), Segment::Paste { text: "log".into() }]);
        assert!(Draft::default().is_blank() && self::draft(" \n").segments().is_empty());
    }

    #[test]
    fn the_same_text_sent_again_is_the_same_command() {
        let mut draft = draft("hello");
        assert_eq!(draft.sending(id("a")).command_id, id("a"));
        assert_eq!(draft.sending(id("b")).command_id, id("a"));
        draft.text.push('!');
        assert_eq!(draft.sending(id("c")).command_id, id("c"));
        draft.refused();
        assert_eq!(draft.sending(id("d")).command_id, id("d"));
    }

    #[test]
    fn only_what_was_accepted_is_cleared() {
        let mut draft = draft("one");
        let sent = draft.sending(id("a"));
        draft.text = "one\nand two".into();
        draft.accepted(&sent);
        assert_eq!((draft.text.as_str(), draft.last_sent.as_str()), ("and two", "one"));
        let elsewhere = Unanswered { command_id: id("x"), segments: vec![Segment::text("another")] };
        draft.accepted(&elsewhere);
        assert_eq!(draft.text, "and two");
        let sent = draft.sending(id("b"));
        draft.accepted(&sent);
        assert!(draft.is_blank() && draft.unanswered.is_none());
    }

    #[test]
    fn a_message_that_came_back_stands_behind_what_was_typed() {
        let mut empty = Draft::default();
        let segments = [Segment::text("one"), Segment::Paste { text: "log".into() }];
        empty.put_back(&segments);
        assert_eq!(empty.segments(), segments);
        let mut typed = draft("half a thought ");
        typed.put_back(&[Segment::text("one")]);
        assert_eq!(typed.text, "half a thought\none");
    }

    #[test]
    fn long_pastes_are_told_by_characters_or_lines() {
        assert!(!is_long_paste(&"x".repeat(2_000)));
        assert!(is_long_paste(&"é".repeat(2_001)));
        assert!(!is_long_paste(&"x\n".repeat(20)));
        assert!(is_long_paste(&"x\n".repeat(21)));
        assert_eq!(paste_words("a\nb"), "2 lines · 3 characters");
    }

    #[test]
    fn a_draft_survives_storage_and_an_older_form_of_it_is_read() {
        let mut kept = draft("hello");
        kept.sending(id("a"));
        let text = serde_json::to_string(&kept).unwrap();
        assert_eq!(serde_json::from_str::<Draft>(&text).unwrap(), kept);
        assert_eq!(serde_json::from_str::<Draft>(r#"{"text":"old"}"#).unwrap(), draft("old"));
    }
}
