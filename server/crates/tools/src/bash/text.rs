//! Turns the bytes of a command into text that can be stored and shown, whatever pieces they come in.

/// Decodes UTF-8 that may be cut anywhere. Invalid bytes and NUL become U+FFFD.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    /// The beginning of a character whose rest has not arrived.
    begun: Vec<u8>,
}

impl Decoder {
    pub(super) fn push(&mut self, bytes: &[u8]) -> String {
        let mut all = std::mem::take(&mut self.begun);
        all.extend_from_slice(bytes);
        let (mut text, mut done) = (String::with_capacity(all.len()), 0);
        for chunk in all.utf8_chunks() {
            text.push_str(chunk.valid());
            done += chunk.valid().len();
            let is_begun = done + chunk.invalid().len() == all.len() && is_beginning(chunk.invalid());
            if is_begun {
                break;
            }
            if !chunk.invalid().is_empty() {
                text.push(char::REPLACEMENT_CHARACTER);
                done += chunk.invalid().len();
            }
        }
        self.begun = all.split_off(done);
        if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text }
    }

    /// What is left at the end of the input.
    pub(super) fn finish(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.begun)).into_owned()
    }
}

/// Whether more bytes could make these a character.
fn is_beginning(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
}

/// At most the first `limit` bytes of `text`; a character is not cut.
pub(super) fn head_bytes(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(limit)]
}

/// The first `limit` characters.
pub(super) fn head_chars(text: &str, limit: usize) -> &str {
    text.char_indices().nth(limit).map_or(text, |(end, _)| &text[..end])
}

/// The last `limit` characters.
pub(super) fn tail_chars(text: &str, limit: usize) -> &str {
    match limit.checked_sub(1) {
        None => "",
        Some(back) => text.char_indices().nth_back(back).map_or(text, |(start, _)| &text[start..]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_the_same_wherever_it_was_cut() {
        let bytes = "aé€😀\0b".bytes().chain([0xff, b'c', 0xe2, 0x82]).collect::<Vec<_>>();
        for size in 1..=bytes.len() {
            let mut decoder = Decoder::default();
            let mut text = bytes.chunks(size).map(|piece| decoder.push(piece)).collect::<String>();
            text.push_str(&decoder.finish());
            assert_eq!(text, "aé€😀\u{fffd}b\u{fffd}c\u{fffd}", "in pieces of {size}");
        }
    }

    #[test]
    fn cuts_do_not_split_characters() {
        assert_eq!((head_bytes("a€b", 2), head_bytes("a€b", 4), head_bytes("a", 9)), ("a", "a€", "a"));
        assert_eq!((head_chars("a€b", 2), head_chars("a€b", 0), head_chars("a€b", 9)), ("a€", "", "a€b"));
        assert_eq!((tail_chars("a€b", 2), tail_chars("a€b", 0), tail_chars("a€b", 9)), ("€b", "", "a€b"));
    }
}
