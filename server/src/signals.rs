//! SIGTERM and SIGINT: the ways in which people and service managers end what runs on.

use anyhow::{Context, Result};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGTERM and SIGINT, heard from the beginning.
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

/// Runs what has no end of its own. That a person ends it (Ctrl-C) is its good end, with exit code 0.
pub(crate) async fn until_interrupted(stream: impl Future<Output = Result<()>>) -> Result<()> {
    let mut signals = Signals::listen()?;
    tokio::select! {
        ended = stream => ended,
        () = signals.wait() => Ok(()),
    }
}
