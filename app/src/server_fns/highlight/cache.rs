//! A cache of coloured blocks.

use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    sync::Arc,
};

use super::{CodeText, Run};

/// How many blocks are kept; the least recently used goes first.
const BLOCKS_KEPT: usize = 512;
/// How many runs are kept over all blocks, at 8 bytes each.
const RUNS_KEPT: usize = 500_000;

#[derive(Debug)]
struct Kept {
    runs: Arc<[Run]>,
    /// When it was last used, in steps of [`Cache::clock`].
    asked: u64,
}

/// Keyed by a hash that is seeded per process. A colliding text is detected by its length, which the runs add up to.
#[derive(Debug, Default)]
pub(super) struct Cache {
    hasher: RandomState,
    kept: HashMap<u64, Kept>,
    runs: usize,
    clock: u64,
}

impl Cache {
    pub(super) fn get(&mut self, code: &CodeText) -> Option<Arc<[Run]>> {
        self.clock += 1;
        let kept = self.kept.get_mut(&self.hasher.hash_one(code))?;
        kept.asked = self.clock;
        let is_plain = kept.runs.is_empty();
        let bytes: usize = kept.runs.iter().map(|run| run.1 as usize).sum();
        (is_plain || bytes == code.text.len()).then(|| kept.runs.clone())
    }

    pub(super) fn put(&mut self, code: &CodeText, runs: Arc<[Run]>) {
        self.clock += 1;
        self.runs += runs.len();
        let kept = Kept { runs, asked: self.clock };
        if let Some(before) = self.kept.insert(self.hasher.hash_one(code), kept) {
            self.runs -= before.runs.len();
        }
        while self.kept.len() > BLOCKS_KEPT || self.runs > RUNS_KEPT {
            let Some(oldest) = self.kept.iter().min_by_key(|(_, kept)| kept.asked).map(|(key, _)| *key) else { break };
            if let Some(gone) = self.kept.remove(&oldest) {
                self.runs -= gone.runs.len();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> CodeText {
        CodeText { language: "rust".to_owned(), text: text.to_owned() }
    }

    fn runs(count: usize) -> Arc<[Run]> {
        vec![Run(1, 1); count].into()
    }

    #[test]
    fn what_was_asked_for_lately_stays_and_the_rest_goes() {
        let mut cache = Cache::default();
        for number in 0..BLOCKS_KEPT {
            cache.put(&code(&format!("{number:04}")), runs(4));
        }
        assert!(cache.get(&code("0000")).is_some());
        cache.put(&code("more"), runs(4));
        assert!(cache.get(&code("0000")).is_some() && cache.get(&code("0001")).is_none());
        assert_eq!((cache.kept.len(), cache.runs), (BLOCKS_KEPT, BLOCKS_KEPT * 4));
    }

    #[test]
    fn many_runs_take_the_place_of_many_blocks() {
        let mut cache = Cache::default();
        for number in 0..10 {
            cache.put(&code(&format!("{number}{}", "x".repeat(99_999))), runs(100_000));
        }
        assert_eq!((cache.kept.len(), cache.runs), (5, 500_000));
        cache.put(&code("x"), runs(1));
        cache.put(&code("x"), runs(1));
        assert_eq!(cache.runs, 400_001);
    }
}
