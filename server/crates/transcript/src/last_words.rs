//! What a Pod said last, in a sentence or two of its own. Never made up: words of its answer, without markup.

use crate::markup::{Inline, MarkupBlock, inline_text, parse};

/// The end of an answer: as many whole sentences of its last paragraph as fit into `most` characters, at least one,
/// which is cut if it alone is longer. Empty for an answer without words.
pub fn last_words(answer: &str, most: usize) -> String {
    let paragraph = parse(answer).iter().rev().find_map(paragraph_of).unwrap_or_default();
    let paragraph = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut from = paragraph.len();
    for start in sentence_starts(&paragraph).into_iter().rev() {
        if from < paragraph.len() && paragraph[start..].chars().count() > most {
            break;
        }
        from = start;
    }
    let said = &paragraph[from..];
    match said.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", said[..end].trim_end()),
        None => said.to_owned(),
    }
}

/// The last paragraph in a block, as text.
fn paragraph_of(block: &MarkupBlock) -> Option<String> {
    let text = |content: &[Inline]| Some(inline_text(content)).filter(|text| !text.trim().is_empty());
    match block {
        MarkupBlock::Paragraph(content) | MarkupBlock::Heading { content, .. } => text(content),
        MarkupBlock::List { items, .. } => {
            items.iter().rev().find_map(|item| item.content.iter().find_map(paragraph_of))
        }
        MarkupBlock::Quote(content) => content.iter().rev().find_map(paragraph_of),
        MarkupBlock::Code { .. } | MarkupBlock::Table { .. } | MarkupBlock::Rule | MarkupBlock::Footnote { .. } => None,
    }
}

/// Where sentences begin: after a full stop or its like, a space, and a capital letter or a digit.
fn sentence_starts(text: &str) -> Vec<usize> {
    let mut starts = vec![0];
    let mut letters = text.char_indices().peekable();
    let mut before = ' ';
    while let Some((at, letter)) = letters.next() {
        let is_new = letters.peek().is_some_and(|(_, next)| !next.is_lowercase() && next.is_alphanumeric());
        if letter == ' ' && matches!(before, '.' | '!' | '?' | '…') && is_new {
            starts.push(at + 1);
        }
        before = letter;
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::last_words;

    #[test]
    fn the_last_sentences_are_whole_and_without_markup() {
        let answer = "# Title\n\nFirst paragraph.\n\nFound `it` in v1.2 of a.rs. **Fixed** it. All 24 tests pass.\n\n```sh\nls\n```\n";
        assert_eq!(last_words(answer, 200), "Found it in v1.2 of a.rs. Fixed it. All 24 tests pass.");
        assert_eq!(last_words(answer, 35), "Fixed it. All 24 tests pass.");
        assert_eq!(last_words(answer, 8), "All 24 t…");
        assert_eq!(last_words("- one\n- two\n", 50), "two");
        for empty in ["", "```\nx\n```", "---"] {
            assert_eq!(last_words(empty, 50), "");
        }
    }
}
