//! The socket's task: connects, subscribes, passes frames on, detects silence, and reconnects.

use std::{path::Path, sync::Arc, time::Duration};

use bytes::Bytes;
use follow::{SILENCE_MS_MAX, Step, delay_ms};
use futures_util::{Sink, SinkExt, Stream, StreamExt};
use protocol::{ClientFrame, DiagnosticCode, ServerFrame};
use tokio::{
    net::UnixStream,
    sync::mpsc,
    time::{Instant, sleep_until, timeout},
};
use tokio_tungstenite::{
    client_async_with_config, connect_async_with_config,
    tungstenite::{
        Error, Message, Utf8Bytes, client::IntoClientRequest, handshake::client::Request, http::StatusCode,
        protocol::WebSocketConfig,
    },
};

use crate::{
    Client, Connection, StreamItem,
    items::{Shared, Told},
    raw,
};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const SILENCE_MAX: Duration = Duration::from_millis(SILENCE_MS_MAX);
/// A server that does not accept our few bytes within this time counts as dead too.
const SEND_TIMEOUT: Duration = Duration::from_secs(5);
/// The gap is over when nothing has arrived for this long …
const GAP_QUIET: Duration = Duration::from_millis(400);
/// … or after this, if the Pod keeps producing records.
const GAP_MAX: Duration = Duration::from_secs(2);
/// The largest frame accepted: the server limits a snapshot to 8 MiB, and escapes need room.
const FRAME_BYTES_MAX: usize = 64 * 1024 * 1024;

/// A message stream and sink, over TCP, TLS or a Unix socket.
trait Messages: Stream<Item = Result<Message, Error>> + Sink<Message, Error = Error> + Send + Sync + Unpin {}
impl<T: Stream<Item = Result<Message, Error>> + Sink<Message, Error = Error> + Send + Sync + Unpin> Messages for T {}

type Socket = Box<dyn Messages>;

/// Why a connection ended or could not be made.
enum Loss {
    /// The event stream was dropped.
    Unread,
    Unauthorized,
    Broken(String),
}

/// Runs until the stream is dropped.
pub(crate) async fn run(client: Client, shared: Arc<Shared>, items: mpsc::Sender<Told>) {
    let mut attempt = 0;
    let mut resumed = false;
    loop {
        let mut greeted = false;
        let loss = match connect(&client, shared.is_raw).await {
            Ok(socket) => {
                shared.subscriptions().connection_is_new();
                let mut session = Session::new(&shared, &items, socket, resumed);
                let loss = session.run().await;
                greeted = session.greeted;
                loss
            }
            Err(loss) => loss,
        };
        resumed |= greeted;
        attempt = if greeted { 1 } else { attempt + 1 };
        let told = match loss {
            Loss::Unread => return,
            Loss::Unauthorized => Connection::Unauthorized,
            Loss::Broken(cause) => Connection::Reconnecting { attempt, cause },
        };
        if items.send((StreamItem::Connection(told), Vec::new())).await.is_err() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(delay_ms(attempt, chance()))).await;
    }
}

/// A random number in `0..1`.
fn chance() -> f64 {
    let random = u32::from_le_bytes(uuid::Uuid::new_v4().as_bytes()[..4].try_into().expect("a uuid has 16 bytes"));
    f64::from(random) / f64::from(u32::MAX)
}

async fn connect(client: &Client, is_raw: bool) -> Result<Socket, Loss> {
    let place = client.place();
    let query = if is_raw { "?runtime=local" } else { "" };
    let mut request = format!("{}{query}", place.socket_address()).into_client_request().map_err(broken)?;
    request.headers_mut().extend(client.headers().map_err(broken)?);
    match timeout(CONNECT_TIMEOUT, open(place.unix(), request)).await {
        Ok(Ok(socket)) => Ok(socket),
        Ok(Err(Error::Http(answer))) if answer.status() == StatusCode::UNAUTHORIZED => Err(Loss::Unauthorized),
        Ok(Err(Error::Http(answer))) => Err(Loss::Broken(format!("the server answered {}", answer.status()))),
        Ok(Err(error)) => Err(broken(error)),
        Err(_) => Err(Loss::Broken("the server does not take the connection".to_owned())),
    }
}

async fn open(unix: Option<&Path>, request: Request) -> Result<Socket, Error> {
    let config =
        WebSocketConfig::default().max_frame_size(Some(FRAME_BYTES_MAX)).max_message_size(Some(FRAME_BYTES_MAX));
    Ok(match unix {
        Some(path) => {
            let stream = UnixStream::connect(path).await?;
            Box::new(client_async_with_config(request, stream, Some(config)).await?.0)
        }
        None => Box::new(connect_async_with_config(request, Some(config), true).await?.0),
    })
}

fn broken(error: impl ToString) -> Loss {
    Loss::Broken(error.to_string())
}

/// One connection.
struct Session<'a> {
    shared: &'a Shared,
    items: &'a mpsc::Sender<Told>,
    socket: Socket,
    /// Whether it follows a lost connection.
    resumed: bool,
    /// Whether the server has sent its greeting.
    greeted: bool,
    heard_at: Instant,
    /// Set from the greeting of a resumed connection until everything missed has arrived.
    gap: Option<Gap>,
}

/// How much of what was missed has arrived.
struct Gap {
    records: usize,
    quiet_at: Instant,
    over_at: Instant,
}

impl<'a> Session<'a> {
    fn new(shared: &'a Shared, items: &'a mpsc::Sender<Told>, socket: Socket, resumed: bool) -> Self {
        Self { shared, items, socket, resumed, greeted: false, heard_at: Instant::now(), gap: None }
    }

    /// Runs the connection; returns why it ended.
    async fn run(&mut self) -> Loss {
        loop {
            if let Err(loss) = self.step().await {
                return loss;
            }
        }
    }

    async fn step(&mut self) -> Result<(), Loss> {
        if self.greeted {
            let due = self.shared.subscriptions().take_due(self.shared.now_ms(), self.resumed);
            for frame in due {
                self.send(&frame).await?;
            }
        }
        let wake_at = self.wake_at();
        tokio::select! {
            // Read what has arrived before judging silence: the reader may have been slow, and not the server.
            biased;
            message = self.socket.next() => self.take(message).await,
            () = self.shared.changed.notified() => Ok(()),
            () = sleep_until(wake_at) => self.wake().await,
        }
    }

    /// The next moment at which something is due even if nothing arrives.
    fn wake_at(&self) -> Instant {
        let silent_at = self.heard_at + SILENCE_MAX;
        let gap_at = self.gap.as_ref().map(|gap| gap.quiet_at.min(gap.over_at));
        let due_at = self.shared.subscriptions().next_due().filter(|_| self.greeted);
        let due_at = due_at.map(|ms| self.shared.moment(ms));
        [gap_at, due_at].into_iter().flatten().fold(silent_at, Instant::min)
    }

    async fn wake(&mut self) -> Result<(), Loss> {
        let now = Instant::now();
        if self.heard_at + SILENCE_MAX <= now {
            return Err(Loss::Broken("the server has been silent for 15 s".to_owned()));
        }
        match &self.gap {
            Some(gap) if gap.quiet_at.min(gap.over_at) <= now => {
                let records = gap.records;
                self.end_gap();
                self.tell(Connection::CaughtUp { records }).await
            }
            _ => Ok(()),
        }
    }

    fn end_gap(&mut self) {
        self.gap = None;
        self.shared.subscriptions().gap_is_over();
    }

    async fn send(&mut self, frame: &ClientFrame) -> Result<(), Loss> {
        let text = serde_json::to_string(frame).expect("protocol types always encode");
        match timeout(SEND_TIMEOUT, self.socket.send(Message::text(text))).await {
            Ok(sent) => sent.map_err(broken),
            Err(_) => Err(Loss::Broken("the server takes no bytes".to_owned())),
        }
    }

    async fn take(&mut self, message: Option<Result<Message, Error>>) -> Result<(), Loss> {
        self.heard_at = Instant::now();
        match message {
            Some(Ok(Message::Text(text))) => match self.read(text) {
                Ok((frame, records)) => self.take_frame(frame, records).await,
                // A newer server may send frames that this version does not know.
                Err(error) => {
                    tracing::debug!(%error, "a frame that this version does not know");
                    Ok(())
                }
            },
            Some(Ok(Message::Close(Some(frame)))) if !frame.reason.is_empty() => {
                Err(Loss::Broken(frame.reason.to_string()))
            }
            Some(Ok(Message::Close(_))) | None => Err(Loss::Broken("the server closed the connection".to_owned())),
            Some(Ok(_)) => Ok(()),
            Some(Err(error)) => Err(broken(error)),
        }
    }

    fn read(&self, text: Utf8Bytes) -> serde_json::Result<(ServerFrame, Vec<Bytes>)> {
        if self.shared.is_raw
            && let Some((head, records)) = raw::split(text.clone().into(), "records")
        {
            return serde_json::from_slice(&head).map(|frame| (frame, records));
        }
        serde_json::from_str(&text).map(|frame| (frame, Vec::new()))
    }

    async fn take_frame(&mut self, frame: ServerFrame, records: Vec<Bytes>) -> Result<(), Loss> {
        match frame {
            ServerFrame::Hello { .. } => self.greet().await,
            ServerFrame::Heartbeat { .. } | ServerFrame::Pong {} => Ok(()),
            ServerFrame::Diagnostic { code: DiagnosticCode::Unauthorized, .. } => Err(Loss::Unauthorized),
            frame => self.pass_on(frame, records).await,
        }
    }

    async fn greet(&mut self) -> Result<(), Loss> {
        self.greeted = true;
        let now = Instant::now();
        if self.resumed && self.shared.subscriptions().resumable() > 0 {
            self.gap = Some(Gap { records: 0, quiet_at: now + GAP_QUIET, over_at: now + GAP_MAX });
        }
        self.tell(Connection::Connected).await
    }

    async fn pass_on(&mut self, frame: ServerFrame, records: Vec<Bytes>) -> Result<(), Loss> {
        let step = self.shared.subscriptions().take_note(&frame, self.shared.now_ms());
        match step {
            Step::Stale => return Ok(()),
            Step::Gap => return Err(Loss::Broken("a frame was missing".to_owned())),
            Step::Resumed { records: count } => {
                if let Some(gap) = &mut self.gap {
                    gap.records += count.max(records.len());
                    gap.quiet_at = Instant::now() + GAP_QUIET;
                }
            }
            Step::Reloaded => {
                self.end_gap();
                self.yield_item(StreamItem::Frame(frame), records).await?;
                return self.tell(Connection::Reloaded).await;
            }
            Step::Other => {}
        }
        self.yield_item(StreamItem::Frame(frame), records).await
    }

    async fn tell(&self, connection: Connection) -> Result<(), Loss> {
        self.yield_item(StreamItem::Connection(connection), Vec::new()).await
    }

    async fn yield_item(&self, item: StreamItem, records: Vec<Bytes>) -> Result<(), Loss> {
        self.items.send((item, records)).await.map_err(|_| Loss::Unread)
    }
}
