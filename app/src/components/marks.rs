//! Marks the searched words in a text. Pure; the result is text, not HTML.

use commands::lower;

/// A piece of a text, and whether it is a match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) text: String,
    pub(crate) is_found: bool,
}

/// Splits `text` at the words that were searched for. As in the index, a word consists of letters and digits, case is
/// ignored, and the last word of the search may be a prefix.
pub(crate) fn marked(text: &str, looked_for: &str) -> Vec<Piece> {
    let wanted: Vec<String> = words_of(looked_for).map(lower).collect();
    let beginning = wanted.last();
    let is_wanted = |word: &String| {
        wanted.contains(word) || beginning.is_some_and(|beginning| word.starts_with(beginning.as_str()))
    };
    let mut pieces: Vec<Piece> = Vec::new();
    for part in parts(text) {
        let is_found = is_wanted(&lower(part));
        match pieces.last_mut() {
            Some(last) if !last.is_found && !is_found => last.text.push_str(part),
            _ => pieces.push(Piece { text: part.to_owned(), is_found }),
        }
    }
    pieces
}

/// Where the words are that were searched for: the beginning and the end of each, in UTF-16 code units.
pub(crate) fn places(text: &str, looked_for: &str) -> Vec<(u32, u32)> {
    let mut at = 0;
    let place = |piece: Piece| {
        let from = at;
        at += piece.text.encode_utf16().count() as u32;
        piece.is_found.then_some((from, at))
    };
    marked(text, looked_for).into_iter().filter_map(place).collect()
}

fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Words, and what is between them, alternately.
fn parts(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = first.is_alphanumeric();
        let end = rest.find(|letter: char| letter.is_alphanumeric() != is_word).unwrap_or(rest.len());
        parts.push(&rest[..end]);
        rest = &rest[end..];
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text with matches in brackets.
    fn shown(text: &str, looked_for: &str) -> String {
        let piece = |piece: Piece| if piece.is_found { format!("[{}]", piece.text) } else { piece.text };
        marked(text, looked_for).into_iter().map(piece).collect()
    }

    #[test]
    fn words_are_marked_whatever_their_case_and_never_from_their_middle_on() {
        assert_eq!(shown("The lease, released: LEASE.", "lease"), "The [lease], released: [LEASE].");
        assert_eq!(shown("Ärger, verärgert", "ÄRGER"), "[Ärger], verärgert");
    }

    #[test]
    fn a_place_counts_the_units_that_a_browser_counts() {
        assert_eq!(places("🦀 the lease, leased", "lease"), [(7, 12), (14, 20)]);
        assert_eq!(places("nothing", "lease"), []);
    }

    #[test]
    fn only_the_last_word_may_be_a_beginning() {
        assert_eq!(shown("the leases then", "the lea"), "[the] [leases] then");
        assert_eq!(shown("the leases then", "lea the"), "[the] leases [then]");
    }

    #[test]
    fn a_path_is_its_words() {
        assert_eq!(shown("see src/main.rs: main", "src/main.rs"), "see [src]/[main].[rs]: [main]");
        assert_eq!(shown("Vec<String>", "vec<string>"), "[Vec]<[String]>");
    }

    #[test]
    fn no_letter_is_lost_whatever_the_text_is() {
        for text in ["", "…", "<b>x</b>", "a\nb\tc", "🦀 é日本", " lease "] {
            for looked_for in ["", "lease", "b", "\"*", "日本"] {
                let whole: String = marked(text, looked_for).into_iter().map(|piece| piece.text).collect();
                assert_eq!(whole, text);
            }
        }
        assert_eq!(marked("<script>", "script")[1].text, "script");
    }
}
