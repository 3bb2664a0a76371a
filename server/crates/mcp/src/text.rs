//! A server's texts as people and models get them: without escape sequences, direction marks and invisible characters,
//! and without the secrets that only the server was told.

use std::sync::Arc;

/// What replaces a secret.
const HIDDEN: &str = "[hidden]";
/// A shorter value appears in too many texts by chance.
const SECRET_CHARS_MIN: usize = 6;

/// Values that were given to a server and to nobody else.
#[derive(Clone, Default)]
pub(crate) struct Secrets {
    values: Arc<[String]>,
    /// Those that change while it is used.
    others: Option<Arc<dyn Fn() -> Vec<String> + Send + Sync>>,
}

impl Secrets {
    pub(crate) fn new(values: Vec<String>) -> Self {
        let mut values: Vec<_> = values.into_iter().filter(|value| value.len() >= SECRET_CHARS_MIN).collect();
        // Longest first: one value may be part of another.
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        Self { values: values.into(), others: None }
    }

    /// Adds values that may be different each time.
    pub(crate) fn and(self, others: impl Fn() -> Vec<String> + Send + Sync + 'static) -> Self {
        Self { others: Some(Arc::new(others)), ..self }
    }

    pub(crate) fn hide(&self, text: String) -> String {
        let others = self.others.as_ref().map(|others| others()).unwrap_or_default();
        let others = others.iter().filter(|value| value.len() >= SECRET_CHARS_MIN);
        let hide =
            |text: String, secret: &String| if text.contains(secret) { text.replace(secret, HIDDEN) } else { text };
        self.values.iter().chain(others).fold(text, hide)
    }
}

// Written by hand, so that secrets are never printed.
impl std::fmt::Debug for Secrets {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Secrets").finish_non_exhaustive()
    }
}

/// Returns the text in visible characters and lines, up to a maximum number of characters.
pub(crate) fn plain(text: &str, most: usize) -> String {
    let mut letters = without_escapes(text).chars().filter(|letter| is_seen(*letter)).collect::<Vec<_>>();
    if letters.len() > most {
        letters.truncate(most.saturating_sub(1));
        letters.push('…');
    }
    letters.into_iter().collect::<String>().trim().to_owned()
}

/// The same, on one line.
pub(crate) fn line(text: &str, most: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    plain(&words.join(" "), most)
}

fn is_seen(letter: char) -> bool {
    match letter {
        '\n' | '\t' => true,
        letter if letter.is_control() => false,
        // Direction marks, characters without shape, tags, and characters that belong in no text.
        '\u{ad}'
        | '\u{61c}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}'
        | '\u{f0000}'..='\u{10ffff}' => false,
        _ => true,
    }
}

/// Removes terminal escape sequences completely.
fn without_escapes(text: &str) -> String {
    if !text.contains(['\u{1b}', '\u{9b}']) {
        return text.to_owned();
    }
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\u{9b}' => skip_control(&mut letters),
            '\u{1b}' => match letters.next() {
                Some('[') => skip_control(&mut letters),
                // A string, up to BEL or ST.
                Some(']' | 'P' | 'X' | '^' | '_') => {
                    while let Some(letter) = letters.next() {
                        if letter == '\u{7}' || (letter == '\u{1b}' && letters.next_if_eq(&'\\').is_some()) {
                            break;
                        }
                    }
                }
                _ => (),
            },
            letter => plain.push(letter),
        }
    }
    plain
}

fn skip_control(letters: &mut impl Iterator<Item = char>) {
    for letter in letters {
        if ('\u{40}'..='\u{7e}').contains(&letter) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_commands_a_terminal_or_is_not_seen_is_taken_out() {
        for (text, expected) in [
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("a\u{1b}]0;title\u{7}b\u{1b}]8;;http://x\u{1b}\\c", "abc"),
            ("a\u{9b}2Jb", "ab"),
            ("safe\u{202e}gnp.exe", "safegnp.exe"),
            ("do\u{200b} it\u{e0041}\u{e0042}", "do it"),
            ("a\u{0}b\u{8}c\r\nd", "abc\nd"),
            ("  два\tслова ", "два\tслова"),
        ] {
            assert_eq!(plain(text, 100), expected);
        }
        assert_eq!(plain("12345", 4), "123…");
        assert_eq!(line("a\n  b\tc", 100), "a b c");
    }

    #[test]
    fn what_a_server_was_given_is_nobody_elses() {
        let secrets = Secrets::new(vec!["Bearer hunter22".into(), "hunter22".into(), "on".into()]);
        assert_eq!(secrets.hide("it is on: Bearer hunter22, or hunter22".into()), "it is on: [hidden], or [hidden]");
        assert!(!format!("{secrets:?}").contains("hunter"));
        let secrets = secrets.and(|| vec!["a-token".into(), "x".into()]);
        assert_eq!(secrets.hide("x: a-token, hunter22".into()), "x: [hidden], [hidden]");
    }
}
