//! A terminal over a WebSocket: what is typed and printed in binary frames, everything else in text frames.
//!
//! What a shell prints is read only as fast as the client takes it. The shell ends with the socket.

use std::{io, pin::pin, process::ExitStatus, time::Duration};

use axum::{
    extract::{
        State,
        ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code, rejection::WebSocketUpgradeRejection},
    },
    http::{HeaderMap, header},
    response::Response,
};
use backend::{Origin, Session, Shell, ShellInput, ShellOutput, TerminalSeat};
use bytes::Bytes;
use futures_util::{
    SinkExt, Stream, StreamExt,
    stream::{SplitSink, SplitStream},
};
use protocol::{TerminalAsk, TerminalSize, TerminalTold};
use serde::Deserialize;
use tokio::{
    sync::mpsc,
    time::{sleep, timeout},
};

use crate::{
    Api,
    answer::Problem,
    events::{LOGGED_OUT, logged_out, stopping},
    extract::{Asked, Caller, Login, PodPath, invalid},
};

/// How much is read from a shell at once, in bytes.
const PRINTED_BYTES: usize = 16 * 1024;
/// How much may be typed before a program reads it, in bytes. With more, the socket is not read.
const TYPED_BYTES_MAX: usize = 1024 * 1024;
/// The largest message of a client, in bytes.
const MESSAGE_BYTES_MAX: usize = 1024 * 1024;
/// How many text frames may wait for the writer; further ones are dropped.
const TOLD_MAX: usize = 4;
/// After this much silence a ping is sent, so that a client that is gone is noticed.
const SILENCE_MAX: Duration = Duration::from_secs(5);
/// A client that takes nothing for this long counts as gone.
const WRITE_TIME_MAX: Duration = Duration::from_secs(300);
/// How long the last words of a shell that has ended may take to arrive.
const REST_TIME_MAX: Duration = Duration::from_millis(200);
/// How long the programs in a terminal have to end after its end …
const END_TIME_MAX: Duration = Duration::from_secs(2);
/// … and how long if the server stops.
const STOP_TIME_MAX: Duration = Duration::from_millis(200);
/// How long closing may take.
const CLOSE_TIME_MAX: Duration = Duration::from_secs(1);

/// The size of the screen at first.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct TerminalAsked {
    /// 80 when absent.
    #[param(value_type = Option<u16>, minimum = 1, maximum = 1_000)]
    columns: Option<String>,
    /// 24 when absent.
    #[param(value_type = Option<u16>, minimum = 1, maximum = 500)]
    rows: Option<String>,
}

impl TerminalAsked {
    fn size(&self) -> Result<TerminalSize, Problem> {
        let usual = TerminalSize::default();
        let number = |text: &Option<String>, usual: u16| match text {
            None => Ok(usual),
            Some(text) => text.parse().map_err(|_| invalid("a terminal has 1 to 1000 columns and 1 to 500 rows")),
        };
        let size =
            TerminalSize { columns: number(&self.columns, usual.columns)?, rows: number(&self.rows, usual.rows)? };
        match size.refusal() {
            None => Ok(size),
            Some(sentence) => Err(invalid(sentence)),
        }
    }
}

/// A terminal: your own shell in the Pod's folder (frames: bytes, TerminalAsk, TerminalTold). Off unless the server was
/// started with `--terminal`.
#[utoipa::path(get, path = "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/terminal", tag = "terminal",
    params(("runtime_id" = String, Path), ("worker_id" = String, Path), TerminalAsked),
    responses((status = 101, description = "The socket is open")))]
pub(crate) async fn terminal(
    State(api): State<Api>,
    Caller(origin): Caller,
    Login(session): Login,
    PodPath(pod): PodPath,
    headers: HeaderMap,
    Asked(asked): Asked<TerminalAsked>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    let size = asked.size()?;
    let upgrade = match upgrade {
        Ok(upgrade) => upgrade,
        Err(error) if headers.contains_key(header::UPGRADE) => {
            return Err(invalid(format!("this is not a WebSocket handshake: {}", error.body_text())));
        }
        Err(_) => {
            // Whether there could be one is worth knowing also for those who cannot open it.
            api.backend().terminals().place(&pod).await?;
            return Err(invalid("open this as a WebSocket"));
        }
    };
    let seat = api.backend().terminals().reserve(&origin, &pod).await?;
    let upgrade = upgrade.max_message_size(MESSAGE_BYTES_MAX).max_frame_size(MESSAGE_BYTES_MAX);
    Ok(upgrade.on_upgrade(move |socket| Box::pin(serve(api, origin, session, seat, size, socket))))
}

type Sink = SplitSink<WebSocket, Message>;

/// Why a terminal is closed.
#[derive(Debug)]
enum Over {
    /// The client is gone.
    Left,
    /// Nothing has the terminal open any more.
    Closed,
    Ended(io::Result<ExitStatus>),
    LoggedOut,
    Stopping,
}

impl Over {
    fn frame(&self) -> CloseFrame {
        let (code, reason) = match self {
            Self::Left | Self::Closed | Self::Ended(_) => (close_code::NORMAL, "the shell has ended"),
            Self::LoggedOut => (close_code::POLICY, LOGGED_OUT),
            Self::Stopping => (close_code::AWAY, "yoi is stopping"),
        };
        CloseFrame { code, reason: reason.into() }
    }

    /// How long what runs in the terminal has to end.
    fn grace(&self) -> Duration {
        match self {
            Self::Stopping => STOP_TIME_MAX,
            _ => END_TIME_MAX,
        }
    }
}

async fn serve(
    api: Api,
    origin: Origin,
    session: Option<Session>,
    seat: TerminalSeat,
    size: TerminalSize,
    socket: WebSocket,
) {
    let (mut sink, mut messages) = socket.split();
    let (pod, place) = (seat.pod().clone(), seat.place().clone());
    let terminals = api.backend().terminals();
    let shell = match terminals.open(&origin, seat, size).await {
        Ok(shell) => shell,
        Err(error) => {
            let last = [text(&TerminalTold::problem(error.detail)), close(close_code::ERROR, "no shell")];
            return say_last(last, &mut sink, &mut messages).await;
        }
    };
    // Sent before anything is printed, and there is room for it.
    let is_there = sink.send(text(&TerminalTold::opened(place))).await.is_ok();
    let Shell { mut output, mut input, mut process } = shell;
    let over = match is_there {
        false => Over::Left,
        true => {
            let (told, inbox) = mpsc::channel(TOLD_MAX);
            let mut writing = pin!(write(&mut sink, &mut output, inbox));
            let over = tokio::select! {
                () = stopping(api.options().shutdown.clone()) => Over::Stopping,
                () = logged_out(api.backend().clone(), session) => Over::LoggedOut,
                over = &mut writing => over,
                () = read(&mut messages, &mut input, told) => Over::Left,
                status = process.ended() => {
                    // Something else may still have the terminal open.
                    let _ = timeout(REST_TIME_MAX, &mut writing).await;
                    Over::Ended(status)
                }
            };
            over
        }
    };
    let over = match over {
        Over::Closed => timeout(REST_TIME_MAX, process.ended()).await.map_or(Over::Closed, Over::Ended),
        over => over,
    };
    // The system tells the program in the foreground.
    drop((output, input));
    let told = match &over {
        Over::Ended(Ok(status)) => TerminalTold::ended(status.code()),
        _ => TerminalTold::ended(None),
    };
    let ending = async {
        process.end(over.grace()).await;
        terminals.note_end(&origin, &pod).await;
    };
    tokio::join!(ending, say_last([text(&told), Message::Close(Some(over.frame()))], &mut sink, &mut messages));
}

/// Types what the client sends until it leaves.
async fn read(messages: &mut SplitStream<WebSocket>, input: &mut ShellInput, told: mpsc::Sender<TerminalTold>) {
    let mut typed = Vec::new();
    loop {
        tokio::select! {
            message = messages.next(), if typed.len() < TYPED_BYTES_MAX => match message {
                Some(Ok(Message::Binary(bytes))) => typed.extend_from_slice(&bytes),
                Some(Ok(Message::Text(words))) => match asked(&words) {
                    Ok(size) => input.resize(size),
                    // One who sends more of them than fit is told about the first ones.
                    Err(sentence) => drop(told.try_send(TerminalTold::problem(sentence))),
                },
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => (),
                Some(Ok(Message::Close(_)) | Err(_)) | None => return,
            },
            written = input.type_some(&typed), if !typed.is_empty() => match written {
                Ok(count) => drop(typed.drain(..count)),
                // The writer sees it, too, and knows why.
                Err(_) => return std::future::pending().await,
            },
        }
    }
}

/// Reads a text frame; the error is a sentence.
fn asked(words: &str) -> Result<TerminalSize, String> {
    let TerminalAsk { resize } = serde_json::from_str(words).map_err(|error| {
        format!("a text frame is {{\"resize\":{{\"columns\":80,\"rows\":24}}}}: {error}; what is typed goes in binary frames")
    })?;
    resize.refusal().map_or(Ok(resize), |sentence| Err(sentence.to_owned()))
}

/// Sends what is printed until nobody prints or nobody takes it.
async fn write(sink: &mut Sink, output: &mut ShellOutput, mut inbox: mpsc::Receiver<TerminalTold>) -> Over {
    let mut buffer = vec![0; PRINTED_BYTES];
    loop {
        let message = tokio::select! {
            read = output.read(&mut buffer) => match read {
                Ok(0) | Err(_) => return Over::Closed,
                Ok(count) => Message::Binary(Bytes::copy_from_slice(&buffer[..count])),
            },
            Some(told) = inbox.recv() => text(&told),
            () = sleep(SILENCE_MAX) => Message::Ping(Bytes::new()),
        };
        match timeout(WRITE_TIME_MAX, sink.send(message)).await {
            Ok(Ok(())) => (),
            _ => return Over::Left,
        }
    }
}

fn text(told: &TerminalTold) -> Message {
    Message::Text(serde_json::to_string(told).expect("protocol types always encode").into())
}

fn close(code: u16, reason: &'static str) -> Message {
    Message::Close(Some(CloseFrame { code, reason: reason.into() }))
}

/// Sends the last frames, and reads until the client has closed as well: unread data would turn the close into a reset.
async fn say_last(
    last: [Message; 2],
    sink: &mut Sink,
    messages: &mut (impl Stream<Item = Result<Message, axum::Error>> + Unpin),
) {
    let saying = async {
        for message in last {
            sink.send(message).await?;
        }
        while let Some(Ok(_)) = messages.next().await {}
        Ok::<_, axum::Error>(())
    };
    let _ = timeout(CLOSE_TIME_MAX, saying).await;
}
