//! Parses a command line as shell code, for rules about it: which commands it contains, at any depth.

use std::{
    borrow::Cow,
    ops::ControlFlow,
    time::{Duration, Instant},
};

use tree_sitter::{Node, ParseOptions, ParseState, Parser};

/// A longer text is not parsed: no pattern is matched against it.
const TEXT_BYTES_MAX: usize = 16 * 1024;
/// The time limit for parsing.
const READ_TIME_MAX: Duration = Duration::from_millis(500);

/// In a word it means nothing to a shell.
const STANDS_FOR_ITSELF: char = '%';

/// Syntax nodes that are commands.
const COMMANDS: [&str; 4] = ["command", "declaration_command", "unset_command", "test_command"];

/// The words of each command in a text, at any depth, without their quotes. `None` if the text is no bash command line
/// or could not be parsed in time. Blocks, usually for some milliseconds.
pub fn commands_in(text: &str) -> Option<Vec<Vec<String>>> {
    if text.len() > TEXT_BYTES_MAX {
        return None;
    }
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    let until = Instant::now() + READ_TIME_MAX;
    let mut watch = |_: &ParseState| match Instant::now() < until {
        true => ControlFlow::Continue(()),
        false => ControlFlow::Break(()),
    };
    let options = ParseOptions::new().progress_callback(&mut watch);
    let safe = within_tables(text);
    let bytes = safe.as_bytes();
    let tree = parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options))?;
    let root = tree.root_node();
    (!root.has_error()).then(|| found(root, text))
}

/// The text with every character above U+00FF replaced, byte by byte, by one that stands for itself in a word. The
/// grammar asks C's `isdigit` about characters, which is a table of 256; what lies behind it may not even be mapped.
fn within_tables(text: &str) -> Cow<'_, str> {
    let is_outside = |letter: char| u32::from(letter) > 0xff;
    if !text.contains(is_outside) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match is_outside(letter) {
            true => safe.extend(std::iter::repeat_n(STANDS_FOR_ITSELF, letter.len_utf8())),
            false => safe.push(letter),
        }
    }
    Cow::Owned(safe)
}

/// Walks the tree without recursion, because the text determines its depth.
fn found(root: Node<'_>, text: &str) -> Vec<Vec<String>> {
    let mut commands = Vec::new();
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        if COMMANDS.contains(&node.kind()) {
            commands.push(words(node, text));
        }
        commands.extend(fed(node, text));
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return commands;
            }
        }
    }
}

/// The words of a command; expansions stay as they are written.
fn words(command: Node<'_>, text: &str) -> Vec<String> {
    let mut cursor = command.walk();
    let is_word =
        |node: &Node<'_>| !matches!(node.kind(), "variable_assignment" | "file_redirect" | "herestring_redirect");
    let parts = command.children(&mut cursor).filter(is_word);
    // The grammar takes the `$` of `$"a"` for a word.
    parts.filter_map(|node| text.get(node.byte_range())).filter(|part| *part != "$").map(bare).collect()
}

/// A command with what a here-document or a here-string gives it to read, as its last word: a shell would run it.
fn fed(node: Node<'_>, text: &str) -> Option<Vec<String>> {
    let given = match node.kind() {
        "heredoc_body" => text.get(node.byte_range())?.to_owned(),
        "herestring_redirect" => {
            let last = node.named_children(&mut node.walk()).last()?;
            bare(text.get(last.byte_range())?)
        }
        _ => return None,
    };
    let mut owner = node.parent()?;
    if owner.kind() == "heredoc_redirect" {
        owner = owner.parent()?;
    }
    let command = if COMMANDS.contains(&owner.kind()) { owner } else { owner.child_by_field_name("body")? };
    let mut words = COMMANDS.contains(&command.kind()).then(|| words(command, text))?;
    words.push(given);
    Some(words)
}

/// Without quotes and escapes.
fn bare(word: &str) -> String {
    let mut bare = String::new();
    let (mut quote, mut characters) = (None, word.chars());
    while let Some(character) = characters.next() {
        match (quote, character) {
            (Some(open), close) if open == close => quote = None,
            (None, '\'' | '"') => quote = Some(character),
            // `$'a'` and `$"a"` are quotes, too.
            (None, '$') if characters.as_str().starts_with(['\'', '"']) => (),
            (None | Some('"'), '\\') => bare.extend(characters.next().filter(|next| *next != '\n')),
            (_, plain) => bare.push(plain),
        }
    }
    bare
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_found_however_deep() {
        for (text, names) in [
            ("cargo test", &["cargo"][..]),
            ("a; b && c || d | e & f", &["a", "b", "c", "d", "e", "f"]),
            ("a $(b `c`) \"$(d)\" <(e)", &["a", "b", "c", "d", "e"]),
            ("if a; then b; else c; fi", &["a", "b", "c"]),
            ("f() { a; }; f", &["a", "f"]),
            ("for x in 1; do a; done", &["a"]),
            ("X=1 a", &["a"]),
            ("'a' x > y", &["a"]),
            ("(a; b)", &["a", "b"]),
        ] {
            let found = commands_in(text).unwrap_or_else(|| panic!("{text} is not read"));
            let mut found: Vec<String> = found.into_iter().filter_map(|words| words.into_iter().next()).collect();
            found.sort();
            assert_eq!(found, names, "{text}");
        }
    }

    #[test]
    fn what_a_command_is_given_to_read_is_one_of_its_words() {
        for (text, expected) in [
            ("a b <<<'c d'", &["a", "b", "c d"][..]),
            ("a <<< c", &["a", "c"]),
            ("a b <<E\nc d\nE\n", &["a", "b", "c d\n"]),
            ("a <<'E' >b\nc d\nE", &["a", "c d\n"]),
            ("$'a' $\"b\"", &["a", "b"]),
        ] {
            let found = commands_in(text).unwrap_or_else(|| panic!("{text} is not read"));
            assert!(found.contains(&expected.iter().map(|word| (*word).to_owned()).collect()), "{text}: {found:?}");
        }
    }

    /// Found by fuzzing: these read beyond a table of C's library, which ended the process.
    #[test]
    fn characters_beyond_the_tables_of_c_are_read_as_words() {
        for text in ["say {\u{10fffd}", "say {1..\u{10fffd}}", "say {\u{1f600}..2}", "say \u{4e2d} {\u{4e2d}"] {
            let found = commands_in(text);
            let words: Vec<&str> = text.split(' ').collect();
            assert!(
                found.is_none() || found == Some(vec![words.iter().map(|word| (*word).to_owned()).collect()]),
                "{text}"
            );
        }
        assert_eq!(
            commands_in("say \u{1f600} 'a\u{4e2d}'"),
            Some(vec![vec!["say".to_owned(), "\u{1f600}".to_owned(), "a\u{4e2d}".to_owned()]])
        );
        assert_eq!(commands_in("\u{4e2d} a; \u{1f600}=1 b").map(|found| found.len()), Some(2));
    }

    #[test]
    fn what_is_no_command_line_or_too_long_is_not_read() {
        for text in ["a 'b", "if a", "a && ;", "a (", &"(".repeat(16_000), &"a ".repeat(9_000)] {
            assert_eq!(commands_in(text), None, "{}", &text[..text.len().min(40)]);
        }
    }
}
