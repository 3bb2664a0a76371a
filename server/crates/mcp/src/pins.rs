//! Remembers how each tool was defined when it was accepted, that is, when it was first seen or when a person last
//! allowed a call of it. A tool whose definition has changed since then needs a person's permission, whatever the rules
//! say.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use crate::private_file;

/// The number of tools that are remembered, over all servers.
const PINS_MAX: usize = 10_000;

/// The digests of tool definitions, by the names that models use.
#[derive(Debug, Default)]
pub(crate) struct Pins {
    file: Option<PathBuf>,
    pins: Mutex<BTreeMap<String, String>>,
    /// The current definitions, as far as they were seen since the start.
    seen: Mutex<BTreeMap<String, String>>,
}

impl Pins {
    /// Reads the accepted definitions if the file is readable. Without a file they are forgotten at exit.
    pub(crate) fn open(file: Option<PathBuf>) -> Self {
        let pins = file.as_ref().and_then(|file| private_file::read(file)).unwrap_or_default();
        Self { file, pins: Mutex::new(pins), seen: Mutex::default() }
    }

    /// Returns whether the tool differs from the one that was accepted.
    pub(crate) fn is_changed(&self, tool: &str, digest: &str) -> bool {
        let pins = self.pins.lock().unwrap_or_else(PoisonError::into_inner);
        pins.get(tool).is_some_and(|accepted| accepted != digest)
    }

    /// Accepts the tools that were never seen before.
    pub(crate) fn meet<'a>(&self, tools: impl Iterator<Item = (&'a str, &'a str)>) {
        let mut pins = self.pins.lock().unwrap_or_else(PoisonError::into_inner);
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let before = pins.len();
        for (tool, digest) in tools {
            if seen.len() < PINS_MAX || seen.contains_key(tool) {
                seen.insert(tool.to_owned(), digest.to_owned());
            }
            if pins.len() < PINS_MAX && !pins.contains_key(tool) {
                pins.insert(tool.to_owned(), digest.to_owned());
            }
        }
        if pins.len() > before {
            self.keep(&pins);
        }
    }

    /// Accepts a tool as it was last seen, even if its server is gone by now: while a person is asked, the Pod rests.
    pub(crate) fn accept(&self, tool: &str) {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner).get(tool).cloned();
        let Some(digest) = seen else { return };
        let mut pins = self.pins.lock().unwrap_or_else(PoisonError::into_inner);
        if pins.get(tool).is_none_or(|accepted| *accepted != digest) {
            pins.insert(tool.to_owned(), digest);
            self.keep(&pins);
        }
    }

    fn keep(&self, pins: &BTreeMap<String, String>) {
        let Some(file) = &self.file else { return };
        if let Err(error) = private_file::write(file, pins) {
            tracing::warn!(%error, "what was accepted of MCP servers cannot be written down");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_was_accepted_is_known_the_next_time() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mcp.json");
        let pins = Pins::open(Some(file.clone()));
        pins.meet([("a__x", "1"), ("a__y", "1")].into_iter());
        assert!(!pins.is_changed("a__x", "1"));
        assert!(pins.is_changed("a__x", "2"));
        pins.meet([("a__x", "2")].into_iter());
        assert!(pins.is_changed("a__x", "2"), "seeing it is not accepting it");
        pins.accept("a__x");
        pins.accept("a__never_seen");
        let again = Pins::open(Some(file.clone()));
        assert!(!again.is_changed("a__x", "2") && again.is_changed("a__x", "1"));
        again.accept("a__x");
        assert!(!again.is_changed("a__x", "2"), "what was not seen since the start is not accepted again");
        assert!(!again.is_changed("a__new", "1"), "the first time it is taken as it is");
        let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&file).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
    }
}
