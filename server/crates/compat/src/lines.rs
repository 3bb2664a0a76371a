//! Reads one JSON object per line from an untrusted socket.
//!
//! Limited are the length of a line, the time for a line once begun, and how many long lines all Pods hold at the
//! same time.

use std::{sync::Arc, time::Duration};

use bytes::{Buf, BytesMut};
use serde_json::Value;
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, timeout_at},
};

use crate::values::{self, Unreadable};

/// The maximum length of a line, in bytes.
pub(crate) const LINE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Longer lines need a permit that all Pods share …
const LONG_LINE_BYTES: usize = 1024 * 1024;
/// … and this many of them can be held at once.
pub(crate) const LONG_LINES_MAX: usize = 2;
/// The longest pause within a line …
const LINE_SILENCE_MAX: Duration = Duration::from_secs(5);
/// … and the longest time for all of it.
const LINE_TIME_MAX: Duration = Duration::from_secs(30);
/// How many bytes are read at once.
const READ_BYTES: usize = 64 * 1024;

/// Why reading from a socket ended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LineError {
    #[error("it closed the connection")]
    End,
    #[error("it closed the connection in the middle of a line")]
    EndInLine,
    #[error("it began a line and did not end it in time")]
    HalfLine,
    #[error("it sent a line of more than {} MiB", LINE_BYTES_MAX / 1024 / 1024)]
    TooLong,
    #[error("it sent a line that holds more than {} values", values::VALUES_MAX)]
    TooManyValues,
    #[error("it sent a line that is no JSON ({0})")]
    NotJson(String),
    #[error("the connection failed: {0}")]
    Failed(std::io::ErrorKind),
}

/// Reads lines. Waiting for one is cancel-safe.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    source: R,
    buffer: BytesMut,
    /// The buffer contains no line end before this position.
    searched: usize,
    /// When the incomplete line began, and when it last grew.
    begun: Option<(Instant, Instant)>,
    long_lines: Arc<Semaphore>,
    permit: Option<OwnedSemaphorePermit>,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(crate) fn new(source: R, long_lines: Arc<Semaphore>) -> Self {
        Self { source, buffer: BytesMut::new(), searched: 0, begun: None, long_lines, permit: None }
    }

    /// The next non-blank line. Waits as long as the other side is silent between lines.
    pub(crate) async fn next(&mut self) -> Result<Value, LineError> {
        loop {
            if let Some(line) = self.take_line()? {
                if line.iter().all(u8::is_ascii_whitespace) {
                    continue;
                }
                let read = read(line).await;
                // The permit is returned once the line's bytes are freed.
                self.permit = None;
                return read;
            }
            self.more().await?;
        }
    }

    fn take_line(&mut self) -> Result<Option<BytesMut>, LineError> {
        let end = self.buffer[self.searched..].iter().position(|byte| *byte == b'\n');
        let Some(end) = end.map(|at| self.searched + at) else {
            self.searched = self.buffer.len();
            return if self.searched > LINE_BYTES_MAX { Err(LineError::TooLong) } else { Ok(None) };
        };
        if end > LINE_BYTES_MAX {
            return Err(LineError::TooLong);
        }
        let line = self.buffer.split_to(end);
        self.buffer.advance(1);
        self.searched = 0;
        self.begun = None;
        if self.buffer.is_empty() {
            // Do not keep a long line's buffer for short ones.
            self.buffer = BytesMut::new();
        }
        Ok(Some(line))
    }

    async fn more(&mut self) -> Result<(), LineError> {
        let deadline = self.deadline();
        if self.buffer.len() >= LONG_LINE_BYTES && self.permit.is_none() {
            let permit = timeout_at(deadline, self.long_lines.clone().acquire_owned()).await;
            self.permit = Some(permit.map_err(|_| LineError::HalfLine)?.expect("nobody closes the semaphore"));
        }
        self.buffer.reserve(READ_BYTES);
        let read = match self.buffer.is_empty() {
            true => self.source.read_buf(&mut self.buffer).await,
            false => {
                timeout_at(deadline, self.source.read_buf(&mut self.buffer)).await.map_err(|_| LineError::HalfLine)?
            }
        };
        match read {
            Ok(0) if self.buffer.is_empty() => Err(LineError::End),
            Ok(0) => Err(LineError::EndInLine),
            Ok(_) => {
                let now = Instant::now();
                self.begun = Some((self.begun.map_or(now, |(begun, _)| begun), now));
                Ok(())
            }
            Err(error) => Err(LineError::Failed(error.kind())),
        }
    }

    fn deadline(&self) -> Instant {
        let now = Instant::now();
        let (begun, grown) = self.begun.unwrap_or((now, now));
        (begun + LINE_TIME_MAX).min(grown + LINE_SILENCE_MAX)
    }
}

/// Parses a long line off the runtime's threads, since it takes a while.
async fn read(line: BytesMut) -> Result<Value, LineError> {
    let read = match line.len() > LONG_LINE_BYTES {
        false => values::read(&line),
        true => tokio::task::spawn_blocking(move || values::read(&line)).await.map_err(|_| LineError::End)?,
    };
    read.map_err(|error| match error {
        Unreadable::NotJson(detail) => LineError::NotJson(detail),
        Unreadable::TooManyValues => LineError::TooManyValues,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tokio::io::AsyncWriteExt;

    use super::*;

    fn lines() -> (tokio::io::DuplexStream, Lines<tokio::io::DuplexStream>) {
        let (far, near) = tokio::io::duplex(1024 * 1024);
        (far, Lines::new(near, Arc::new(Semaphore::new(1))))
    }

    #[tokio::test]
    async fn lines_come_whole_however_they_were_cut_and_blank_ones_are_skipped() {
        let (mut far, mut lines) = lines();
        for piece in [&b"\n  \n{\"a\""[..], b":1}\n{\"b\":2}", b"\n"] {
            far.write_all(piece).await.unwrap();
        }
        assert_eq!(lines.next().await, Ok(json!({ "a": 1 })));
        assert_eq!(lines.next().await, Ok(json!({ "b": 2 })));
        drop(far);
        assert_eq!(lines.next().await, Err(LineError::End));
    }

    #[tokio::test]
    async fn a_wait_that_is_given_up_loses_nothing() {
        let (mut far, mut lines) = lines();
        far.write_all(b"{\"a\"").await.unwrap();
        let given_up = tokio::time::timeout(Duration::from_millis(20), lines.next()).await;
        assert!(given_up.is_err());
        far.write_all(b":1}\n").await.unwrap();
        assert_eq!(lines.next().await, Ok(json!({ "a": 1 })));
    }

    #[tokio::test]
    async fn what_is_no_line_is_told_apart() {
        let (mut far, mut lines) = lines();
        far.write_all(b"nonsense\n{\"half\"").await.unwrap();
        assert!(matches!(lines.next().await, Err(LineError::NotJson(_))));
        drop(far);
        assert_eq!(lines.next().await, Err(LineError::EndInLine));
    }

    #[tokio::test(start_paused = true)]
    async fn a_half_line_is_waited_for_as_long_as_it_grows_and_not_for_ever() {
        let (mut far, mut lines) = lines();
        far.write_all(b"{\"half\"").await.unwrap();
        assert_eq!(lines.next().await, Err(LineError::HalfLine));

        let (mut far, mut lines) = self::lines();
        let begun = Instant::now();
        tokio::spawn(async move {
            while far.write_all(b" ").await.is_ok() {
                tokio::time::sleep(Duration::from_secs(4)).await;
            }
        });
        assert_eq!(lines.next().await, Err(LineError::HalfLine));
        assert!(begun.elapsed() <= LINE_TIME_MAX + LINE_SILENCE_MAX);
    }

    #[tokio::test]
    async fn a_line_over_the_limit_is_refused_before_its_end() {
        let (mut far, mut lines) = lines();
        let writer = tokio::spawn(async move {
            let piece = vec![b' '; 1024 * 1024];
            while far.write_all(&piece).await.is_ok() {}
        });
        assert_eq!(lines.next().await, Err(LineError::TooLong));
        assert!(lines.buffer.len() <= LINE_BYTES_MAX + READ_BYTES * 2 + 1024 * 1024);
        drop(lines);
        writer.await.unwrap();
    }
}
