//! Parses a command line as shell code, for rules about it: which commands it contains, at any depth.

use std::{
    ops::ControlFlow,
    time::{Duration, Instant},
};

use tree_sitter::{Node, ParseOptions, ParseState, Parser};

/// A longer text is not parsed: no pattern is matched against it.
const TEXT_BYTES_MAX: usize = 16 * 1024;
/// The time limit for parsing.
const READ_TIME_MAX: Duration = Duration::from_millis(500);

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
    let bytes = text.as_bytes();
    let tree = parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options))?;
    let root = tree.root_node();
    (!root.has_error()).then(|| found(root, text))
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
    parts.filter_map(|node| text.get(node.byte_range())).map(bare).collect()
}

/// Without quotes and escapes.
fn bare(word: &str) -> String {
    let mut bare = String::new();
    let (mut quote, mut characters) = (None, word.chars());
    while let Some(character) = characters.next() {
        match (quote, character) {
            (Some(open), close) if open == close => quote = None,
            (None, '\'' | '"') => quote = Some(character),
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
    fn what_is_no_command_line_or_too_long_is_not_read() {
        for text in ["a 'b", "if a", "a && ;", "a (", &"(".repeat(16_000), &"a ".repeat(9_000)] {
            assert_eq!(commands_in(text), None, "{}", &text[..text.len().min(40)]);
        }
    }
}
