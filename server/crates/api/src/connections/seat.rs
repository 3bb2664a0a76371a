//! What one connection is doing, and since when.

use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use tokio::{sync::Notify, time::Instant};

use super::{ConnectionLimits, Table};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// A head has begun, or the first one is awaited.
    Opening,
    /// Kept alive for another request.
    Idle,
    /// A request is being answered.
    Busy,
    /// A WebSocket, which has its own rules.
    Upgraded,
    /// Over, and only read from for a moment longer.
    Leaving,
}

#[derive(Debug)]
struct State {
    phase: Phase,
    since: Instant,
    /// It has authenticated.
    is_known: bool,
    /// Since when the client has not taken what is sent.
    blocked_since: Option<Instant>,
}

#[derive(Debug)]
pub(super) struct Seated {
    pub(super) id: u64,
    state: Mutex<State>,
    is_cut: AtomicBool,
    cut: Notify,
}

impl Seated {
    pub(super) fn new(id: u64) -> Self {
        let state = State { phase: Phase::Opening, since: Instant::now(), is_known: false, blocked_since: None };
        Self { id, state: Mutex::new(state), is_cut: AtomicBool::new(false), cut: Notify::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self, phase: Phase) {
        let mut state = self.state();
        // A WebSocket stays one until it ends.
        if state.phase != Phase::Upgraded || phase == Phase::Leaving {
            (state.phase, state.since) = (phase, Instant::now());
        }
    }

    pub(super) fn cut(&self) {
        self.is_cut.store(true, Ordering::Release);
        self.cut.notify_one();
    }

    pub(super) fn is_late(&self, now: Instant, limits: &ConnectionLimits) -> bool {
        let state = self.state();
        let phase_max = match state.phase {
            Phase::Opening => Some(limits.head_max),
            Phase::Idle => Some(limits.idle_max),
            // These end by themselves.
            Phase::Busy | Phase::Upgraded | Phase::Leaving => None,
        };
        let is_stuck = state.blocked_since.is_some_and(|since| now.duration_since(since) > limits.blocked_max);
        is_stuck || phase_max.is_some_and(|longest| now.duration_since(state.since) > longest)
    }

    /// The lower the rank, the sooner it is displaced; `None` if it is not.
    pub(super) fn rank(&self) -> Option<(u8, Instant)> {
        let state = self.state();
        let rank = match (state.phase, state.is_known) {
            (Phase::Opening, false) => 0,
            (Phase::Leaving, _) => 1,
            (_, false) => 2,
            (Phase::Opening | Phase::Idle, true) => 3,
            (Phase::Busy | Phase::Upgraded, true) => return None,
        };
        Some((rank, state.since))
    }
}

/// The place of one connection. Dropping it makes room.
pub struct Seat {
    seated: Arc<Seated>,
    table: Arc<Table>,
}

impl fmt::Debug for Seat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Seat").field("seated", &self.seated).finish_non_exhaustive()
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.table.leave(self.seated.id);
    }
}

impl Seat {
    pub(super) fn new(seated: Arc<Seated>, table: Arc<Table>) -> Self {
        Self { seated, table }
    }

    pub(super) fn watcher(&self) -> Watcher {
        Watcher(self.seated.clone())
    }

    /// Notes that data has arrived.
    pub(super) fn heard(&self) {
        let mut state = self.seated.state();
        if state.phase == Phase::Idle {
            (state.phase, state.since) = (Phase::Opening, Instant::now());
        }
    }

    /// Notes whether outgoing data is blocked.
    pub(super) fn blocked(&self, is_blocked: bool) {
        let mut state = self.seated.state();
        match is_blocked {
            true => drop(state.blocked_since.get_or_insert_with(Instant::now)),
            false => state.blocked_since = None,
        }
    }

    pub(super) fn leaving(&self) {
        self.seated.enter(Phase::Leaving);
    }

    pub(super) fn is_cut(&self) -> bool {
        self.seated.is_cut.load(Ordering::Acquire)
    }

    #[cfg(test)]
    pub(super) fn turn(&self) -> Turn {
        self.watcher().turn()
    }
}

/// The seat, for the task that serves its connection.
#[derive(Debug, Clone)]
pub(super) struct Watcher(Arc<Seated>);

impl Watcher {
    /// Returns when the connection has to be closed.
    pub(super) async fn cut(&self) {
        while !self.0.is_cut.load(Ordering::Acquire) {
            self.0.cut.notified().await;
        }
    }

    /// Begins a request.
    pub(super) fn turn(&self) -> Turn {
        self.0.enter(Phase::Busy);
        Turn(self.0.clone())
    }
}

/// One request, until its response has been sent.
#[derive(Debug)]
pub(super) struct Turn(Arc<Seated>);

impl Turn {
    pub(super) fn visitor(&self) -> Visitor {
        Visitor(self.0.clone())
    }

    /// This was the last request: the connection is now a WebSocket.
    pub(super) fn upgraded(self) {
        self.0.enter(Phase::Upgraded);
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.enter(Phase::Idle);
    }
}

/// The connection of a request, among the request's extensions.
#[derive(Debug, Clone)]
pub struct Visitor(Arc<Seated>);

impl Visitor {
    /// Marks it as authenticated. Its seat is not given away while it is being served.
    pub fn is_known(&self) {
        self.0.state().is_known = true;
    }
}
