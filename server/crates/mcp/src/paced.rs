//! Limits between a server and the library that reads from it: on how fast messages are taken, and on how long a line
//! may be.

use std::{
    future::Future,
    io,
    pin::Pin,
    sync::{Arc, OnceLock},
    task::{Context, Poll},
    time::Duration,
};

use rmcp::{
    RoleClient,
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use tokio::{
    io::{AsyncRead, ReadBuf},
    time::{Instant, sleep_until},
};

use crate::bounds::{BURST, EACH_SECOND, MESSAGE_BYTES_MAX};

/// A transport that limits how many messages are taken. The surplus waits, in the end with the server.
pub(crate) struct Paced<T> {
    inner: T,
    /// How many messages may be taken at once.
    left: u32,
    since: Instant,
}

impl<T> Paced<T> {
    pub(crate) fn new(inner: T) -> Self {
        Self { inner, left: BURST, since: Instant::now() }
    }

    /// Returns when the next message may be taken; `None` means now.
    fn due(&mut self) -> Option<Instant> {
        let gained = self.since.elapsed().as_millis() * u128::from(EACH_SECOND) / 1_000;
        if gained > 0 {
            self.left = self.left.saturating_add(gained.try_into().unwrap_or(u32::MAX)).min(BURST);
            self.since = Instant::now();
        }
        (self.left == 0).then(|| self.since + Duration::from_secs(1) / EACH_SECOND)
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Paced<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.inner.send(item)
    }

    // Cancel safe: when dropped at any of its waits, it has taken nothing.
    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        while let Some(due) = self.due() {
            sleep_until(due).await;
        }
        let message = self.inner.receive().await;
        self.left = self.left.saturating_sub(1);
        message
    }

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.inner.close()
    }
}

/// Why we ended a stream.
#[derive(Debug, Clone, Default)]
pub(crate) struct Broken(Arc<OnceLock<&'static str>>);

impl Broken {
    pub(crate) fn why(&self) -> Option<&'static str> {
        self.0.get().copied()
    }
}

/// A reader that fails at a line that is too long, so that whoever waits for the answer in it is told and does not wait
/// forever.
pub(crate) struct Lines<R> {
    inner: R,
    /// The number of bytes since the last line break.
    bytes: usize,
    broken: Broken,
}

impl<R> Lines<R> {
    pub(crate) fn new(inner: R, broken: Broken) -> Self {
        Self { inner, bytes: 0, broken }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Lines<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.inner).poll_read(context, buffer);
        if let Poll::Ready(Ok(())) = &polled {
            let mut bytes = self.bytes;
            let is_too_long = buffer.filled()[before..].split_inclusive(|byte| *byte == b'\n').any(|part| {
                bytes += part.len();
                let is_too_long = bytes > MESSAGE_BYTES_MAX;
                if part.ends_with(b"\n") {
                    bytes = 0;
                }
                is_too_long
            });
            self.bytes = bytes;
            if is_too_long {
                buffer.set_filled(before);
                let _ = self.broken.0.set("it sent a message that is too long");
                return Poll::Ready(Err(io::Error::other("a line is too long")));
            }
        }
        polled
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    #[tokio::test]
    async fn a_line_without_an_end_ends_the_stream_and_says_why() {
        let broken = Broken::default();
        let endless = tokio::io::repeat(b'x');
        let read = Lines::new(endless, broken.clone()).read_to_end(&mut Vec::new()).await;
        assert!(read.is_err());
        assert!(broken.why().unwrap().contains("too long"));
        let short = b"a line\nand another\n".repeat(1_000);
        let mut all = Vec::new();
        Lines::new(short.as_slice(), Broken::default()).read_to_end(&mut all).await.unwrap();
        assert_eq!(all, short);
    }

    /// A server that never stops talking.
    struct Flood(u64);

    impl Transport<RoleClient> for Flood {
        type Error = io::Error;

        fn send(&mut self, _: TxJsonRpcMessage<RoleClient>) -> impl Future<Output = io::Result<()>> + Send + 'static {
            std::future::ready(Ok(()))
        }

        async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
            self.0 += 1;
            serde_json::from_str(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#).ok()
        }

        async fn close(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_flood_is_taken_a_bit_at_a_time() {
        let mut paced = Paced::new(Flood(0));
        let taking = async {
            loop {
                assert!(paced.receive().await.is_some());
            }
        };
        let seconds: u32 = 10;
        assert!(tokio::time::timeout(Duration::from_secs(seconds.into()), taking).await.is_err());
        let most = u64::from(BURST + seconds * EACH_SECOND);
        assert!((most / 2..=most + 1).contains(&paced.inner.0), "{}", paced.inner.0);
    }
}
