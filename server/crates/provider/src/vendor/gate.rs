//! The gate between a provider and the library that parses its answers.
//!
//! The library accepts whatever a connection delivers, and searches a line again from its beginning with each packet.
//! It offers no hook where one could count first, but it accepts an HTTP client of ours. That client connects to a
//! socket in this process; the gate behind it forwards the request to the provider, counts, reassembles events, and
//! passes on only complete ones of limited size (docs/decisions/0043-a-provider-is-a-stranger.md).

mod ask;
mod events;
mod forward;
mod portions;

use std::{convert::Infallible, io, sync::Arc};

use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    net::{UnixListener, UnixStream},
    task::{JoinHandle, JoinSet},
};

pub(super) use self::ask::{Ask, Extra, Shape};
use self::{ask::Asks, forward::Forward};
use super::{TimeLimits, address::Address, failure::Failures};

/// Random bytes in the socket's name, so that it cannot be guessed. Other processes are rejected even if they know
/// it.
const NAME_BYTES: usize = 16;

/// One provider's gate. It closes when this is dropped.
#[derive(Debug)]
pub(super) struct Gate {
    /// The client for the library.
    pub(super) client: reqwest::Client,
    asks: Arc<Asks>,
    server: JoinHandle<()>,
}

impl Gate {
    /// Opens the gate; `outer` connects to the provider.
    pub(super) fn open(
        outer: reqwest::Client,
        address: Address,
        failures: Failures,
        limits: TimeLimits,
    ) -> io::Result<Self> {
        let name = socket_name()?;
        let listener = UnixListener::bind(&name)?;
        let client = reqwest::Client::builder().unix_socket(name.as_str()).no_proxy().no_gzip().build();
        let client = client.map_err(io::Error::other)?;
        let asks = Arc::<Asks>::default();
        let forward = Arc::new(Forward { outer, address, failures, limits, asks: Arc::clone(&asks) });
        Ok(Self { client, asks, server: tokio::spawn(serve(listener, forward)) })
    }

    /// Registers one request, with what its body needs beyond what the library writes.
    pub(super) fn ask(&self, shape: Shape, extra: Extra) -> Ask {
        Asks::begin(&self.asks, shape, extra)
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// In Linux's abstract namespace, so that no file is left behind when the process ends.
fn socket_name() -> io::Result<String> {
    let mut bytes = [0_u8; NAME_BYTES];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(bytes.iter().fold("\0yoi-gate-".to_owned(), |name, byte| format!("{name}{byte:02x}")))
}

async fn serve(listener: UnixListener, forward: Arc<Forward>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) if is_ours(&stream) => {
                    connections.spawn(connection(stream, Arc::clone(&forward)));
                }
                Ok(_) => (),
                // Out of file descriptors: wait until a connection closes.
                Err(_) => tokio::time::sleep(std::time::Duration::from_millis(50)).await,
            },
            Some(_) = connections.join_next() => (),
        }
    }
}

/// Whether the connection comes from this process.
fn is_ours(stream: &UnixStream) -> bool {
    let pid = stream.peer_cred().ok().and_then(|peer| peer.pid());
    pid.is_some_and(|pid| u32::try_from(pid) == Ok(std::process::id()))
}

async fn connection(stream: UnixStream, forward: Arc<Forward>) {
    let service = service_fn(move |request| {
        let forward = Arc::clone(&forward);
        async move { Ok::<_, Infallible>(forward.answer(request).await) }
    });
    // Fails when the library drops an answer, which is how one is cancelled.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}
