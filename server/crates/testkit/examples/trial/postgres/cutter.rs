//! A proxy before PostgreSQL that cuts a connection at the statement where it is told to.

use std::sync::{
    Arc,
    atomic::{AtomicI64, AtomicUsize, Ordering},
};

use anyhow::Result;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// Not cutting anything.
const IDLE: i64 = -1;

/// The proxy. Its tasks end with the runtime.
#[derive(Debug)]
pub(crate) struct Cutter {
    pub(crate) port: u16,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    upstream: u16,
    /// How many more statements pass before one is cut.
    left: AtomicI64,
    /// 1 if that one still reaches the server, whose answer is lost then.
    is_passed_on: AtomicUsize,
    cuts: AtomicUsize,
}

impl Cutter {
    pub(crate) async fn start(upstream: u16) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(Shared {
            upstream,
            left: AtomicI64::new(IDLE),
            is_passed_on: AtomicUsize::new(0),
            cuts: AtomicUsize::new(0),
        });
        let serving = shared.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let shared = serving.clone();
                tokio::spawn(async move { drop(relay(client, &shared).await) });
            }
        });
        Ok(Self { port, shared })
    }

    /// Cuts the connection whose statement is the next but `left`, before the server gets it, or after.
    pub(crate) fn cut(&self, left: u32, is_passed_on: bool) {
        self.shared.is_passed_on.store(usize::from(is_passed_on), Ordering::SeqCst);
        self.shared.left.store(i64::from(left), Ordering::SeqCst);
    }

    /// How many connections were cut.
    pub(crate) fn cuts(&self) -> usize {
        self.shared.cuts.load(Ordering::SeqCst)
    }
}

async fn relay(mut client: TcpStream, shared: &Shared) -> std::io::Result<()> {
    let mut server = TcpStream::connect(("127.0.0.1", shared.upstream)).await?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let (mut asked, mut answered) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
    loop {
        tokio::select! {
            read = client.read(&mut asked) => match read? {
                0 => return Ok(()),
                // One write of a client is one statement, or the part of one.
                length => match shared.is_cut() {
                    true if shared.is_passed_on.load(Ordering::SeqCst) == 0 => return Ok(()),
                    true => {
                        server.write_all(&asked[..length]).await?;
                        return server.shutdown().await;
                    }
                    false => server.write_all(&asked[..length]).await?,
                },
            },
            read = server.read(&mut answered) => match read? {
                0 => return Ok(()),
                length => client.write_all(&answered[..length]).await?,
            },
        }
    }
}

impl Shared {
    fn is_cut(&self) -> bool {
        let count = |left| if left > IDLE { Some(left - 1) } else { None };
        let is_cut = self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, count) == Ok(0);
        self.cuts.fetch_add(usize::from(is_cut), Ordering::SeqCst);
        is_cut
    }
}
