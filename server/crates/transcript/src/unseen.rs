//! Makes invisible characters visible, so that a text reads as it will be executed.

use std::borrow::Cow;

/// Direction overrides, embeddings and isolates. With them a line can be displayed in another order than it is
/// stored. The two plain marks (U+200E, U+200F) reverse nothing, and belong in Arabic and Hebrew texts.
fn turns_around(letter: char) -> bool {
    matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Characters without a glyph, which can carry text that a model reads and a person does not see. The two joiners
/// (U+200C, U+200D) are allowed, because scripts and emoji need them.
fn has_no_shape(letter: char) -> bool {
    matches!(letter,
        '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{206a}'..='\u{206f}'
        | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{e0001}' | '\u{e0100}'..='\u{e01ef}')
}

/// Tag characters: an invisible alphabet. After a black flag they form the flags of regions.
fn is_tag(letter: char) -> bool {
    matches!(letter, '\u{e0020}'..='\u{e007f}')
}

const BLACK_FLAG: char = '\u{1f3f4}';
/// The maximum number of tags in one flag, including the terminator: `gbeng` has six.
const FLAG_TAGS_MAX: usize = 8;

/// The text with each invisible or direction-changing character replaced by its code, such as `[U+202E]`.
pub fn shown(text: &str) -> Cow<'_, str> {
    let is_odd = |letter: char| turns_around(letter) || has_no_shape(letter) || is_tag(letter);
    if !text.contains(is_odd) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut flag_tags = 0;
    for letter in text.chars() {
        let is_of_flag = is_tag(letter) && flag_tags > 0;
        flag_tags = match letter {
            BLACK_FLAG => FLAG_TAGS_MAX,
            _ if is_of_flag => flag_tags - 1,
            _ => 0,
        };
        match is_odd(letter) && !is_of_flag {
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
        assert_eq!(shown("rm\u{200b} -r\u{feff}"), "rm[U+200B] -r[U+FEFF]");
        assert_eq!(shown("a\u{e0041}\u{e0042}"), "a[U+E0041][U+E0042]", "an alphabet that nobody sees");
        assert_eq!(
            shown("\u{1f3f4}\u{e0067}\u{e007f}\u{e0041}x\u{e0041}"),
            "\u{1f3f4}\u{e0067}\u{e007f}\u{e0041}x[U+E0041]"
        );
        for text in ["", "plain", "नमस्ते क्\u{200d}ष", "می\u{200c}خواهم", "שלום \u{200f}a", "👩‍💻 🏴󠁧󠁢󠁥󠁮󠁧󠁿"]
        {
            assert_eq!(shown(text), text);
        }
    }
}
