//! The state of a folder: each file with the hash of its content, and what the disk says of it.

use std::{collections::BTreeMap, fmt::Write as _};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A NUL within this many bytes makes a content binary.
const BINARY_HEAD_BYTES: usize = 8 * 1024;

/// Files by path.
pub type Tree = BTreeMap<String, Entry>;

/// A file, or a symbolic link, whose content is then what it names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// SHA-256 of the content, as 64 hex digits; `None` if the content was not read, because there is too much of it.
    #[serde(rename = "h", default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// Where the content is kept; `None` if it is not.
    #[serde(rename = "a", default, skip_serializing_if = "Option::is_none")]
    pub kept_at: Option<u64>,
    /// Bytes.
    #[serde(rename = "n")]
    pub size: u64,
    #[serde(rename = "l", default, skip_serializing_if = "std::ops::Not::not")]
    pub is_link: bool,
    #[serde(rename = "x", default, skip_serializing_if = "std::ops::Not::not")]
    pub is_executable: bool,
    /// Who may do what with it, as the lowest nine bits of its mode; `None`: an older snapshot did not note it.
    #[serde(rename = "p", default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
    #[serde(rename = "s")]
    pub stamp: Stamp,
}

/// What the disk says of a file: as long as this stays the same, so does the content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    #[serde(rename = "i")]
    pub inode: u64,
    /// Nanoseconds since 1970.
    #[serde(rename = "m")]
    pub modified: i64,
    /// The same; 0 if the file was changed at the very moment at which it was looked at, so that it has to be read again.
    #[serde(rename = "c")]
    pub changed: i64,
}

impl Entry {
    /// Whether this is the same file as far as a review is concerned, which shows contents and what can be run.
    pub fn is_same(&self, other: &Self) -> bool {
        let same_content = match (&self.hash, &other.hash) {
            (Some(one), Some(other)) => one == other,
            (None, None) => {
                let of = |entry: &Self| (entry.size, entry.stamp.inode, entry.stamp.modified);
                of(self) == of(other)
            }
            _ => false,
        };
        same_content && self.is_link == other.is_link && self.is_executable == other.is_executable
    }

    /// Stands for this content and mode, towards clients.
    pub fn version(&self) -> String {
        let mode = if self.is_executable { "x" } else { "" };
        match &self.hash {
            Some(hash) => format!("{hash}{mode}"),
            None => format!("{}-{}-{}{mode}", self.size, self.stamp.inode, self.stamp.modified),
        }
    }
}

/// The paths at which two states differ, with both sides, by path.
pub fn differing<'a>(old: &'a Tree, new: &'a Tree) -> BTreeMap<&'a str, (Option<&'a Entry>, Option<&'a Entry>)> {
    let gone = old.iter().filter(|(path, _)| !new.contains_key(*path)).map(|(path, entry)| (path, (Some(entry), None)));
    let other = new.iter().filter_map(|(path, now)| match old.get(path) {
        Some(before) if before.is_same(now) => None,
        before => Some((path, (before, Some(now)))),
    });
    gone.chain(other).map(|(path, sides)| (path.as_str(), sides)).collect()
}

/// SHA-256 as 64 hex digits.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut hex, byte| {
        write!(hex, "{byte:02x}").expect("a string takes everything");
        hex
    })
}

/// The content as text; `None` if it is none.
pub fn is_text(bytes: &[u8]) -> Option<&str> {
    match bytes.iter().take(BINARY_HEAD_BYTES).any(|byte| *byte == 0) {
        true => None,
        false => str::from_utf8(bytes).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(content: &str) -> Entry {
        Entry {
            hash: Some(sha256(content.as_bytes())),
            kept_at: None,
            size: content.len() as u64,
            is_link: false,
            is_executable: false,
            mode: None,
            stamp: Stamp { inode: 1, modified: 2, changed: 3 },
        }
    }

    #[test]
    fn what_differs_is_content_and_mode_and_not_the_stamp() {
        let tree = |entries: &[(&str, Entry)]| -> Tree {
            entries.iter().map(|(path, entry)| ((*path).to_owned(), entry.clone())).collect()
        };
        let touched = Entry { stamp: Stamp { inode: 9, modified: 9, changed: 9 }, ..entry("same") };
        let run = Entry { is_executable: true, ..entry("same") };
        let old = tree(&[("a", entry("same")), ("b", entry("same")), ("gone", entry("x")), ("c", entry("1"))]);
        let new = tree(&[("a", touched), ("b", run), ("c", entry("2")), ("new", entry("x"))]);
        assert_eq!(differing(&old, &new).into_keys().collect::<Vec<_>>(), ["b", "c", "gone", "new"]);
        assert_eq!(differing(&new, &new).len(), 0);
    }

    #[test]
    fn an_entry_of_an_older_snapshot_is_read_without_its_mode() {
        let json = serde_json::to_string(&Entry { mode: Some(0o600), ..entry("x") }).unwrap();
        assert_eq!(serde_json::from_str::<Entry>(&json).unwrap().mode, Some(0o600));
        let older = json.replace(",\"p\":384", "");
        assert_eq!(serde_json::from_str::<Entry>(&older).unwrap(), entry("x"), "{older}");
    }

    #[test]
    fn a_file_that_was_not_read_is_the_same_as_long_as_the_disk_says_so() {
        let large = Entry { hash: None, ..entry("x") };
        assert!(large.is_same(&large.clone()));
        assert!(!large.is_same(&Entry { stamp: Stamp { inode: 1, modified: 3, changed: 3 }, ..large.clone() }));
        assert!(!large.is_same(&entry("x")));
    }
}
