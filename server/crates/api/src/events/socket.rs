//! The event socket: one reader, one writer, and a task per subscription between the backend and the writer.

use std::{pin::pin, time::Duration};

use axum::{
    extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code},
    response::Response,
};
use backend::Session;
use futures_util::{SinkExt, Stream, StreamExt, stream::SplitSink};
use protocol::{DiagnosticCode, RuntimeId};
use tokio::{sync::mpsc, time::timeout};
use tokio_tungstenite::tungstenite::{self, error::ProtocolError};

use super::{
    HEARTBEAT, LOGGED_OUT,
    asked::{Refusal, Said, parse},
    frame::Frame,
    logged_out, stopping,
    subscriptions::{Outgoing, Subscriptions},
};
use crate::Api;

/// How many frames of all subscriptions together may wait for the writer. When it is full, nothing is pulled.
const OUTBOX_FRAMES: usize = 4;
/// The most frames that are written before a flush.
const FRAMES_PER_FLUSH: usize = 32;
/// A client that takes nothing for this long counts as gone.
const WRITE_TIME_MAX: Duration = Duration::from_secs(300);
/// How long a client whose input was unreadable has to take what was sent before; the rest is dropped.
const REST_TIME_MAX: Duration = Duration::from_millis(300);
/// How long closing may take.
const CLOSE_TIME_MAX: Duration = Duration::from_secs(1);
/// Messages up to this size are read and, if they are too large for us, answered; larger ones close the socket.
const MESSAGE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Why the server closes a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Goodbye {
    Stopping,
    LoggedOut,
    TooLarge,
    NoText,
    NoProtocol,
}

impl Goodbye {
    /// The reason to give a client whose input could not be read; `None` if the connection itself broke.
    fn of(error: axum::Error) -> Option<Self> {
        match *error.into_inner().downcast::<tungstenite::Error>().ok()? {
            tungstenite::Error::Capacity(_) => Some(Self::TooLarge),
            tungstenite::Error::Utf8(_) => Some(Self::NoText),
            tungstenite::Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => None,
            tungstenite::Error::Protocol(_) => Some(Self::NoProtocol),
            _ => None,
        }
    }

    fn frame(self) -> CloseFrame {
        let (code, reason) = match self {
            Self::Stopping => (close_code::AWAY, "yoi is stopping"),
            Self::LoggedOut => (close_code::POLICY, LOGGED_OUT),
            Self::TooLarge => (close_code::SIZE, "a message has at most 8 MiB"),
            Self::NoText => (close_code::INVALID, "a text frame has to be UTF-8"),
            Self::NoProtocol => (close_code::PROTOCOL, "this is not a WebSocket frame"),
        };
        CloseFrame { code, reason: reason.into() }
    }
}

type Sink = SplitSink<WebSocket, Message>;

pub(super) fn open(
    api: Api,
    session: Option<Session>,
    listed: Option<RuntimeId>,
    upgrade: WebSocketUpgrade,
) -> Response {
    upgrade
        .max_message_size(MESSAGE_BYTES_MAX)
        .max_frame_size(MESSAGE_BYTES_MAX)
        .on_upgrade(move |socket| Box::pin(serve(api, session, listed, socket)))
}

async fn serve(api: Api, session: Option<Session>, listed: Option<RuntimeId>, socket: WebSocket) {
    let (mut sink, mut messages) = socket.split();
    let (outbox, inbox) = mpsc::channel(OUTBOX_FRAMES);
    let subscriptions = Subscriptions::new(api.backend().clone(), listed, outbox.clone());
    // The very first frame; the outbox is empty, so there is room.
    let _ = outbox.try_send(Frame::hello(api.options()).into());
    let stopping = stopping(api.options().shutdown.clone());
    let logged_out = logged_out(api.backend().clone(), session);
    let goodbye = {
        let mut writing = pin!(write(&mut sink, inbox));
        tokio::select! {
            () = stopping => Some(Goodbye::Stopping),
            () = logged_out => Some(Goodbye::LoggedOut),
            _ = &mut writing => None,
            unreadable = read(&mut messages, outbox, subscriptions) => {
                // The reader and its subscriptions are gone, so the writer ends after what is queued now.
                if unreadable.is_some() {
                    let _ = timeout(REST_TIME_MAX, writing).await;
                }
                unreadable
            }
        }
    };
    if let Some(goodbye) = goodbye {
        let _ = timeout(CLOSE_TIME_MAX, say_goodbye(goodbye, &mut sink, &mut messages)).await;
    }
}

/// Answers the client until it leaves or sends something unreadable. When the outbox is full this waits, and so does
/// the client.
async fn read(
    messages: &mut (impl Stream<Item = Result<Message, axum::Error>> + Unpin),
    outbox: mpsc::Sender<Outgoing>,
    mut subscriptions: Subscriptions,
) -> Option<Goodbye> {
    while let Some(message) = messages.next().await {
        let message = match message {
            Ok(message) => message,
            Err(error) => return Goodbye::of(error),
        };
        let reply = match message {
            Message::Text(text) => answer(&text, &mut subscriptions),
            Message::Binary(_) => Some(refused(Refusal::bad("frames are text"))),
            // The library answers pings, and answers a close by closing.
            Message::Ping(_) | Message::Pong(_) | Message::Close(_) => None,
        };
        if let Some(reply) = reply
            && outbox.send(reply.into()).await.is_err()
        {
            return None;
        }
    }
    None
}

fn answer(text: &str, subscriptions: &mut Subscriptions) -> Option<Frame> {
    let done = parse(text).and_then(|said| match said {
        Said::Ping => Ok(Some(Frame::pong())),
        Said::Subscribe { id, watch } => subscriptions.subscribe(id, watch).map(|()| None),
        Said::Unsubscribe { id } => {
            subscriptions.unsubscribe(&id);
            Ok(None)
        }
    });
    done.unwrap_or_else(|refusal| Some(refused(refusal)))
}

/// About a frame of the client, so it belongs to no subscription.
fn refused(Refusal { code, detail }: Refusal) -> Frame {
    debug_assert!(matches!(
        code,
        DiagnosticCode::BadFrame | DiagnosticCode::CommandOnSocket | DiagnosticCode::TooManySubscriptions
    ));
    Frame::diagnostic(None, code, detail)
}

/// Writes until the client is gone, with heartbeats during silence.
async fn write(sink: &mut Sink, mut inbox: mpsc::Receiver<Outgoing>) -> Result<(), axum::Error> {
    loop {
        let first = match timeout(HEARTBEAT, inbox.recv()).await {
            Ok(Some(outgoing)) => outgoing,
            Ok(None) => return Ok(()),
            Err(_) => Frame::heartbeat().into(),
        };
        match timeout(WRITE_TIME_MAX, write_some(sink, first, &mut inbox)).await {
            Ok(written) => written?,
            Err(_) => return Ok(()),
        }
    }
}

/// Writes a frame and those queued behind it, then flushes once.
async fn write_some(sink: &mut Sink, first: Outgoing, inbox: &mut mpsc::Receiver<Outgoing>) -> Result<(), axum::Error> {
    let mut next = Some(first);
    for _ in 0..FRAMES_PER_FLUSH {
        let Some(outgoing) = next else { break };
        if outgoing.is_wanted() {
            sink.feed(Message::Text(outgoing.frame.json.into())).await?;
        }
        next = inbox.try_recv().ok();
    }
    if let Some(outgoing) = next.filter(Outgoing::is_wanted) {
        sink.feed(Message::Text(outgoing.frame.json.into())).await?;
    }
    sink.flush().await
}

/// Sends the reason, and reads until the client has closed as well: unread data would turn the close into a reset.
async fn say_goodbye(
    goodbye: Goodbye,
    sink: &mut Sink,
    messages: &mut (impl Stream<Item = Result<Message, axum::Error>> + Unpin),
) {
    if goodbye == Goodbye::LoggedOut {
        let told = Frame::diagnostic(None, DiagnosticCode::Unauthorized, LOGGED_OUT.to_owned());
        // If this cannot be sent, nothing further can either.
        let _ = sink.feed(Message::Text(told.json.into())).await;
    }
    if sink.send(Message::Close(Some(goodbye.frame()))).await.is_ok() {
        while let Some(Ok(_)) = messages.next().await {}
    }
}
