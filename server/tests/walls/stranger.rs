//! A server that poses as a model's, and sends whatever a test wrote: headers, endless bodies, bytes one at a time.

use std::sync::{Arc, Mutex};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinHandle,
};

/// What is sent to every client.
#[derive(Debug, Clone)]
pub(crate) struct Says {
    /// The headers and the beginning of the body.
    pub(crate) first: Vec<u8>,
    pub(crate) then: Then,
}

#[derive(Debug, Clone)]
pub(crate) enum Then {
    /// The connection is closed.
    End,
    /// These bytes again and again, as fast as they are read.
    ForEver(Vec<u8>),
    /// These bytes again and again, one at a time.
    OneByOne(Vec<u8>),
}

/// Listens on a port of its own. The newest script applies.
#[derive(Debug)]
pub(crate) struct Stranger {
    pub(crate) address: String,
    says: Arc<Mutex<Says>>,
    /// Connections that were closed by the other side before their end.
    left: watch::Sender<usize>,
    server: JoinHandle<()>,
}

impl Stranger {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let says = Arc::new(Mutex::new(Says { first: Vec::new(), then: Then::End }));
        let left = watch::Sender::new(0);
        let (said, leaving) = (Arc::clone(&says), left.clone());
        let server = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let says = said.lock().unwrap().clone();
                let leaving = leaving.clone();
                tokio::spawn(async move {
                    if speak(stream, says).await.is_err() {
                        leaving.send_modify(|count| *count += 1);
                    }
                });
            }
        });
        Self { address, says, left, server }
    }

    pub(crate) fn say(&self, says: Says) {
        *self.says.lock().unwrap() = says;
    }

    pub(crate) fn left(&self) -> usize {
        *self.left.borrow()
    }

    /// Returns when more than `before` connections have been closed by the other side.
    pub(crate) async fn is_left(&self, before: usize) {
        self.left.subscribe().wait_for(|count| *count > before).await.unwrap();
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn speak(mut stream: TcpStream, says: Says) -> std::io::Result<()> {
    hear(&mut stream).await?;
    stream.write_all(&says.first).await?;
    match says.then {
        Then::End => stream.shutdown().await,
        Then::ForEver(bytes) => loop {
            stream.write_all(&bytes).await?;
        },
        Then::OneByOne(bytes) => {
            for byte in bytes.iter().cycle() {
                stream.write_all(std::slice::from_ref(byte)).await?;
                stream.flush().await?;
                tokio::task::yield_now().await;
            }
            Ok(())
        }
    }
}

/// Reads as much of the request as necessary.
async fn hear(stream: &mut TcpStream) -> std::io::Result<()> {
    let (mut heard, mut buffer) = (Vec::new(), vec![0_u8; 64 * 1024]);
    loop {
        let count = stream.read(&mut buffer).await?;
        heard.extend_from_slice(&buffer[..count]);
        let Some(end) = heard.windows(4).position(|bytes| bytes == b"\r\n\r\n") else {
            if count == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            continue;
        };
        let head = String::from_utf8_lossy(&heard[..end]).to_ascii_lowercase();
        let length =
            head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok()).unwrap_or(0);
        if count == 0 || heard.len() >= end + 4 + length {
            return Ok(());
        }
    }
}
