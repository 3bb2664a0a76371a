//! What happened, line by line.

use std::{collections::VecDeque, fmt::Display, fs::File, io::Write, path::Path};

use sha2::{Digest, Sha256};

/// How many of the last lines a failing day shows.
const SHOWN_MAX: usize = 60;

/// The log of a day: its hash, its last lines, and if asked for, all of it in a file.
#[derive(Debug, Default)]
pub(crate) struct Log {
    hash: Sha256,
    lines: u64,
    last: VecDeque<String>,
    file: Option<File>,
}

impl Log {
    /// Also writes all lines to a file.
    pub(crate) fn into_file(path: Option<&Path>) -> std::io::Result<Self> {
        Ok(Self { file: path.map(File::create).transpose()?, ..Self::default() })
    }

    pub(crate) fn write(&mut self, millis: u128, who: &str, what: impl Display) {
        let line = format!("{millis:>7} {who}: {what}");
        self.hash.update(line.as_bytes());
        self.hash.update(b"\n");
        self.lines += 1;
        if let Some(file) = &mut self.file {
            // The log is for whoever looks for a mistake; the day counts without it.
            let _ = writeln!(file, "{line}");
        }
        if self.last.len() == SHOWN_MAX {
            self.last.pop_front();
        }
        self.last.push_back(line);
    }

    pub(crate) fn lines(&self) -> u64 {
        self.lines
    }

    /// The hash of all lines, in hex.
    pub(crate) fn hash(&self) -> String {
        hex(&self.hash.clone().finalize())
    }

    pub(crate) fn last(&self) -> Vec<String> {
        self.last.iter().cloned().collect()
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
