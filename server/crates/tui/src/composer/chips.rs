//! Pasted pieces: one character in the text, drawn as what they are, sent as segments of their own.

use protocol::Segment;

use super::Composer;

/// Stands for a pasted piece. It is never typed: what is put in is cleaned of it.
pub(super) const CHIP: char = '\u{fffc}';

/// A paste of more lines than this, or of more characters, becomes a chip.
const PLAIN_LINES_MAX: usize = 3;
const PLAIN_CHARS_MAX: usize = 400;

impl Composer {
    /// Puts in what was pasted: a short piece as text, a long one as a chip.
    pub(crate) fn paste(&mut self, text: &str) {
        let clean = clean(text);
        if clean.lines().count() <= PLAIN_LINES_MAX && clean.chars().count() <= PLAIN_CHARS_MAX {
            return self.insert(&clean);
        }
        self.pastes.insert(count(&self.text[..self.cursor]), clean);
        self.text.insert(self.cursor, CHIP);
        self.cursor += CHIP.len_utf8();
    }

    /// As it is drawn.
    pub(crate) fn shown(&self) -> String {
        self.drawn(&self.text)
    }

    /// What is drawn before the cursor; the view finds its place from it.
    pub(crate) fn shown_before_cursor(&self) -> String {
        self.drawn(&self.text[..self.cursor])
    }

    /// What is sent: text and pasted pieces in turn. Empty when there is no word in it.
    pub(crate) fn segments(&self) -> Vec<Segment> {
        let mut segments = Vec::new();
        for (index, text) in self.text.split(CHIP).enumerate() {
            if index > 0 {
                segments.push(Segment::Paste { text: self.pastes[index - 1].clone() });
            }
            let text = text.trim_matches('\n');
            if !text.trim().is_empty() {
                segments.push(Segment::text(text));
            }
        }
        segments
    }

    /// What was sent, to be changed and sent again.
    pub(crate) fn of_segments(segments: &[Segment]) -> Self {
        let mut composer = Self::default();
        for segment in segments {
            match segment {
                Segment::Paste { text } => composer.paste(text),
                segment => composer.insert(&segment.as_text()),
            }
        }
        composer
    }

    fn drawn(&self, text: &str) -> String {
        let mut shown = String::with_capacity(text.len());
        for (index, text) in text.split(CHIP).enumerate() {
            if index > 0 {
                shown.push_str(&words(&self.pastes[index - 1]));
            }
            shown.push_str(text);
        }
        shown
    }
}

/// `[pasted 34 lines]`. No space that a line could be broken at.
pub(crate) fn words(paste: &str) -> String {
    match paste.lines().count() {
        ..=1 => format!("[pasted\u{a0}{}\u{a0}characters]", paste.chars().count()),
        lines => format!("[pasted\u{a0}{lines}\u{a0}lines]"),
    }
}

pub(super) fn count(text: &str) -> usize {
    text.matches(CHIP).count()
}

/// A pasted escape sequence is text here, and nothing that the terminal obeys.
pub(super) fn clean(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    text.chars().filter(|char| *char != CHIP && (!char.is_control() || matches!(char, '\n' | '\t'))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_chip_is_removed_as_one_and_its_neighbours_stay() {
        let mut composer = Composer::default();
        composer.paste(LONG);
        composer.paste(&LONG.replace('1', "x"));
        composer.left();
        composer.backspace();
        assert_eq!(composer.segments(), [Segment::Paste { text: LONG.replace('1', "x") }]);
        composer.delete();
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
