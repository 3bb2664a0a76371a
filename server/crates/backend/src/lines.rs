//! The state of the lines to other servers' stores: whether each is up, and since when.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use jiff::Timestamp;
use tokio::{sync::watch, time::Instant};

/// A server that is silent for this long beyond the agreed wait counts as away.
const SILENCE_MAX: Duration = Duration::from_secs(5);

/// A server that hung up counts as away after this long.
const GONE_MAX: Duration = Duration::from_secs(3);

/// The lines, in memory. Clones share their state.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lines(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    lines: Mutex<HashMap<String, Line>>,
    /// Signalled when a line comes up or goes down.
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

    /// Notes that something was heard; the next message is due within `wait`.
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

    /// Notes that the other end does not answer.
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

    /// Whether the line is up, and since when it has been up or down.
    pub(crate) fn state(&self, store: &str) -> (bool, Option<Timestamp>) {
        match self.lines().get(store) {
            Some(line) => (line.is_up, Some(line.since)),
            None => (false, None),
        }
    }

    /// Forgets everything about a line.
    pub(crate) fn forget(&self, store: &str) {
        self.lines().remove(store);
    }

    pub(crate) fn watch(&self) -> watch::Receiver<()> {
        self.0.changed.subscribe()
    }

    /// Marks silent lines as down. Returns when the next line would be due.
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

/// The other side waits for our answer. If this is dropped before the answer is given, the other side has hung up, and
/// the line goes down soon unless it comes back.
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
