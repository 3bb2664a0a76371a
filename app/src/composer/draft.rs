//! What has been typed and not yet accepted by the server.

mod mention;

use protocol::{CommandId, Segment};
use serde::{Deserialize, Serialize};

use self::mention::pieces;
pub(crate) use self::mention::{FileWord, byte_at, file_word, units_at, with_file};

/// A paste with more characters than this becomes a chip.
const PASTE_CHARS_MAX: usize = 2_000;
/// A paste with more lines than this becomes a chip.
const PASTE_LINES_MAX: usize = 20;

/// How many sent messages are remembered for the arrow keys.
const SENT_MAX: usize = 50;

/// The size limit of one remembered message, since browser storage is small.
const SENT_BYTES_MAX: usize = 4_000;

/// The content of one Pod's composer, kept across reloads and restarts.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Draft {
    pub(crate) text: String,
    /// Files chosen by `@`; each counts only while its name stands in the text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) files: Vec<String>,
    /// Long pastes, in full.
    pub(crate) pastes: Vec<String>,
    /// Pictures and files stored on the server, as the message will carry them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) attached: Vec<Segment>,
    /// Sent but not yet answered. Sending the same text again reuses its id, so that it happens once.
    pub(crate) unanswered: Option<Unanswered>,
    /// Accepted messages, oldest first, for the arrow keys.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) sent: Vec<Vec<Segment>>,
}

/// A message in flight.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Unanswered {
    pub(crate) command_id: CommandId,
    pub(crate) segments: Vec<Segment>,
    /// Whether it steers the current run.
    #[serde(default)]
    pub(crate) steers: bool,
}

impl Draft {
    /// Whether there is nothing to send.
    pub(crate) fn is_blank(&self) -> bool {
        self.text.trim().is_empty() && self.pastes.is_empty() && self.attached.is_empty()
    }

    /// The typed text first, with the files that it names; then pastes, then attachments.
    pub(crate) fn segments(&self) -> Vec<Segment> {
        let text = if self.text.trim().is_empty() { "" } else { self.text.trim_end() };
        let words = pieces(text, &self.files);
        let pastes = self.pastes.iter().map(|text| Segment::Paste { text: text.clone() });
        words.into_iter().chain(pastes).chain(self.attached.iter().cloned()).collect()
    }

    /// Files that the text names now, in the order of the text.
    pub(crate) fn named_files(&self) -> Vec<String> {
        let files = pieces(&self.text, &self.files).into_iter().filter_map(|piece| match piece {
            Segment::FileRef { path } => Some(path),
            _ => None,
        });
        let mut named: Vec<String> = Vec::new();
        files.for_each(|file| {
            if !named.contains(&file) {
                named.push(file);
            }
        });
        named
    }

    /// Removes a file from the text, wherever it is named.
    pub(crate) fn drop_file(&mut self, path: &str) {
        let is_kept = |piece: &Segment| !matches!(piece, Segment::FileRef { path: named } if named == path);
        let kept = pieces(&self.text, &self.files).into_iter().filter(is_kept);
        self.text = kept.fold(String::new(), |text, piece| {
            let piece = piece.as_text();
            // The spaces on both sides of the removed name become one.
            let is_gap = text.is_empty() || text.ends_with(' ');
            text + if is_gap { piece.strip_prefix(' ').unwrap_or(&piece) } else { &piece }
        });
        self.files.retain(|file| file != path);
    }

    /// The message to send now. A text that was sent before without an answer keeps its id; another text gets
    /// `fresh`.
    pub(crate) fn sending(&mut self, fresh: CommandId, steers: bool) -> Unanswered {
        let segments = self.segments();
        let message = match self.unanswered.take() {
            Some(earlier) if earlier.segments == segments && earlier.steers == steers => earlier,
            _ => Unanswered { command_id: fresh, segments, steers },
        };
        self.unanswered = Some(message.clone());
        message
    }

    /// The server has it. Removes what was sent and keeps what was typed in the meantime.
    pub(crate) fn accepted(&mut self, sent: &Unanswered) {
        self.unanswered = None;
        if let Some(rest) = self.text.strip_prefix(words(&sent.segments).as_str()) {
            self.text = rest.trim_start_matches('\n').to_owned();
            if self.text.trim().is_empty() {
                self.text.clear();
            }
        }
        self.pastes.retain(|paste| !sent.segments.contains(&Segment::Paste { text: paste.clone() }));
        self.attached.retain(|kept| !sent.segments.contains(kept));
        self.files = self.named_files();
        self.remember(&sent.segments);
    }

    fn remember(&mut self, segments: &[Segment]) {
        let bytes: usize = segments.iter().map(|segment| segment.as_text().len()).sum();
        if bytes <= SENT_BYTES_MAX {
            self.sent.retain(|known| known != segments);
            self.sent.push(segments.to_vec());
            let too_many = self.sent.len().saturating_sub(SENT_MAX);
            self.sent.drain(..too_many);
        }
    }

    /// Appends a message that came back to what has been typed.
    pub(crate) fn put_back(&mut self, segments: &[Segment]) {
        let words = words(segments);
        if !words.is_empty() {
            let gap = if self.text.trim().is_empty() { "" } else { "\n" };
            self.text = format!("{}{gap}{words}", self.text.trim_end());
        }
        for segment in segments {
            match segment {
                Segment::Paste { text } => self.pastes.push(text.clone()),
                Segment::Image { .. } | Segment::File { .. } => self.attached.push(segment.clone()),
                Segment::FileRef { path } if !self.files.contains(path) => self.files.push(path.clone()),
                _ => (),
            }
        }
    }

    /// The server refused it: sending the same text again is a new command.
    pub(crate) fn refused(&mut self) {
        self.unanswered = None;
    }

    /// Empties the draft: text, files, pastes and attachments.
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.files.clear();
        self.pastes.clear();
        self.attached.clear();
    }

    /// Whether both would send the same content.
    pub(crate) fn says_the_same(&self, other: &Self) -> bool {
        self.text == other.text && self.pastes == other.pastes && self.attached == other.attached
    }
}

/// The part of a message that stands in the message field: everything except pastes and attachments.
fn words(segments: &[Segment]) -> String {
    let words: Vec<Segment> = segments
        .iter()
        .filter(|segment| !matches!(segment, Segment::Paste { .. }) && segment.blob().is_none())
        .cloned()
        .collect();
    Segment::join(&words)
}

/// Whether a paste is too long for the message field.
pub(crate) fn is_long_paste(text: &str) -> bool {
    text.chars().nth(PASTE_CHARS_MAX).is_some() || text.lines().nth(PASTE_LINES_MAX).is_some()
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
        assert_eq!(draft.sending(id("a"), false).command_id, id("a"));
        assert_eq!(draft.sending(id("b"), false).command_id, id("a"));
        draft.text.push('!');
        assert_eq!(draft.sending(id("c"), false).command_id, id("c"));
        draft.refused();
        assert_eq!(draft.sending(id("d"), false).command_id, id("d"));
        assert_eq!(draft.sending(id("e"), true).command_id, id("e"), "for another place it is another command");
    }

    #[test]
    fn only_what_was_accepted_is_cleared() {
        let mut draft = draft("one");
        let sent = draft.sending(id("a"), false);
        draft.text = "one\nand two".into();
        draft.accepted(&sent);
        assert_eq!((draft.text.as_str(), &draft.sent), ("and two", &vec![vec![Segment::text("one")]]));
        let elsewhere = Unanswered { command_id: id("x"), segments: vec![Segment::text("another")], steers: false };
        draft.accepted(&elsewhere);
        assert_eq!(draft.text, "and two");
        let sent = draft.sending(id("b"), false);
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
    fn files_are_sent_where_they_are_named_and_only_while_they_are() {
        let file = |path: &str| Segment::FileRef { path: path.to_owned() };
        let files = vec!["a.rs".to_owned(), "b.rs".to_owned()];
        let mut draft = Draft { files, ..draft("compare @a.rs with @b.rs, please") };
        let sent = draft.segments();
        let expected =
            [Segment::text("compare "), file("a.rs"), Segment::text(" with "), file("b.rs"), Segment::text(", please")];
        assert_eq!(sent, expected);
        let mut other = Draft::default();
        other.put_back(&sent);
        assert_eq!((other.text.as_str(), other.segments()), (draft.text.as_str(), sent));

        draft.drop_file("a.rs");
        assert_eq!((draft.text.as_str(), draft.named_files()), ("compare with @b.rs, please", vec!["b.rs".to_owned()]));
        draft.text = "compare with nothing".into();
        assert_eq!(draft.segments(), [Segment::text("compare with nothing")]);
        draft.text = "first @b.rs".into();
        let message = draft.sending(id("a"), false);
        draft.text.push_str("\nthen @b.rs again");
        draft.accepted(&message);
        assert_eq!((draft.text.as_str(), draft.files), ("then @b.rs again", vec!["b.rs".to_owned()]));
    }

    #[test]
    fn what_is_attached_is_sent_alone_and_goes_when_it_was_accepted() {
        let blob = protocol::BlobId::parse(&"0a".repeat(32)).unwrap();
        let image = Segment::Image { blob, name: Some("cat.png".into()) };
        let mut draft = Draft { attached: vec![image.clone()], ..Draft::default() };
        assert!(!draft.is_blank());
        let sent = draft.sending(id("a"), false);
        assert_eq!(sent.segments, std::slice::from_ref(&image));
        draft.accepted(&sent);
        assert!(draft.is_blank());
        draft.put_back(&[Segment::text("see"), image.clone()]);
        assert_eq!((draft.text.as_str(), &draft.attached), ("see", &vec![image]));
    }

    #[test]
    fn what_was_sent_is_remembered_once_and_not_without_end() {
        let mut draft = Draft::default();
        for number in (0..60).chain([59, 30]) {
            draft.text = format!("n{number}");
            let message = draft.sending(id("a"), false);
            draft.accepted(&message);
        }
        assert_eq!((draft.sent.len(), draft.sent.last().unwrap()), (50, &vec![Segment::text("n30")]));
        draft.text = "x".repeat(5_000);
        let message = draft.sending(id("a"), false);
        draft.accepted(&message);
        assert_eq!(draft.sent.last().unwrap(), &[Segment::text("n30")]);
    }

    #[test]
    fn long_pastes_are_told_by_characters_or_lines() {
        assert!(!is_long_paste(&"x".repeat(2_000)));
        assert!(is_long_paste(&"é".repeat(2_001)));
        assert!(!is_long_paste(&"x\n".repeat(20)));
        assert!(is_long_paste(&"x\n".repeat(21)));
    }

    #[test]
    fn a_draft_survives_storage_and_an_older_form_of_it_is_read() {
        let mut kept = draft("hello");
        kept.sending(id("a"), false);
        let text = serde_json::to_string(&kept).unwrap();
        assert_eq!(serde_json::from_str::<Draft>(&text).unwrap(), kept);
        let older = r#"{"text":"old","pastes":[],"unanswered":null,"last_sent":"x"}"#;
        assert_eq!(serde_json::from_str::<Draft>(older).unwrap(), draft("old"));
    }
}
