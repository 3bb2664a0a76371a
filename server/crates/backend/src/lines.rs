//! What is known of the lines to other servers' stores: whether each is up, and since when.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use jiff::Timestamp;
use tokio::{sync::watch, time::Instant};

/// A server that says nothing for this long beyond the longest wait is away.
const SILENCE_MAX: Duration = Duration::from_secs(5);

/// One that hung up is away after this long.
const GONE_MAX: Duration = Duration::from_secs(3);

/// What is known of lines, in memory. Cloning shares it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lines(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    lines: Mutex<HashMap<String, Line>>,
    /// Moves when a line comes up or goes down.
    changed: watch::Sender<()>,
}

/// One line, by the store at its other end.
#[derive(Debug, Clone, Copy)]
struct Line {
    is_up: bool,
    since: Timestamp,
    /// When it counts as down unless something is heard.
    good_until: Instant,
}

impl Lines {
    fn lines(&self) -> MutexGuard<'_, HashMap<String, Line>> {
        self.0.lines.lock().expect("no holder of the lines panics")
    }

    /// Something was heard; the next word is due within `wait`.
    pub(crate) fn heard(&self, store: &str, wait: Duration) -> Asking<'_> {
        let good_until = Instant::now() + wait + SILENCE_MAX;
        let was_up = {
            let mut lines = self.lines();
            let line = Line { is_up: true, since: Timestamp::now(), good_until };
            let known = lines.entry(store.to_owned()).or_insert(Line { is_up: false, ..line });
            let was_up = known.is_up;
            *known = Line { since: if was_up { known.since } else { line.since }, ..line };
            was_up
        };
        if !was_up {
            self.0.changed.send_replace(());
        }
        Asking { lines: self, store: store.to_owned() }
    }

    /// It does not answer.
    pub(crate) fn lost(&self, store: &str) {
        let was_up = self.lines().get_mut(store).is_some_and(|line| {
            let was_up = line.is_up;
            if was_up {
                (line.is_up, line.since) = (false, Timestamp::now());
            }
            was_up
        });
        if was_up {
            self.0.changed.send_replace(());
        }
    }

    /// Whether it is up, and since when it is so.
    pub(crate) fn state(&self, store: &str) -> (bool, Option<Timestamp>) {
        match self.lines().get(store) {
            Some(line) => (line.is_up, Some(line.since)),
            None => (false, None),
        }
    }

    /// Nothing is known of a line any more.
    pub(crate) fn forget(&self, store: &str) {
        self.lines().remove(store);
    }

    pub(crate) fn watch(&self) -> watch::Receiver<()> {
        self.0.changed.subscribe()
    }

    /// Lines whose other end has fallen silent go down. The next one that may is due then, if there is one.
    pub(crate) fn check_silence(&self) -> Option<Instant> {
        let now = Instant::now();
        let silent: Vec<String> = {
            let lines = self.lines();
            lines.iter().filter(|(_, line)| line.is_up && line.good_until <= now).map(|(id, _)| id.clone()).collect()
        };
        silent.iter().for_each(|store| self.lost(store));
        self.lines().values().filter(|line| line.is_up).map(|line| line.good_until).min()
    }
}

/// Somebody waits for an answer. Let go of before it was given: the other side is gone, and comes back soon or not at all.
pub(crate) struct Asking<'a> {
    lines: &'a Lines,
    store: String,
}

impl Asking<'_> {
    pub(crate) fn answered(mut self) {
        self.store.clear();
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        if let Some(line) = self.lines.lines().get_mut(&self.store) {
            line.good_until = line.good_until.min(Instant::now() + GONE_MAX);
            self.lines.0.changed.send_replace(());
        }
    }
}
