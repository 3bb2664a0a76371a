//! Letters that are not seen, but change what is: made visible, so that a text reads as it will be run.

use std::borrow::Cow;

/// Overrides, embeddings and isolates of direction. With them a line can be read in another order than it is stored.
/// The two plain marks (U+200E, U+200F) turn nothing around, and belong to texts in Arabic and Hebrew.
fn turns_around(letter: char) -> bool {
    matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The text with `[U+202E]` in the place of each letter that turns what follows around.
pub fn shown(text: &str) -> Cow<'_, str> {
    if !text.contains(turns_around) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        match turns_around(letter) {
            true => shown.push_str(&format!("[U+{:04X}]", u32::from(letter))),
            false => shown.push(letter),
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_turns_a_line_around_is_seen_and_the_rest_is_left_alone() {
        assert_eq!(shown("if admin \u{202e}// check\u{2069}"), "if admin [U+202E]// check[U+2069]");
        for text in ["", "plain", "שלום \u{200f}a", "👩‍💻 🏴󠁧󠁢󠁥󠁮󠁧󠁿"] {
            assert!(matches!(shown(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }
}
