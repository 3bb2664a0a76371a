//! A command's way out to the network: a proxy for one call, on a Unix socket to which only the command's keeper has
//! access. Each host and port needs a decision, which is made elsewhere.
//!
//! It supports what programs use with proxies: `CONNECT`, and plain requests for `http://` addresses. Without any network
//! it still leads to the one part of this server that it was made for.

mod connect;
mod request;

use std::{
    fmt,
    fs::{self, DirBuilder},
    io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    time::Duration,
};

use pod::HostPort;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional},
    net::{UnixListener, UnixStream},
    sync::{mpsc, oneshot},
    task::{AbortHandle, JoinSet},
    time::timeout,
};

use self::request::{HEAD_BYTES_MAX, Request};
use crate::questions::{Asking, Questions};

/// The most connections of one call at once; further ones wait until one has ended.
const CONNECTIONS_MAX: usize = 256;
/// How long a program may take to say where it wants to go.
const HEAD_WAIT_MAX: Duration = Duration::from_secs(30);

/// A request to connect to a host, waiting for yes or no. No answer means no.
#[derive(Debug)]
pub struct Wish {
    pub call_id: String,
    pub to: HostPort,
    pub answer: oneshot::Sender<bool>,
}

/// What of this server may be asked of a proxy directly, without a decision: one path at one address, in the name of one
/// token. Inside the sandbox it is at [`OWN_URL`].
#[derive(Clone, PartialEq, Eq)]
pub struct Own {
    pub to: HostPort,
    pub path: String,
    /// The bearer token of every request, whatever the program itself sends.
    pub token: String,
}

// Written by hand, so that the token is never printed.
impl fmt::Debug for Own {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { to, path, .. } = self;
        formatter.debug_struct("Own").field("to", to).field("path", path).finish_non_exhaustive()
    }
}

/// The address of [`Own`] inside the sandbox, without its path.
pub const OWN_URL: &str = "http://127.0.0.1:3128";

/// A proxy for one call. Dropping it closes the socket and every connection.
#[derive(Debug)]
pub struct Proxy {
    folder: PathBuf,
    asking: Asking,
    listening: AbortHandle,
}

impl Proxy {
    /// Listens in a folder of its own that no other account can enter. Each request is sent to `wishes`.
    pub fn open(call_id: &str, wishes: mpsc::Sender<Wish>) -> io::Result<Self> {
        Self::open_with(call_id, wishes, None)
    }

    /// The same, with a part of this server that needs no decision.
    pub fn open_with(call_id: &str, wishes: mpsc::Sender<Wish>, own: Option<Own>) -> io::Result<Self> {
        Self::listening(call_id, Some(wishes), own)
    }

    /// Leads to this part of this server and nowhere else, for a program that has no network.
    pub fn open_only(call_id: &str, own: Own) -> io::Result<Self> {
        Self::listening(call_id, None, Some(own))
    }

    fn listening(call_id: &str, wishes: Option<mpsc::Sender<Wish>>, own: Option<Own>) -> io::Result<Self> {
        let folder = new_folder()?;
        let listener = UnixListener::bind(socket_in(&folder)).inspect_err(|_| drop(fs::remove_dir_all(&folder)))?;
        let asking = Asking::new();
        let leading = Leading { call_id: call_id.to_owned(), wishes, own, asking: asking.clone() };
        let listening = tokio::spawn(listen(listener, leading)).abort_handle();
        Ok(Self { folder, asking, listening })
    }

    pub fn socket(&self) -> PathBuf {
        socket_in(&self.folder)
    }

    /// The requests that wait for a decision.
    pub fn questions(&self) -> Questions {
        self.asking.questions()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.listening.abort();
        if let Err(error) = fs::remove_dir_all(&self.folder) {
            tracing::warn!(%error, folder = %self.folder.display(), "the socket of a call that ended stays behind");
        }
    }
}

fn socket_in(folder: &Path) -> PathBuf {
    folder.join("out")
}

/// In the system's temporary folder, because a socket's path is limited to 107 bytes. Under a unique name, so that
/// nobody can have created it before.
pub(crate) fn new_folder() -> io::Result<PathBuf> {
    let name = format!("yoi-{}", uuid::Uuid::new_v4().simple());
    let folder = std::env::temp_dir().join(name);
    DirBuilder::new().mode(0o700).create(&folder)?;
    Ok(folder)
}

/// What each connection needs.
#[derive(Debug, Clone)]
struct Leading {
    call_id: String,
    /// `None`: nobody decides, and everything else is refused.
    wishes: Option<mpsc::Sender<Wish>>,
    own: Option<Own>,
    asking: Asking,
}

/// Accepts connections until it is dropped; they end with it.
async fn listen(listener: UnixListener, leading: Leading) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept(), if connections.len() < CONNECTIONS_MAX => match accepted {
                Ok((stream, _)) => drop(connections.spawn(serve(stream, leading.clone()))),
                Err(error) => return tracing::warn!(%error, "the way out of a command is closed"),
            },
            Some(_) = connections.join_next() => (),
        }
    }
}

/// One connection from start to end.
async fn serve(mut stream: UnixStream, leading: Leading) {
    let Ok(Some(head)) = timeout(HEAD_WAIT_MAX, read_head(&mut stream)).await else { return };
    let request = match Request::parse(&head, leading.own.as_ref()) {
        Ok(request) => request,
        Err(why) => return refuse(&mut stream, 400, &why).await,
    };
    if !request.is_own && !is_allowed(&leading, &request.to).await {
        let HostPort { host, port } = &request.to;
        let sentence = match leading.wishes {
            Some(_) => format!("{host}:{port} is not allowed to this Pod; a rule for Network {host} allows it"),
            None => format!("{host}:{port} is not reached: this Pod has no network"),
        };
        return refuse(&mut stream, 403, &sentence).await;
    }
    match connect::connect(&request.to).await {
        Ok(mut outer) => {
            let begun = match request.first {
                // The program's first bytes are forwarded to the host.
                Some(first) => outer.write_all(&first).await,
                None => stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await,
            };
            if begun.is_ok() {
                // One side closing the connection is the normal end.
                let _ = copy_bidirectional(&mut stream, &mut outer).await;
            }
        }
        Err(connect::Refused { status, why }) => refuse(&mut stream, status, &why).await,
    }
}

/// Waits for the decision.
async fn is_allowed(leading: &Leading, to: &HostPort) -> bool {
    let Some(wishes) = &leading.wishes else { return false };
    let (answer, answered) = oneshot::channel();
    let wish = Wish { call_id: leading.call_id.clone(), to: to.clone(), answer };
    let question = leading.asking.open();
    let is_allowed = wishes.send(wish).await.is_ok() && answered.await.unwrap_or(false);
    drop(question);
    is_allowed
}

/// All bytes up to the empty line and none after it. `None` if the program goes away or sends too much.
async fn read_head(stream: &mut UnixStream) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() >= HEAD_BYTES_MAX {
            refuse(stream, 431, "the head of the request is too long").await;
            return None;
        }
        head.push(stream.read_u8().await.ok()?);
    }
    Some(head)
}

async fn refuse(stream: &mut UnixStream, status: u16, why: &str) {
    let reason = match status {
        400 => "Bad Request",
        403 => "Forbidden",
        431 => "Request Header Fields Too Large",
        _ => "Bad Gateway",
    };
    let body = format!("yoi: {why}\n");
    let length = body.len();
    let answer = format!(
        "HTTP/1.1 {status} {reason}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    );
    // The program may have gone away.
    let _ = stream.write_all(answer.as_bytes()).await;
    let _ = stream.shutdown().await;
}
