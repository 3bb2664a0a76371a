//! Removes what must not reach a client: the paths of sockets.

use std::path::Path;

use protocol::{ControlEvent, TurnEvent};
use serde_json::{Map, Value};

use crate::values;

/// Replaces a path.
const HIDDEN: &str = "(a socket)";
/// An unknown event is shown up to this size, in bytes of JSON.
const UNKNOWN_BYTES_MAX: usize = 64 * 1024;
/// The longest text of one record, in bytes.
pub(crate) const TEXT_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Removes paths into the sockets' folder from what Pods say.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scrub {
    folders: Vec<String>,
}

impl Scrub {
    /// Recognizes `folder` both as given and as resolved by the kernel.
    pub(crate) fn new(folder: &Path) -> Self {
        let names = [Some(folder.to_owned()), std::fs::canonicalize(folder).ok()];
        let mut folders: Vec<String> =
            names.into_iter().flatten().filter_map(|path| path.into_os_string().into_string().ok()).collect();
        folders.dedup();
        Self { folders }
    }

    /// Scrubs a text about the Pod itself: removes every path of a socket.
    pub(crate) fn said(&self, text: &str) -> String {
        self.without(text, |word| is_socket(word) || self.is_ours(word))
    }

    /// Scrubs a tool's text: a socket elsewhere is the tool's own business, one in this folder is not.
    pub(crate) fn found(&self, text: &str) -> String {
        match self.folders.iter().any(|folder| text.contains(folder.as_str())) {
            true => self.without(text, |word| is_socket(word) && self.is_ours(word)),
            false => cut(text),
        }
    }

    fn is_ours(&self, word: &str) -> bool {
        self.folders.iter().any(|folder| word.starts_with(folder.as_str()))
    }

    fn without(&self, text: &str, is_hidden: impl Fn(&str) -> bool) -> String {
        let mut left = String::with_capacity(text.len());
        for piece in text.split_inclusive(ends_word) {
            let word = piece.trim_end_matches(ends_word);
            let trimmed = word.trim_end_matches(['.', ':']);
            let from = trimmed.find('/').unwrap_or(trimmed.len());
            match is_hidden(&trimmed[from..]) {
                true => {
                    left.push_str(&piece[..from]);
                    left.push_str(HIDDEN);
                    left.push_str(&piece[trimmed.len()..]);
                }
                false => left.push_str(piece),
            }
        }
        cut(&left)
    }

    /// An unknown event or entry, with its kind and fields.
    pub(crate) fn unknown(&self, kind: &str, fields: &Value) -> Map<String, Value> {
        let kind: String = kind.chars().filter(|letter| !letter.is_control()).take(64).collect();
        // It must not look like a record made by yoi.
        let is_taken = TurnEvent::KINDS.contains(&kind.as_str()) || ControlEvent::KINDS.contains(&kind.as_str());
        let kind = if is_taken { format!("older_{kind}") } else { kind };
        let mut map = Map::from_iter([("kind".to_owned(), Value::String(kind))]);
        let is_large = fields.to_string().len() > UNKNOWN_BYTES_MAX;
        match self.clean(fields) {
            _ if is_large => drop(map.insert("detail".to_owned(), "it is too large to be shown".into())),
            Value::Object(fields) => {
                for (name, value) in fields {
                    let name = if name == "kind" { "data_kind".to_owned() } else { name };
                    map.insert(name, value);
                }
            }
            Value::Null => (),
            other => drop(map.insert("data".to_owned(), other)),
        }
        map
    }

    fn clean(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.said(text)),
            Value::Array(items) => items.iter().map(|item| self.clean(item)).collect(),
            Value::Object(fields) => {
                let fields = fields.iter().filter(|(name, _)| !name.to_lowercase().contains("socket"));
                Value::Object(fields.map(|(name, value)| (name.clone(), self.clean(value))).collect())
            }
            other => other.clone(),
        }
    }
}

fn ends_word(letter: char) -> bool {
    letter.is_whitespace()
        || matches!(letter, '"' | '\'' | '`' | ',' | ';' | '(' | ')' | '[' | ']' | '{' | '}' | '<' | '>')
}

fn is_socket(path: &str) -> bool {
    path.starts_with('/') && (path.ends_with("/sock") || path.ends_with(".sock"))
}

/// Truncates a text that is too long for a record.
pub(crate) fn cut(text: &str) -> String {
    if text.len() <= TEXT_BYTES_MAX {
        return text.to_owned();
    }
    let end = (0..=TEXT_BYTES_MAX).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
    format!("{}… ({} more bytes are left out)", &text[..end], text.len() - end)
}

/// The arguments of a call: JSON, or the text itself if it is not JSON.
pub(crate) fn arguments(text: &str) -> Value {
    match text.trim() {
        "" => Value::Object(Map::new()),
        text => values::read(text.as_bytes()).unwrap_or_else(|_| Value::String(cut(text))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn no_path_of_a_socket_is_left_and_all_else_is() {
        let scrub = Scrub { folders: vec!["/run/pods".to_owned()] };
        let table = [
            ("cannot reach /run/pods/bob/sock: refused", "cannot reach (a socket): refused"),
            ("at `/elsewhere/bob.sock`.", "at `(a socket)`."),
            ("unix:/run/pods/ada.sock is gone", "unix:(a socket) is gone"),
            ("in /run/pods/ada/bash-output", "in (a socket)"),
            ("read /home/ada/notes.md, please", "read /home/ada/notes.md, please"),
        ];
        for (said, shown) in table {
            assert_eq!(scrub.said(said), shown);
        }
        let found = "{\"socket_path\":\"/run/pods/ada/sock\",\"docker\":\"/var/run/docker.sock\"}";
        assert_eq!(scrub.found(found), "{\"socket_path\":\"(a socket)\",\"docker\":\"/var/run/docker.sock\"}");
    }

    #[test]
    fn what_nobody_knows_keeps_its_fields_and_passes_for_nothing_else() {
        let scrub = Scrub::default();
        let fields = json!({ "kind": "x", "n": 1, "live": { "socket_path": "/a/sock", "at": "/b/sock" } });
        let shown = json!({ "kind": "novel", "data_kind": "x", "n": 1, "live": { "at": "(a socket)" } });
        assert_eq!(Value::Object(scrub.unknown("novel", &fields)), shown);
        let forged = json!({ "peer": "bob" });
        assert_eq!(scrub.unknown("peer_linked", &forged)["kind"], "older_peer_linked");
        assert_eq!(Value::Object(scrub.unknown("bare", &Value::Null)), json!({ "kind": "bare" }));
        let large = json!({ "text": "x".repeat(UNKNOWN_BYTES_MAX) });
        assert!(scrub.unknown("large", &large).get("text").is_none());
    }

    #[test]
    fn a_text_that_is_too_long_is_cut_where_a_letter_begins() {
        let long = "é".repeat(TEXT_BYTES_MAX);
        let short = cut(&long);
        assert!(short.len() < TEXT_BYTES_MAX + 100 && short.ends_with("left out)"));
        assert_eq!(cut("short"), "short");
    }
}
