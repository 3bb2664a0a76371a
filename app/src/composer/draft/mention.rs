//! Files that a message names as `@path` in its text. Pure; the server knows which files exist.

use protocol::Segment;

/// A file name being typed after an `@`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileWord {
    /// Byte offset of the `@` in the text.
    pub(crate) at: usize,
    pub(crate) begun: String,
}

/// The file name that the caret (a byte offset) stands in or after.
pub(crate) fn file_word(text: &str, caret: usize) -> Option<FileWord> {
    let before = text.get(..caret)?;
    let at = before.rfind('@').filter(|at| may_begin(&before[..*at]))?;
    let begun = &before[at + 1..];
    (!begun.contains(char::is_whitespace)).then(|| FileWord { at, begun: begun.to_owned() })
}

/// Replaces the word with `path`; returns the new text and the byte offset after the path.
pub(crate) fn with_file(text: &str, word: &FileWord, path: &str) -> (String, usize) {
    let end = word.at + 1 + word.begun.len();
    let (before, rest) = (&text[..word.at], text.get(end..).unwrap_or_default());
    // The rest of the old word stands after the caret.
    let rest = rest.trim_start_matches(|letter: char| !letter.is_whitespace());
    let gap = if rest.is_empty() { " " } else { "" };
    let whole = format!("{before}@{path}{gap}{rest}");
    let caret = before.len() + 1 + path.len() + 1;
    (whole, caret)
}

/// Splits the text: `@path` of a chosen file becomes a file reference, all else is text.
pub(crate) fn pieces(text: &str, files: &[String]) -> Vec<Segment> {
    let mut pieces = Vec::new();
    let mut from = 0;
    for (at, _) in text.match_indices('@') {
        let is_here = |file: &&String| text[at + 1..].strip_prefix(file.as_str()).is_some_and(may_end);
        if at < from || !may_begin(&text[..at]) {
            continue;
        }
        let Some(file) = files.iter().filter(is_here).max_by_key(|file| file.len()) else { continue };
        if from < at {
            pieces.push(Segment::text(&text[from..at]));
        }
        pieces.push(Segment::FileRef { path: file.clone() });
        from = at + 1 + file.len();
    }
    if from < text.len() {
        pieces.push(Segment::text(&text[from..]));
    }
    pieces
}

fn may_begin(before: &str) -> bool {
    before.chars().next_back().is_none_or(|letter| letter.is_whitespace() || "([{\"'".contains(letter))
}

/// Whether a path may end here: at the end of the text, before whitespace, or before punctuation that is followed by
/// either.
fn may_end(rest: &str) -> bool {
    let mut letters = rest.chars().skip_while(|letter| ".,;:!?)]}\"'".contains(*letter));
    letters.next().is_none_or(char::is_whitespace)
}

/// Converts an offset in UTF-16 code units, as browsers count, to a byte offset.
pub(crate) fn byte_at(text: &str, units: u32) -> usize {
    let mut left = units as usize;
    let is_before = |(_, letter): &(usize, char)| {
        let is_before = left > 0;
        left = left.saturating_sub(letter.len_utf16());
        is_before
    };
    text.char_indices().take_while(is_before).last().map_or(0, |(at, letter)| at + letter.len_utf8())
}

/// Converts a byte offset to UTF-16 code units.
pub(crate) fn units_at(text: &str, byte: usize) -> u32 {
    let before = text.get(..byte).unwrap_or(text);
    before.encode_utf16().count().try_into().unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(text: &str) -> Option<(usize, String)> {
        file_word(text, text.len()).map(|word| (word.at, word.begun))
    }

    fn file(path: &str) -> Segment {
        Segment::FileRef { path: path.to_owned() }
    }

    #[test]
    fn a_name_begins_at_an_at_sign_that_begins_a_word() {
        assert_eq!(word("@"), Some((0, String::new())));
        assert_eq!(word("look at @src/ma"), Some((8, "src/ma".to_owned())));
        assert_eq!(word("(@a"), Some((1, "a".to_owned())));
        assert_eq!(word("é @ü"), Some((3, "ü".to_owned())));
        for none in ["", "ada@example.org", "@a b", "x@", "@a\n"] {
            assert_eq!(word(none), None, "{none:?}");
        }
        assert_eq!(file_word("@abc", 2), Some(FileWord { at: 0, begun: "a".to_owned() }));
        assert_eq!(file_word("é", 1), None, "no place between letters");
    }

    #[test]
    fn a_chosen_file_takes_the_place_of_the_word_and_the_caret_goes_behind_it() {
        let chosen = |text: &str, caret: usize| with_file(text, &file_word(text, caret).unwrap(), "src/a.rs");
        assert_eq!(chosen("see @a", 6), ("see @src/a.rs ".to_owned(), 14));
        assert_eq!(chosen("see @ab now", 6), ("see @src/a.rs now".to_owned(), 14));
        assert_eq!(chosen("@", 1), ("@src/a.rs ".to_owned(), 10));
    }

    #[test]
    fn files_that_were_chosen_are_pieces_of_their_own_and_nothing_is_lost() {
        let files = ["a.rs", "a.rs.bak", "my notes.txt"].map(str::to_owned);
        let text = "compare @a.rs with (@a.rs.bak), @my notes.txt and @b.rs.";
        let found = pieces(text, &files);
        let expected = [
            Segment::text("compare "),
            file("a.rs"),
            Segment::text(" with ("),
            file("a.rs.bak"),
            Segment::text("), "),
            file("my notes.txt"),
            Segment::text(" and @b.rs."),
        ];
        assert_eq!(found, expected);
        assert_eq!(Segment::join(&found), text);
        assert_eq!(pieces("mail x@a.rs, or @a.rsx", &files), [Segment::text("mail x@a.rs, or @a.rsx")]);
        assert_eq!(pieces("@a.rs", &files), [file("a.rs")]);
        assert_eq!(pieces("", &files), []);
    }

    #[test]
    fn the_browsers_count_of_letters_is_not_ours() {
        for (text, units, byte) in [("abc", 2, 2), ("é@", 1, 2), ("😀@", 2, 4), ("😀@", 3, 5), ("a", 9, 1), ("", 0, 0)]
        {
            assert_eq!(byte_at(text, units), byte, "{text}");
        }
        assert_eq!(units_at("😀é@", 6), 3);
        assert_eq!(units_at("é", 1), 1, "within a letter: all of it");
    }
}
