//! The socket of one older Pod: connected within a time limit, read up to its snapshot, written line by line.

use std::{path::Path, sync::Arc, time::Duration};

use serde_json::Value;
use tokio::{
    io::AsyncWriteExt,
    net::{
        UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::{Semaphore, mpsc},
    task::JoinSet,
    time::{Instant, timeout},
};

use crate::{
    ask::ANSWER_MAX,
    lines::{LineError, Lines},
};

/// The time limit of each step of connecting.
const STEP_MAX: Duration = Duration::from_secs(5);
/// The maximum number of alerts before the snapshot.
const ALERTS_MAX: usize = 1_000;

/// Why there is no connection. The sentences are shown to users and contain no path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Gone {
    #[error("nobody answers at its socket ({0})")]
    Refused(std::io::ErrorKind),
    #[error("its socket did not answer in time")]
    Late,
    #[error("it closed the connection before it said what it is")]
    EndBeforeSnapshot,
    #[error("it did not say what it is in time")]
    NoSnapshot,
    #[error("it sent more than {ALERTS_MAX} alerts before it said what it is")]
    TooManyAlerts,
    #[error("it sent a line that is no event")]
    NoEvent,
    #[error("{0}")]
    Line(#[from] LineError),
    #[error("it does not read what it is sent")]
    Deaf,
    #[error("it did not answer `{0}` in time")]
    Mute(&'static str),
    #[error("it was stopped")]
    ShutDown,
}

/// What a Pod sends before it accepts anything.
pub(crate) struct Prelude {
    pub(crate) alerts: Vec<Value>,
    pub(crate) snapshot: Value,
}

pub(crate) struct Connection {
    lines: Lines<OwnedReadHalf>,
    outgoing: mpsc::Sender<Vec<u8>>,
    /// Ends when the Pod no longer reads.
    writer: JoinSet<()>,
}

impl Connection {
    pub(crate) async fn open(socket: &Path, long_lines: Arc<Semaphore>) -> Result<(Self, Prelude), Gone> {
        let stream = timeout(STEP_MAX, UnixStream::connect(socket)).await.map_err(|_| Gone::Late)?;
        let (reader, writer) = stream.map_err(|error| Gone::Refused(error.kind()))?.into_split();
        let mut lines = Lines::new(reader, long_lines);
        let prelude = prelude(&mut lines).await?;
        let (outgoing, lines_out) = mpsc::channel(1);
        let mut tasks = JoinSet::new();
        tasks.spawn(write(writer, lines_out));
        Ok((Self { lines, outgoing, writer: tasks }, prelude))
    }

    /// The next event's name and data. Cancel-safe.
    pub(crate) async fn next(&mut self) -> Result<(String, Value), Gone> {
        tokio::select! {
            line = self.lines.next() => event_of(line?),
            _ = self.writer.join_next() => Err(Gone::Deaf),
        }
    }

    /// Sends a line; the previous one must have been answered.
    pub(crate) fn send(&self, line: Vec<u8>) -> Result<(), Gone> {
        self.outgoing.try_send(line).map_err(|_| Gone::Deaf)
    }
}

fn event_of(mut line: Value) -> Result<(String, Value), Gone> {
    let data = line.get_mut("data").map(Value::take).unwrap_or_default();
    let name = line.get("event").and_then(Value::as_str).ok_or(Gone::NoEvent)?;
    Ok((name.to_owned(), data))
}

/// Reads alerts, then the snapshot. Nothing may be sent before it.
async fn prelude(lines: &mut Lines<OwnedReadHalf>) -> Result<Prelude, Gone> {
    let mut alerts = Vec::new();
    let until = Instant::now() + 6 * STEP_MAX;
    while Instant::now() < until {
        let line = timeout(STEP_MAX, lines.next()).await.map_err(|_| Gone::NoSnapshot)?;
        let (name, data) = event_of(line.map_err(|error| match error {
            LineError::End | LineError::EndInLine => Gone::EndBeforeSnapshot,
            other => Gone::Line(other),
        })?)?;
        match name.as_str() {
            "snapshot" => return Ok(Prelude { alerts, snapshot: data }),
            "alert" if alerts.len() == ALERTS_MAX => return Err(Gone::TooManyAlerts),
            "alert" => alerts.push(data),
            // Anything else before the snapshot is contained in the snapshot.
            _ => (),
        }
    }
    Err(Gone::NoSnapshot)
}

/// Writes lines until one cannot be written in time.
async fn write(mut socket: OwnedWriteHalf, mut lines: mpsc::Receiver<Vec<u8>>) {
    while let Some(line) = lines.recv().await {
        match timeout(ANSWER_MAX, socket.write_all(&line)).await {
            Ok(Ok(())) => (),
            Ok(Err(error)) => return tracing::debug!(%error, "an older Pod does not take what it is sent"),
            Err(_) => return,
        }
    }
}
