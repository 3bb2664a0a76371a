//! A connection that is closed gracefully, so that the server's last message arrives.
//!
//! A connection that is closed while the other side is still sending gets reset, and a reset discards what the other
//! side has not read yet: the reason of a close, or the response to a body that is too large. So a client that is still
//! sending when its connection ends is read from for a moment longer, and its data is discarded.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf},
    runtime::Handle,
    time::timeout,
};

use super::Seat;

/// What a connection consists of.
pub trait Connection: AsyncRead + AsyncWrite + Unpin + Send + 'static {}

impl<Io: AsyncRead + AsyncWrite + Unpin + Send + 'static> Connection for Io {}

/// For how long to keep reading, and how many bytes; anything further gets a reset.
const LINGER_TIME_MAX: Duration = Duration::from_secs(3);
const LINGER_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// A connection that is read from a little longer than it is needed.
#[derive(Debug)]
pub struct Lingering<Io: Connection> {
    /// `None` only while this is being dropped.
    io: Option<Io>,
    /// The other side has ended, or the connection is broken: nothing can be lost any more.
    is_over: bool,
    /// `None` only while this is being dropped.
    seat: Option<Seat>,
}

impl<Io: Connection> Lingering<Io> {
    pub fn new(io: Io, seat: Seat) -> Self {
        Self { io: Some(io), is_over: false, seat: Some(seat) }
    }

    fn seat(&self) -> &Seat {
        self.seat.as_ref().expect("it is taken when it is dropped")
    }

    fn io(&mut self) -> Pin<&mut Io> {
        Pin::new(self.io.as_mut().expect("it is taken when it is dropped"))
    }
}

impl<Io: Connection> Drop for Lingering<Io> {
    fn drop(&mut self) {
        if let (Some(io), Some(seat)) = (self.io.take(), self.seat.take())
            && !self.is_over
            && !seat.is_cut()
            && let Ok(runtime) = Handle::try_current()
        {
            runtime.spawn(linger(io, seat));
        }
    }
}

/// Sends the end of the stream, and discards what still arrives, unless another connection needs the seat.
async fn linger<Io: Connection>(mut io: Io, seat: Seat) {
    seat.leaving();
    let watcher = seat.watcher();
    let rest = async {
        if io.shutdown().await.is_ok() {
            // Whether it broke, ended, or hit the limit, it is closed.
            let _ = tokio::io::copy(&mut io.take(LINGER_BYTES_MAX), &mut tokio::io::sink()).await;
        }
    };
    tokio::select! {
        _ = timeout(LINGER_TIME_MAX, rest) => (),
        () = watcher.cut() => (),
    }
}

impl<Io: Connection> AsyncRead for Lingering<Io> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = self.io().poll_read(cx, buffer);
        self.is_over |= match &read {
            Poll::Ready(Ok(())) => buffer.filled().len() == before && buffer.remaining() > 0,
            Poll::Ready(Err(_)) => true,
            Poll::Pending => false,
        };
        if buffer.filled().len() > before {
            self.seat().heard();
        }
        read
    }
}

impl<Io: Connection> AsyncWrite for Lingering<Io> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = self.io().poll_write(cx, bytes);
        self.seat().blocked(written.is_pending());
        written
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = self.io().poll_write_vectored(cx, slices);
        self.seat().blocked(written.is_pending());
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.io.as_ref().is_some_and(AsyncWrite::is_write_vectored)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.io().poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.io().poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::{TcpListener, TcpStream};

    use super::*;
    use crate::{ConnectionLimits, Connections};

    /// The server's end of a new connection, and the client's.
    async fn connected() -> (Lingering<TcpStream>, TcpStream, Connections) {
        let connections = Connections::start(ConnectionLimits::default());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (io, _) = listener.accept().await.unwrap();
        (Lingering::new(io, connections.seat().unwrap()), client, connections)
    }

    #[tokio::test]
    async fn what_was_said_last_arrives_though_the_other_side_still_sends() {
        let (mut connection, mut client, _) = connected().await;
        let server = tokio::spawn(async move {
            connection.read_exact(&mut [0; 1]).await.unwrap();
            connection.write_all(b"too much").await.unwrap();
        });
        // More than all buffers in between can hold, so a reset would make this fail.
        client.write_all(&vec![7; 32 * 1024 * 1024]).await.unwrap();
        server.await.unwrap();
        let mut heard = String::new();
        client.read_to_string(&mut heard).await.unwrap();
        assert_eq!(heard, "too much");
    }

    #[tokio::test]
    async fn a_connection_that_has_ended_is_closed_at_once() {
        let (mut connection, client, connections) = connected().await;
        drop(client);
        assert_eq!(connection.read(&mut [0; 1]).await.unwrap(), 0);
        assert!(connection.is_over);
        drop(connection);
        assert_eq!(connections.figures().open, 0);
    }

    #[tokio::test]
    async fn a_lingering_connection_keeps_its_seat_until_it_is_gone() {
        let (connection, client, connections) = connected().await;
        drop(connection);
        assert_eq!(connections.figures().open, 1);
        drop(client);
        testkit::until_so("the seat is free", async || connections.figures().open == 0).await;
    }
}
