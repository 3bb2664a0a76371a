//! Formulas in a text: `$x$`, `$$x$$`, `\(x\)`, `\[x\]`. What could as well be a price, a variable of a shell or an
//! escaped bracket is none.
//!
//! A formula lies within one paragraph, heading, item or cell, and nothing in it is Markdown. It is found where the
//! Markdown has text, so never in code, and put under a mask for the actual parse.

use std::ops::Range;

use pulldown_cmark::{Event, Tag, TagEnd};

use super::{Formula, parser};

/// A longer formula is text, in bytes.
const FORMULA_BYTES_MAX: usize = 4 * 1024;
/// Stands for each byte of a formula while the Markdown is parsed: neither space nor punctuation.
const MASK: u8 = 0x1a;

/// A text with its formulas.
#[derive(Debug)]
pub(super) struct Masked {
    /// Of the same length as the original.
    pub(super) text: String,
    /// In order, without overlaps.
    pub(super) places: Vec<(Range<usize>, Formula)>,
}

/// The text without its formulas, and these; `None` if it has none.
pub(super) fn masked(text: &str) -> Option<Masked> {
    let has_any = text.contains("\\(") || text.contains("\\[") || text.matches('$').nth(1).is_some();
    let places = if has_any { places(text) } else { Vec::new() };
    if places.is_empty() {
        return None;
    }
    let mut bytes = text.as_bytes().to_vec();
    places.iter().for_each(|(range, _)| bytes[range.clone()].fill(MASK));
    let text = String::from_utf8(bytes).expect("whole characters were replaced by ASCII");
    Some(Masked { text, places })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Dollar,
    Dollars,
    Open,
    Close,
    OpenDisplay,
    CloseDisplay,
}

/// What may begin or end a formula, and where it stands.
#[derive(Debug, Clone, Copy)]
struct Sign {
    kind: Kind,
    at: usize,
}

impl Sign {
    fn end(self) -> usize {
        self.at + if self.kind == Kind::Dollar { 1 } else { 2 }
    }

    fn is_ended_by(self, other: Self) -> bool {
        match self.kind {
            Kind::Dollar | Kind::Dollars => other.kind == self.kind,
            Kind::Open => other.kind == Kind::Close,
            Kind::OpenDisplay => other.kind == Kind::CloseDisplay,
            Kind::Close | Kind::CloseDisplay => false,
        }
    }
}

fn places(text: &str) -> Vec<(Range<usize>, Formula)> {
    let (mut places, mut signs) = (Vec::new(), Vec::new());
    let mut is_code = false;
    // Where the text before ended: a backslash in it is text, and none before it that escapes.
    let mut text_end = 0;
    for (event, range) in parser(text).into_offset_iter() {
        match event {
            Event::Text(_) if !is_code => {
                signs_in(text, range.clone(), text_end, &mut signs);
                text_end = range.end;
            }
            Event::Start(Tag::CodeBlock(_)) => is_code = true,
            Event::End(TagEnd::CodeBlock) => is_code = false,
            event if is_within_a_line(&event) => (),
            _ => pair(text, &mut signs, &mut places),
        }
    }
    pair(text, &mut signs, &mut places);
    places
}

fn is_within_a_line(event: &Event<'_>) -> bool {
    match event {
        Event::Start(tag) => {
            matches!(tag, Tag::Emphasis | Tag::Strong | Tag::Strikethrough | Tag::Link { .. } | Tag::Image { .. })
        }
        Event::End(tag) => {
            matches!(tag, TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Link | TagEnd::Image)
        }
        Event::Html(_) | Event::Rule => false,
        _ => true,
    }
}

/// The signs in a piece of text. Its first character is escaped if a backslash stands before it.
fn signs_in(text: &str, range: Range<usize>, text_end: usize, signs: &mut Vec<Sign>) {
    let bytes = text.as_bytes();
    let mut at = range.start;
    let is_escaped = at > 0 && at != text_end && bytes[at - 1] == b'\\';
    if is_escaped && at < range.end {
        let kind = match bytes[at] {
            b'(' => Some(Kind::Open),
            b')' => Some(Kind::Close),
            b'[' => Some(Kind::OpenDisplay),
            b']' => Some(Kind::CloseDisplay),
            _ => None,
        };
        signs.extend(kind.map(|kind| Sign { kind, at: at - 1 }));
        at += 1;
    }
    while let Some(offset) = text.get(at..range.end).and_then(|rest| rest.find('$')) {
        at += offset;
        let count = bytes[at..range.end].iter().take_while(|byte| **byte == b'$').count();
        match count {
            1 => signs.push(Sign { kind: Kind::Dollar, at }),
            2 => signs.push(Sign { kind: Kind::Dollars, at }),
            _ => (),
        }
        at += count;
    }
}

/// Takes the signs of a paragraph, and adds the formulas between them.
fn pair(text: &str, signs: &mut Vec<Sign>, places: &mut Vec<(Range<usize>, Formula)>) {
    let mut rest = signs.as_slice();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        let Some(last) = after.iter().position(|sign| first.is_ended_by(*sign)) else { continue };
        if is_formula(text, *first, after[last]) {
            let range = first.at..after[last].end();
            let is_display = matches!(first.kind, Kind::Dollars | Kind::OpenDisplay);
            places.push((range.clone(), Formula { source: unquoted(&text[range]), is_display }));
            rest = &after[last + 1..];
        }
    }
    signs.clear();
}

fn is_formula(text: &str, first: Sign, last: Sign) -> bool {
    let content = &text[first.end()..last.at];
    let is_fit = !content.trim().is_empty() && content.len() <= FORMULA_BYTES_MAX && !content.contains('`');
    if !is_fit || first.kind != Kind::Dollar {
        return is_fit;
    }
    // As in other programs that read such formulas.
    let is_apart = |letter: Option<char>| letter.is_none_or(|letter| !letter.is_alphanumeric() && letter != '$');
    is_apart(text[..first.at].chars().next_back())
        && is_apart(text[last.end()..].chars().next())
        && !content.starts_with(char::is_whitespace)
        && !content.ends_with(|letter: char| letter.is_whitespace() || letter == '\\')
        && !content.contains('$')
        && !is_price(content)
}

/// "5, or 10" stands between two prices; a formula that begins with a figure has a sign in it, or no space.
fn is_price(content: &str) -> bool {
    let is_figure = content.starts_with(|letter: char| letter.is_ascii_digit() || letter == '.');
    is_figure && content.contains(char::is_whitespace) && !content.contains(['\\', '^', '_', '=', '{', '+', '<', '>'])
}

/// Without the marks and spaces with which lines of a quotation or of an item begin.
fn unquoted(source: &str) -> String {
    let mut lines = source.lines();
    let first = lines.next().unwrap_or_default().to_owned();
    lines.fold(first, |text, line| format!("{text}\n{}", line.trim_start_matches([' ', '\t', '>'])))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let masked = masked(text);
        masked.iter().for_each(|masked| assert_eq!(masked.text.len(), text.len()));
        let places = masked.map(|masked| masked.places).unwrap_or_default();
        places.into_iter().map(|(_, formula)| formula.source).collect()
    }

    #[test]
    fn formulas_are_found_in_each_of_their_forms() {
        for (text, formulas) in [
            ("Let $x_1$ and $y$.", &["$x_1$", "$y$"][..]),
            (r"\(a\) and \[b\]", &[r"\(a\)", r"\[b\]"]),
            ("So\n$$\na * b * c\n$$\nholds", &["$$\na * b * c\n$$"]),
            (r"\[ \sum_{i} a_i \\ b \]", &[r"\[ \sum_{i} a_i \\ b \]"]),
            ("- $a$\n- b $c$", &["$a$", "$c$"]),
            ("> \\[\n> a\n> \\]", &["\\[\na\n\\]"]),
            ("| $a$ | b |\n|---|---|\n| c | $d$ |", &["$a$", "$d$"]),
            ("*$x$* **Note** $2 + 3 = 5$ and $5$", &["$x$", "$2 + 3 = 5$", "$5$"]),
            ("($n$-th), \"$m$\"", &["$n$", "$m$"]),
            (r"\(a\)", &[r"\(a\)"]),
        ] {
            assert_eq!(found(text), formulas, "{text}");
        }
    }

    #[test]
    fn prices_variables_code_and_what_is_escaped_are_none() {
        for text in [
            "$5 and $10",
            "between $5 and 10$",
            "$5, or 10$ more",
            "US$5 or A$6",
            "$HOME/$USER and $PATH:$HOME",
            "`$x$` and `\\(a\\)`",
            "```\n$x$\n\\[a\\]\n```",
            "    $x$\n",
            r"\$x\$ and $y\$",
            r"\\(a\\)",
            r"\\[a\\]",
            "$ x $",
            "$$ $$",
            "$$$x$$$",
            "$a\n\nb$",
            r"\(a",
            r"a\)",
            r"\(a\]",
            "$a `b` c$",
            "$a",
        ] {
            assert_eq!(found(text), Vec::<String>::new(), "{text}");
        }
        assert_eq!(found(&format!("${}$", "x".repeat(FORMULA_BYTES_MAX + 1))), Vec::<String>::new());
    }
}
