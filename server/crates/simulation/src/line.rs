//! The ways from hosts to the database that they share: late, cut for a while, and now and then a request or an answer is
//! lost.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use pod_store::Way;
use tokio::{
    sync::mpsc::{self, UnboundedReceiver, UnboundedSender},
    time::{Instant, sleep},
};

use crate::Chance;

/// How long a host waits for a database that does not answer.
const WAIT_MAX: Duration = Duration::from_secs(3);
/// How often a message on a held way is sent again.
const AGAIN: Duration = Duration::from_millis(50);

/// All hosts of one database, each of which hears what any of them says.
pub(crate) type Bus = Arc<Mutex<Vec<UnboundedSender<String>>>>;

/// One host's way.
#[derive(Debug)]
pub(crate) struct Line {
    state: Mutex<State>,
    bus: Bus,
    notices: tokio::sync::Mutex<UnboundedReceiver<String>>,
}

#[derive(Debug)]
struct State {
    chance: Chance,
    cut: Option<Cut>,
    /// One message in so many is lost; none, if 0.
    loss: u64,
}

/// How a way is cut.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Cut {
    /// Whoever tries is told at once.
    Broken,
    /// Nothing arrives, and nobody is told.
    Held,
}

impl Line {
    pub(crate) fn new(bus: &Bus, chance: Chance, loss: u64) -> Self {
        let (sender, notices) = mpsc::unbounded_channel();
        bus.lock().unwrap_or_else(PoisonError::into_inner).push(sender);
        let state = Mutex::new(State { chance, cut: None, loss });
        Self { state, bus: bus.clone(), notices: notices.into() }
    }

    pub(crate) fn cut(&self, cut: Cut) {
        self.state().cut = Some(cut);
    }

    pub(crate) fn mend(&self) {
        self.state().cut = None;
    }

    /// Nothing is lost any more.
    pub(crate) fn calm(&self) {
        self.mend();
        self.state().loss = 0;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How long the next message is on its way.
    fn latency(&self) -> Duration {
        let mut state = self.state();
        let longest = if state.chance.once_in(12) { 60_000 } else { 2_000 };
        Duration::from_micros(state.chance.within(50, longest))
    }

    fn loses(&self) -> bool {
        let mut state = self.state();
        state.loss > 0 && {
            let loss = state.loss;
            state.chance.once_in(loss)
        }
    }
}

#[async_trait]
impl Way for Line {
    async fn pass(&self) -> Result<(), String> {
        sleep(self.latency()).await;
        let began = Instant::now();
        loop {
            let cut = self.state().cut;
            match cut {
                Some(Cut::Broken) => return Err("the connection was refused".to_owned()),
                Some(Cut::Held) if began.elapsed() > WAIT_MAX => return Err("the database does not answer".to_owned()),
                Some(Cut::Held) => sleep(AGAIN).await,
                None if self.loses() => return Err("the connection broke".to_owned()),
                None => return Ok(()),
            }
        }
    }

    async fn notify(&self, notice: &str) {
        if self.state().cut.is_none() && !self.loses() {
            let bus = self.bus.lock().unwrap_or_else(PoisonError::into_inner);
            // One that nobody listens to is a host that is down.
            bus.iter().for_each(|host| drop(host.send(notice.to_owned())));
        }
    }

    async fn heard(&self) -> String {
        let mut notices = self.notices.lock().await;
        loop {
            let Some(notice) = notices.recv().await else { std::future::pending().await };
            sleep(self.latency()).await;
            if self.state().cut.is_none() {
                return notice;
            }
        }
    }
}
