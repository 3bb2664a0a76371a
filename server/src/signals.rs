//! SIGTERM and SIGINT: how people and service managers end a running program.

use anyhow::{Context, Result};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGTERM and SIGINT, handled from the beginning.
pub(crate) struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    pub(crate) fn listen() -> Result<Self> {
        let hear = |kind| signal(kind).context("signals cannot be heard");
        Ok(Self { terminate: hear(SignalKind::terminate())?, interrupt: hear(SignalKind::interrupt())? })
    }

    pub(crate) async fn wait(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// Runs something without an end of its own. Being ended by a person (Ctrl-C) counts as success, with exit code 0.
pub(crate) async fn until_interrupted(stream: impl Future<Output = Result<()>>) -> Result<()> {
    let mut signals = Signals::listen()?;
    tokio::select! {
        ended = stream => ended,
        () = signals.wait() => Ok(()),
    }
}
