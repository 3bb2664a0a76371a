//! The connections of a server: how many there are, what each is doing, and which has to be closed.
//!
//! Each connection has a seat. Seats are limited to fewer than the files that the process may open, so that the store
//! and commands can always open one. A connection that has not sent a complete request, or has not authenticated, keeps
//! its seat only until another one needs it; an authenticated one that is being served is never displaced.

mod carry;
mod lingering;
mod seat;

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::Notify,
    time::{Instant, sleep},
};

use self::seat::Seated;
pub use self::{
    carry::serve,
    lingering::{Connection, Lingering},
    seat::{Seat, Visitor},
};

/// How often to look for connections whose time is up.
const LOOK: Duration = Duration::from_secs(1);

/// Limits for connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// The most at the same time.
    pub at_once_max: usize,
    /// How long the head of a request may take from its first byte, and that of the first request from the connection.
    pub head_max: Duration,
    /// How long a kept-alive connection waits for another request.
    pub idle_max: Duration,
    /// How long a client may fail to take what it asked for.
    pub blocked_max: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            at_once_max: 512,
            head_max: Duration::from_secs(10),
            idle_max: Duration::from_secs(75),
            blocked_max: Duration::from_secs(300),
        }
    }
}

/// Counters for the metrics.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ConnectionFigures {
    pub open: u64,
    /// There was no free seat, and no connection could be displaced.
    pub refused_total: u64,
    /// No complete head arrived, no further request came, or the client did not take the response.
    pub timed_out_total: u64,
    /// Closed to make room for others.
    pub displaced_total: u64,
}

/// All connections of a server, over whatever transport. Clones share their state.
#[derive(Debug, Clone)]
pub struct Connections(Arc<Table>);

#[derive(Debug)]
pub(super) struct Table {
    limits: ConnectionLimits,
    seats: Mutex<HashMap<u64, Arc<Seated>>>,
    next: AtomicU64,
    refused: AtomicU64,
    timed_out: AtomicU64,
    displaced: AtomicU64,
    /// Signalled when a connection arrives after there were none.
    arrived: Notify,
}

impl Connections {
    /// Must be called inside a runtime: starts a task that closes connections whose time is up.
    pub fn start(limits: ConnectionLimits) -> Self {
        let table = Arc::new(Table {
            limits,
            seats: Mutex::default(),
            next: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            timed_out: AtomicU64::new(0),
            displaced: AtomicU64::new(0),
            arrived: Notify::new(),
        });
        tokio::spawn(look_after(Arc::downgrade(&table)));
        Self(table)
    }

    /// A seat for a new connection; `None` if it has to be refused.
    pub fn seat(&self) -> Option<Seat> {
        let seated = Arc::new(Seated::new(self.0.next.fetch_add(1, Ordering::Relaxed)));
        let mut seats = self.0.seats();
        if seats.len() >= self.0.limits.at_once_max {
            let Some(last) = least(&seats) else {
                self.0.refused.fetch_add(1, Ordering::Relaxed);
                return None;
            };
            if let Some(displaced) = seats.remove(&last) {
                self.0.displaced.fetch_add(1, Ordering::Relaxed);
                displaced.cut();
            }
        }
        if seats.is_empty() {
            self.0.arrived.notify_one();
        }
        seats.insert(seated.id, seated.clone());
        drop(seats);
        Some(Seat::new(seated, self.0.clone()))
    }

    pub fn figures(&self) -> ConnectionFigures {
        let total = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        ConnectionFigures {
            open: self.0.seats().len() as u64,
            refused_total: total(&self.0.refused),
            timed_out_total: total(&self.0.timed_out),
            displaced_total: total(&self.0.displaced),
        }
    }
}

impl Table {
    fn seats(&self) -> MutexGuard<'_, HashMap<u64, Arc<Seated>>> {
        self.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn leave(&self, id: u64) {
        self.seats().remove(&id);
    }

    /// Closes connections whose time is up. Returns true if none is left.
    fn cut_late(&self, now: Instant) -> bool {
        let mut seats = self.seats();
        let late: Vec<u64> =
            seats.values().filter(|seated| seated.is_late(now, &self.limits)).map(|seated| seated.id).collect();
        for id in late {
            if let Some(seated) = seats.remove(&id) {
                self.timed_out.fetch_add(1, Ordering::Relaxed);
                seated.cut();
            }
        }
        seats.is_empty()
    }
}

/// The connection whose seat is needed least: among those that may be displaced, the lowest by rank, and of equals the
/// one that has been in its state for longest.
fn least(seats: &HashMap<u64, Arc<Seated>>) -> Option<u64> {
    let ranked = seats.values().filter_map(|seated| Some((seated.rank()?, seated.id)));
    ranked.min().map(|(_, id)| id)
}

async fn look_after(table: Weak<Table>) {
    loop {
        let is_empty = match table.upgrade() {
            Some(table) => table.cut_late(Instant::now()),
            None => return,
        };
        if is_empty {
            wait_for_somebody(&table).await;
        }
        sleep(LOOK).await;
    }
}

/// Sleeps while nobody is connected.
async fn wait_for_somebody(table: &Weak<Table>) {
    let Some(table) = table.upgrade() else { return };
    if table.seats().is_empty() {
        table.arrived.notified().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(at_once_max: usize) -> Connections {
        Connections::start(ConnectionLimits { at_once_max, ..ConnectionLimits::default() })
    }

    async fn pass(seconds: u64) {
        tokio::time::advance(Duration::from_secs(seconds)).await;
        // The look itself.
        sleep(LOOK * 2).await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_head_has_its_time_and_so_has_a_connection_that_is_kept() {
        let all = of(9);
        let (silent, kept, begun) = (all.seat().unwrap(), all.seat().unwrap(), all.seat().unwrap());
        drop(kept.turn());
        drop(begun.turn());
        begun.heard();
        pass(11).await;
        assert!(silent.is_cut() && begun.is_cut() && !kept.is_cut());
        assert_eq!(all.figures(), ConnectionFigures { open: 1, timed_out_total: 2, ..ConnectionFigures::default() });
        pass(75).await;
        assert!(kept.is_cut());
        assert_eq!(all.figures().open, 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_being_served_has_as_long_as_it_keeps_reading() {
        let all = of(9);
        let (stream, socket, stuck) = (all.seat().unwrap(), all.seat().unwrap(), all.seat().unwrap());
        let (_stream_turn, _stuck_turn) = (stream.turn(), stuck.turn());
        socket.turn().upgraded();
        stuck.blocked(true);
        stream.blocked(true);
        stream.blocked(false);
        pass(100_000).await;
        assert!(!stream.is_cut() && !socket.is_cut() && stuck.is_cut());
    }

    #[tokio::test(start_paused = true)]
    async fn those_who_have_sent_the_least_make_room() {
        let all = of(5);
        let served = all.seat().unwrap();
        let turn = served.turn();
        turn.visitor().is_known();
        let known = all.seat().unwrap();
        let known_turn = known.turn();
        known_turn.visitor().is_known();
        drop(known_turn);
        let stranger = all.seat().unwrap();
        let _stranger_turn = stranger.turn();
        let (first, second) = (all.seat().unwrap(), all.seat().unwrap());

        let order = [&first, &second, &stranger, &known];
        let mut new = Vec::new();
        for (number, goes) in order.into_iter().enumerate() {
            assert!(!goes.is_cut());
            let seat = all.seat().unwrap();
            let turn = seat.turn();
            turn.visitor().is_known();
            new.push((seat, turn));
            assert!(goes.is_cut(), "{number}");
        }
        // All that are left are being served.
        assert!(all.seat().is_none());
        assert!(!served.is_cut());
        let figures = all.figures();
        assert_eq!((figures.open, figures.refused_total, figures.displaced_total), (5, 1, 4));
        drop(new);
        assert_eq!(all.figures().open, 1);
        assert!(all.seat().is_some());
    }
}
