//! Chips: pasted pieces and named files. Each is one character of the text, drawn as a label, and sent as a segment
//! of its own.

use commands::PIECE;
use protocol::Segment;

use super::Composer;

/// A paste of more lines than this, or of more characters, becomes a chip.
const PLAIN_LINES_MAX: usize = 3;
const PLAIN_CHARS_MAX: usize = 400;

/// What a [`PIECE`] character in the text stands for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Chip {
    Paste(String),
    /// A file chosen by `@`, by its path.
    File(String),
    /// A picture or file stored on the server, as it will be sent.
    Kept(Segment),
}

impl Chip {
    /// The label that is drawn. It contains no breaking space.
    fn words(&self) -> String {
        match self {
            Self::Paste(text) => words(text),
            Self::File(path) => format!("@{path}").replace(' ', "\u{a0}"),
            Self::Kept(segment) => segment.as_text().replace(' ', "\u{a0}"),
        }
    }

    fn segment(&self) -> Segment {
        match self {
            Self::Paste(text) => Segment::Paste { text: text.clone() },
            Self::File(path) => Segment::FileRef { path: path.clone() },
            Self::Kept(segment) => segment.clone(),
        }
    }
}

impl Composer {
    /// Inserts pasted text: a short paste as text, a long one as a chip.
    pub(crate) fn paste(&mut self, text: &str) {
        let clean = clean(text);
        if clean.lines().count() <= PLAIN_LINES_MAX && clean.chars().count() <= PLAIN_CHARS_MAX {
            return self.insert(&clean);
        }
        self.put(Chip::Paste(clean));
    }

    /// Inserts a picture or file stored on the server.
    pub(crate) fn attach(&mut self, kept: Segment) {
        self.put(Chip::Kept(kept));
    }

    pub(super) fn put(&mut self, chip: Chip) {
        self.chips.insert(count(&self.text[..self.cursor]), chip);
        self.text.insert(self.cursor, PIECE);
        self.cursor += PIECE.len_utf8();
    }

    /// The text as drawn.
    pub(crate) fn shown(&self) -> String {
        self.drawn(&self.text)
    }

    /// The drawn text before the cursor, from which the view computes the cursor's position.
    pub(crate) fn shown_before_cursor(&self) -> String {
        self.drawn(&self.text[..self.cursor])
    }

    /// The message to send: text, pastes and files in order. Empty if there is nothing to read in it.
    pub(crate) fn segments(&self) -> Vec<Segment> {
        let mut segments = Vec::new();
        for (index, text) in self.text.split(PIECE).enumerate() {
            let before = index.checked_sub(1).map(|before| &self.chips[before]);
            segments.extend(before.map(Chip::segment));
            let text = trimmed(text, before, self.chips.get(index));
            if !text.is_empty() {
                segments.push(Segment::text(text));
            }
        }
        segments
    }

    /// The content of a message that was sent, for editing and sending again.
    pub(crate) fn of_segments(segments: &[Segment]) -> Self {
        let mut composer = Self::default();
        composer.add(segments);
        composer
    }

    /// Appends a message that came back to what is there.
    pub(crate) fn add(&mut self, segments: &[Segment]) {
        self.cursor = self.text.len();
        if !self.text.trim().is_empty() && !self.text.ends_with('\n') {
            self.insert("\n");
        }
        for segment in segments {
            match segment {
                Segment::Paste { text } => self.paste(text),
                Segment::FileRef { path } => self.put(Chip::File(path.clone())),
                kept @ (Segment::Image { .. } | Segment::File { .. }) => self.put(Chip::Kept(kept.clone())),
                segment => self.insert(&segment.as_text()),
            }
        }
    }

    fn drawn(&self, text: &str) -> String {
        let mut shown = String::with_capacity(text.len());
        for (index, text) in text.split(PIECE).enumerate() {
            if index > 0 {
                shown.push_str(&self.chips[index - 1].words());
            }
            shown.push_str(text);
        }
        shown
    }
}

/// The text between two chips, as it is sent. Whitespace next to a file is kept, because a file stands within a
/// sentence; next to a paste and at the ends of the message it is trimmed.
fn trimmed<'a>(text: &'a str, before: Option<&Chip>, behind: Option<&Chip>) -> &'a str {
    let is_file = |chip: Option<&Chip>| matches!(chip, Some(Chip::File(_)));
    if text.trim().is_empty() && !(is_file(before) && is_file(behind)) {
        return "";
    }
    let text = if is_file(before) { text } else { text.trim_start_matches('\n') };
    if is_file(behind) { text } else { text.trim_end_matches('\n') }
}

/// `[pasted 34 lines]`, with non-breaking spaces.
pub(crate) fn words(paste: &str) -> String {
    match paste.lines().count() {
        ..=1 => format!("[pasted\u{a0}{}\u{a0}characters]", paste.chars().count()),
        lines => format!("[pasted\u{a0}{lines}\u{a0}lines]"),
    }
}

pub(super) fn count(text: &str) -> usize {
    text.matches(PIECE).count()
}

/// Removes [`PIECE`], which is never typed, and control characters, so that a pasted escape sequence is text and
/// nothing that the terminal obeys.
pub(super) fn clean(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    text.chars().filter(|char| *char != PIECE && (!char.is_control() || matches!(char, '\n' | '\t'))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::composer::To;

    const LONG: &str = "1\n2\n3\n4";

    #[test]
    fn a_long_paste_is_a_chip_and_a_segment_of_its_own_and_a_short_one_is_text() {
        let mut composer = Composer::with("look at this ");
        composer.paste(LONG);
        composer.insert(" and that");
        assert_eq!(composer.shown(), "look at this [pasted\u{a0}4\u{a0}lines] and that");
        let paste = Segment::Paste { text: LONG.to_owned() };
        assert_eq!(composer.segments(), [Segment::text("look at this "), paste, Segment::text(" and that")]);
        let mut composer = Composer::default();
        composer.paste("a b");
        assert_eq!((composer.shown().as_str(), composer.segments()), ("a b", vec![Segment::text("a b")]));
    }

    #[test]
    fn a_file_stands_in_its_sentence_and_comes_back_as_a_file() {
        let file = |path: &str| Segment::FileRef { path: path.to_owned() };
        let mut composer = Composer::with("compare\n");
        composer.put(Chip::File("my notes.txt".into()));
        composer.insert(" ");
        composer.put(Chip::File("b.rs".into()));
        composer.insert(", now \n");
        assert_eq!(composer.shown(), "compare\n@my\u{a0}notes.txt @b.rs, now \n");
        let sent = composer.segments();
        let expected = [
            Segment::text("compare\n"),
            file("my notes.txt"),
            Segment::text(" "),
            file("b.rs"),
            Segment::text(", now "),
        ];
        assert_eq!(sent, expected);
        assert_eq!(Composer::of_segments(&sent).segments(), sent);
        let mut composer = Composer::default();
        composer.put(Chip::File("a".into()));
        composer.insert(" ");
        assert_eq!(composer.segments(), [file("a")], "a file alone is a message");
    }

    #[test]
    fn a_message_that_comes_back_stands_behind_what_is_being_written() {
        let mut composer = Composer::with("draft");
        composer.go(To::Left);
        composer.add(&[Segment::text("queued "), Segment::FileRef { path: "a".into() }]);
        assert_eq!(
            (composer.shown().as_str(), composer.shown_before_cursor().as_str()),
            ("draft\nqueued @a", "draft\nqueued @a")
        );
    }

    #[test]
    fn a_chip_is_removed_as_one_and_its_neighbours_stay() {
        let mut composer = Composer::default();
        composer.paste(LONG);
        composer.paste(&LONG.replace('1', "x"));
        composer.go(To::Left);
        composer.cut(To::Left);
        assert_eq!(composer.segments(), [Segment::Paste { text: LONG.replace('1', "x") }]);
        composer.cut(To::Right);
        assert!(composer.is_empty() && composer.segments().is_empty());
    }

    #[test]
    fn what_was_sent_comes_back_as_it_was() {
        let mut composer = Composer::with("see ");
        composer.paste(LONG);
        assert_eq!(Composer::of_segments(&composer.segments()), composer);
        assert!(Composer::with(" \n ").segments().is_empty());
    }
}
