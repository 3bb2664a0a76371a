//! Counts attacks and collects the names of those that got through.

use std::{collections::BTreeSet, io::Write};

/// The attacks on one wall.
pub(crate) struct Tally {
    wall: &'static str,
    tried: BTreeSet<String>,
    through: Vec<String>,
}

impl Tally {
    pub(crate) fn of(wall: &'static str) -> Self {
        Self { wall, tried: BTreeSet::new(), through: Vec::new() }
    }

    /// Records one attack. `through` says what it reached; none if the wall held.
    pub(crate) fn note(&mut self, attack: &str, through: Option<String>) {
        assert!(self.tried.insert(attack.to_owned()), "two attacks are called \"{attack}\"");
        if let Some(reached) = through {
            self.through.push(format!("{attack}: {reached}"));
        }
    }

    /// Prints the count. Panics with the names of the attacks that got through, or if fewer than `least` were tried.
    pub(crate) fn finish(self, least: usize) {
        // Bypasses the test harness, which would show it only for a failed test. Nobody may be reading.
        let counted = format!("{}: {} attacks, {} through\n", self.wall, self.tried.len(), self.through.len());
        let _ = std::io::stderr().write_all(counted.as_bytes());
        assert!(self.through.is_empty(), "{} does not hold:\n{}", self.wall, self.through.join("\n"));
        assert!(self.tried.len() >= least, "{}: {} attacks, and {least} are wanted", self.wall, self.tried.len());
    }
}
