//! Addresses that stand in a text without any markup, as links.

use super::{Inline, MarkupBlock, is_allowed};

/// Where an address begins.
const SCHEMES: [&str; 2] = ["https://", "http://"];

/// The text as it is, with the web addresses in it as links. A full stop or a closing bracket after an address is not
/// part of it.
pub fn bare_links(text: &str) -> Vec<Inline> {
    let mut pieces = Vec::new();
    let mut rest = text;
    let mut plain = 0;
    while let Some(start) = next_address(rest, plain) {
        let end = start + address_len(&rest[start..]);
        let href = &rest[start..end];
        if SCHEMES.contains(&href) || !is_allowed(href) {
            plain = end;
            continue;
        }
        if start > 0 {
            pieces.push(Inline::Text(rest[..start].to_owned()));
        }
        pieces.push(Inline::Link { href: href.to_owned(), content: vec![Inline::Text(href.to_owned())] });
        (rest, plain) = (&rest[end..], 0);
    }
    if !rest.is_empty() {
        pieces.push(Inline::Text(rest.to_owned()));
    }
    pieces
}

/// Where the first address from `from` on begins: not within a word or another address.
fn next_address(text: &str, from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        let start = at + SCHEMES.iter().filter_map(|scheme| text[at..].find(scheme)).min()?;
        match text[..start].chars().next_back().is_some_and(|before| before.is_alphanumeric() || before == ':') {
            true => at = start + 1,
            false => return Some(start),
        }
    }
}

fn address_len(text: &str) -> usize {
    let is_end =
        |letter: char| letter.is_whitespace() || letter.is_control() || matches!(letter, '<' | '>' | '"' | '`');
    let mut address = &text[..text.find(is_end).unwrap_or(text.len())];
    while let Some(last) = address.chars().next_back() {
        let is_open = |open: char, close: char| address.matches(open).count() < address.matches(close).count();
        let is_outside = match last {
            '.' | ',' | ';' | ':' | '!' | '?' | '\'' | '*' | '_' | '~' => true,
            ')' => is_open('(', ')'),
            ']' => is_open('[', ']'),
            '}' => is_open('{', '}'),
            _ => false,
        };
        if !is_outside {
            break;
        }
        address = &address[..address.len() - last.len_utf8()];
    }
    address.len()
}

/// The blocks with the bare addresses of their text as links. Code and links stay as they are.
pub(super) fn with_bare_links(blocks: Vec<MarkupBlock>) -> Vec<MarkupBlock> {
    blocks.into_iter().map(block).collect()
}

fn block(block: MarkupBlock) -> MarkupBlock {
    match block {
        MarkupBlock::Paragraph(content) => MarkupBlock::Paragraph(inlines(content)),
        MarkupBlock::Heading { level, content } => MarkupBlock::Heading { level, content: inlines(content) },
        MarkupBlock::List { start, mut items } => {
            for item in &mut items {
                item.content = with_bare_links(std::mem::take(&mut item.content));
            }
            MarkupBlock::List { start, items }
        }
        MarkupBlock::Quote(content) => MarkupBlock::Quote(with_bare_links(content)),
        MarkupBlock::Table { alignments, head, rows } => {
            let row = |row: Vec<Vec<Inline>>| row.into_iter().map(inlines).collect::<Vec<_>>();
            MarkupBlock::Table { alignments, head: row(head), rows: rows.into_iter().map(row).collect() }
        }
        MarkupBlock::Footnote { name, content } => MarkupBlock::Footnote { name, content: with_bare_links(content) },
        MarkupBlock::Code { .. } | MarkupBlock::Rule => block,
    }
}

fn inlines(content: Vec<Inline>) -> Vec<Inline> {
    let one = |inline: Inline| match inline {
        Inline::Text(text) if SCHEMES.iter().any(|scheme| text.contains(scheme)) => bare_links(&text),
        Inline::Emphasis(content) => vec![Inline::Emphasis(inlines(content))],
        Inline::Strong(content) => vec![Inline::Strong(inlines(content))],
        Inline::Strikethrough(content) => vec![Inline::Strikethrough(inlines(content))],
        inline => vec![inline],
    };
    content.into_iter().flat_map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Links in angle brackets.
    fn marked(text: &str) -> String {
        let piece = |inline: &Inline| match inline {
            Inline::Link { href, .. } => format!("<{href}>"),
            Inline::Text(text) => text.clone(),
            other => format!("{other:?}"),
        };
        bare_links(text).iter().map(piece).collect()
    }

    #[test]
    fn an_address_in_a_sentence_is_a_link_and_what_ends_the_sentence_is_not() {
        for (text, expected) in [
            ("See https://a.b/c.", "See <https://a.b/c>."),
            ("(http://a.b/x_(y)), and", "(<http://a.b/x_(y)>), and"),
            ("https://a.b https://c.d", "<https://a.b> <https://c.d>"),
            ("xhttps://a.b is none", "xhttps://a.b is none"),
            ("https:// is none, nor is http://.", "https:// is none, nor is http://."),
            ("é https://a.b/é!", "é <https://a.b/é>!"),
            ("javascript:alert(1)", "javascript:alert(1)"),
            ("", ""),
        ] {
            assert_eq!(marked(text), expected);
        }
    }

    #[test]
    fn code_and_links_stay_as_they_are() {
        let blocks = super::super::parse("`https://a.b` [x](https://c.d) *https://e.f*");
        let shown = format!("{blocks:?}");
        assert_eq!(shown.matches("Link").count(), 2, "{shown}");
        assert!(shown.contains("Code(\"https://a.b\")"));
    }
}
