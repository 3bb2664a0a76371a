//! Search snippets as one line of plain text, without Markdown markup.
//!
//! A snippet is cut anywhere, so a mark may have lost its partner. Only marks are ever left out.

/// The kinds of records whose text is prose. Tool arguments and output are shown verbatim.
const PROSE: [&str; 5] = ["user_message", "peer_message", "message_finished", "reasoning_finished", "compacted"];

/// The snippet of a record of this kind, on one line.
pub fn snippet_words(kind: &str, snippet: &str) -> String {
    match PROSE.contains(&kind) {
        true => joined(snippet.lines().map(|line| without_marks(without_lead(line)))),
        false => joined(snippet.lines().map(str::to_owned)),
    }
}

fn joined(lines: impl Iterator<Item = String>) -> String {
    let mut whole = String::new();
    for line in lines {
        for word in line.split_whitespace() {
            if !whole.is_empty() {
                whole.push(' ');
            }
            whole.push_str(word);
        }
    }
    whole
}

/// A line without what makes it a heading, a quotation, an item, a fence or the border of a table.
fn without_lead(line: &str) -> &str {
    let mut rest = line.trim();
    if rest.starts_with("```") || rest.starts_with("~~~") || is_border(rest) {
        return "";
    }
    loop {
        let hashes = rest.len() - rest.trim_start_matches('#').len();
        let next = match rest {
            _ if (1..=6).contains(&hashes) && rest[hashes..].starts_with(' ') => &rest[hashes..],
            _ => match rest.split_once(' ') {
                Some((">" | "-" | "*" | "+", after)) => after,
                _ => return rest,
            },
        };
        rest = next.trim_start();
    }
}

/// `| --- | :-: |`, `---`
fn is_border(line: &str) -> bool {
    line.contains("---") && line.chars().all(|letter| matches!(letter, '|' | '-' | ':' | ' '))
}

fn without_marks(line: &str) -> String {
    let is_row = line.starts_with('|') && line.len() > 1;
    let mut plain = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(letter) = rest.chars().next() {
        let run = rest.len() - rest.trim_start_matches(letter).len();
        let before = plain.chars().next_back();
        let step = match letter {
            '`' => code(&mut plain, rest, run),
            '*' | '_' if is_mark(letter, run, before, rest) => run,
            '~' if run == 2 => run,
            '[' => link(&mut plain, rest),
            '!' if rest.starts_with("![") => 1,
            '|' if is_row => {
                plain.push(' ');
                1
            }
            _ => 0,
        };
        let taken = if step > 0 { step } else { letter.len_utf8() };
        if step == 0 {
            plain.push(letter);
        }
        rest = &rest[taken..];
    }
    plain
}

/// The text between two equal runs of backticks is code and kept verbatim; a run without a partner is dropped.
/// Returns how many bytes were consumed.
fn code(plain: &mut String, rest: &str, run: usize) -> usize {
    let (fence, after) = rest.split_at(run);
    match after.split_once(fence) {
        Some((code, _)) => {
            plain.push_str(code);
            run + code.len() + run
        }
        None => run,
    }
}

/// `[words](address)` becomes its words. Returns how many bytes were consumed; 0 if it is not a link.
fn link(plain: &mut String, rest: &str) -> usize {
    let Some((words, after)) = rest[1..].split_once("](") else { return 0 };
    let is_whole = !words.contains(['[', ']']) && !words.is_empty();
    match after.split_once(')').filter(|(address, _)| is_whole && !address.contains(' ')) {
        Some((address, _)) => {
            plain.push_str(&without_marks(words));
            1 + words.len() + 2 + address.len() + 1
        }
        None => 0,
    }
}

/// Whether this run is markup, which stands at the beginning or end of a word: `2 * 3`, `snake_case` and `*.toml`
/// have none.
fn is_mark(letter: char, run: usize, before: Option<char>, rest: &str) -> bool {
    let after = rest[run..].chars().next();
    let is_word =
        |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || "`\"'(".contains(letter));
    let is_gap = |letter: Option<char>| letter.is_none_or(char::is_whitespace);
    match (is_gap(before), is_gap(after)) {
        (true, true) => false,
        (true, false) => is_word(after) || (run > 1 && after != Some('/')),
        (false, _) if letter == '_' => !(is_word(before) && after.is_some_and(char::is_alphanumeric)),
        (false, _) => run > 1 || before.is_some_and(|before| !matches!(before, '/' | '.' | '(')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prose(text: &str) -> String {
        snippet_words("message_finished", text)
    }

    #[test]
    fn what_was_marked_is_read_as_words() {
        for (text, words) in [
            ("## Mended\n\nThe **sum** was a _difference_.", "Mended The sum was a difference."),
            ("- one\n- *two*\n> three\n1. four", "one two three 1. four"),
            ("| case | now |\n| --- | --- |\n| 2 + 3 | **5** |", "case now 2 + 3 5"),
            ("see `notes.md` and ``a ` b``", "see notes.md and a ` b"),
            ("```rust\nfn main() {}\n```", "fn main() {}"),
            ("read [the plan](https://example.org/a_b) and ![a picture](x.png)", "read the plan and a picture"),
            ("~~old~~ ***new***", "old new"),
        ] {
            assert_eq!(prose(text), words, "{text}");
        }
    }

    #[test]
    fn a_mark_that_has_lost_its_partner_goes_and_what_is_no_mark_stays() {
        assert_eq!(prose("…five** of `them"), "…five of them");
        for text in ["2 * 3 is 6", "snake_case_name", "src/*.rs", "a[0](x y)", "[not a link]", "# of it"] {
            let expected = if text == "# of it" { "of it" } else { text };
            assert_eq!(prose(text), expected);
        }
    }

    #[test]
    fn what_a_tool_was_given_and_gave_is_shown_as_it_is() {
        assert_eq!(snippet_words("tool_finished", "# Title\n**x**  `y`"), "# Title **x** `y`");
        assert_eq!(snippet_words("tool_called", "{\"a_b\":\"*\"}"), "{\"a_b\":\"*\"}");
    }

    #[test]
    fn no_text_is_too_odd() {
        for text in ["", "*", "**", "`", "[](", "![", "|", "_", "🦀**🦀**", "[a](", "~~", "```"] {
            for kind in ["message_finished", "tool_finished"] {
                assert!(snippet_words(kind, text).len() <= text.len() + 1, "{text}");
            }
        }
    }
}
