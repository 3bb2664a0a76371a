//! Keeps keys out of sentences.
//!
//! A provider's own error may quote the key, in full or in part (`sk-abcd****wxyz`). A word that contains part of a
//! secret is replaced as a whole, so that nothing around the quoted part is left either.

use std::fmt;

use secrecy::{ExposeSecret, SecretString};

/// The maximum length of a sentence, in characters.
const SENTENCE_CHARS_MAX: usize = 500;
/// How much text is searched, in characters; the rest of a longer text is dropped.
const SOURCE_CHARS_MAX: usize = 4_000;
/// A common substring of this many bytes counts as part of a secret.
const PART_BYTES_MIN: usize = 8;
/// Shorter keys are only searched for as whole words, because they would match any text.
const KEY_BYTES_MIN: usize = 4;

/// Replaces a secret.
pub(crate) const MASK: &str = "[key]";

/// The secrets of one provider.
#[derive(Clone, Default)]
pub(crate) struct Redactor {
    secrets: Vec<SecretString>,
}

impl fmt::Debug for Redactor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Redactor({} secrets)", self.secrets.len())
    }
}

impl Redactor {
    pub(crate) fn new(secrets: Vec<SecretString>) -> Self {
        Self { secrets: secrets.into_iter().filter(|secret| !secret.expose_secret().trim().is_empty()).collect() }
    }

    /// Returns one line of at most 500 characters without any secret.
    pub(crate) fn sentence(&self, text: &str) -> String {
        let words = text.chars().take(SOURCE_CHARS_MAX).collect::<String>();
        let clean: Vec<String> = words.split_whitespace().map(|word| self.word(word)).collect();
        shorten(&clean.join(" "))
    }

    /// Masks the pieces of a word, split at quotes and the like, that contain a secret.
    fn word(&self, word: &str) -> String {
        if self.secrets.iter().any(|secret| shows(word, secret.expose_secret())) {
            return mask_pieces(word, |piece| self.secrets.iter().any(|secret| shows(piece, secret.expose_secret())));
        }
        word.to_owned()
    }
}

/// Masks the pieces for which `is_secret` is true; the whole word if a secret spans several pieces.
fn mask_pieces(word: &str, is_secret: impl Fn(&str) -> bool) -> String {
    let mut masked = String::new();
    let mut piece = String::new();
    for character in word.chars().chain(['\0']) {
        if !(character == '\0' || "\"'`()[]{}<>,;".contains(character)) {
            piece.push(character);
            continue;
        }
        masked.push_str(if is_secret(&piece) { MASK } else { &piece });
        piece.clear();
        if character != '\0' {
            masked.push(character);
        }
    }
    if is_secret(&masked) || masked == word { MASK.to_owned() } else { masked }
}

/// Whether `text` contains `secret` or a significant part of it.
fn shows(text: &str, secret: &str) -> bool {
    let (text, secret) = (text.as_bytes(), secret.trim().as_bytes());
    if secret.len() < KEY_BYTES_MIN {
        return text == secret;
    }
    if contains(text, secret) {
        return true;
    }
    let is_elided = contains(text, b"***") || contains(text, b"...") || contains(text, "…".as_bytes());
    let part = if is_elided { KEY_BYTES_MIN } else { PART_BYTES_MIN };
    secret.len() > part && secret.windows(part).any(|run| contains(text, run))
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.len() >= part.len() && text.windows(part.len()).any(|run| run == part)
}

fn shorten(sentence: &str) -> String {
    match sentence.char_indices().nth(SENTENCE_CHARS_MAX) {
        None => sentence.to_owned(),
        Some(_) => sentence.chars().take(SENTENCE_CHARS_MAX - 1).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KEY: &str = "sk-proj-4f9aQ7xT1mZ8";

    fn redact(text: &str) -> String {
        Redactor::new(vec![KEY.into()]).sentence(text)
    }

    #[test]
    fn a_quoted_key_is_masked_and_the_sentence_stays() {
        assert_eq!(redact(&format!("Incorrect API key provided: {KEY}.")), "Incorrect API key provided: [key]");
        assert_eq!(redact(&format!("{{\"key\":\"{KEY}\",\"n\":1}}")), "{\"key\":\"[key]\",\"n\":1}");
        assert_eq!(redact("sk-proj-************1mZ8 is wrong"), "[key] is wrong");
        assert_eq!(redact("sk-p...1mZ8 is wrong"), "[key] is wrong");
        assert_eq!(redact("the key 'sk-proj-4f' is wrong"), "the key '[key]' is wrong");
        assert_eq!(redact("all is well, nothing to see"), "all is well, nothing to see");
    }

    #[test]
    fn a_sentence_is_one_line_and_not_longer_than_500_characters() {
        let sentence = redact(&"ä b\n".repeat(1000));
        assert_eq!(sentence.chars().count(), 500);
        assert!(!sentence.contains('\n'));
    }

    #[test]
    fn a_short_key_hides_only_itself() {
        let redactor = Redactor::new(vec!["k".into()]);
        assert_eq!(redactor.sentence("key k is bad"), "key [key] is bad");
    }

    proptest! {
        #[test]
        fn no_sentence_shows_a_telling_part_of_the_key(
            before in ".{0,40}", after in ".{0,40}", from in 0_usize..12, length in 8_usize..20,
        ) {
            let part = &KEY[from..(from + length).min(KEY.len())];
            prop_assume!(part.len() >= 8);
            let sentence = redact(&format!("{before}{part}{after}"));
            for run in KEY.as_bytes().windows(8) {
                prop_assert!(!contains(sentence.as_bytes(), run), "{}", sentence);
            }
        }
    }
}
