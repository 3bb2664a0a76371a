//! A relay of a model's answers to sockets, committed first or not. It keeps no state and checks nothing.

use std::{
    collections::HashMap,
    future::pending,
    path::Path as FilePath,
    sync::{Arc, Mutex},
};

use axum::{
    Router,
    extract::{
        Path, State, WebSocketUpgrade,
        ws::{Message, Utf8Bytes, WebSocket},
    },
    response::Response,
    routing::{get, post},
};
use futures_util::{FutureExt, StreamExt, future::BoxFuture};
use serde_json::{Value, json};
use sqlx::{
    ConnectOptions, SqliteConnection,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous},
};
use tokio::sync::{broadcast, mpsc, oneshot};

use crate::viewer::END;

/// The number of frames that may wait for the slowest viewer.
const FRAMES_MAX: usize = 16_384;
const BATCHES_MAX: usize = 1_024;
/// The number of an answer's chunks that are read at once.
const CHUNKS_MAX: usize = 1_024;

#[derive(Debug)]
struct Relay {
    model_url: String,
    http: reqwest::Client,
    writer: Option<mpsc::Sender<Batch>>,
    streams: Mutex<HashMap<usize, broadcast::Sender<Utf8Bytes>>>,
}

/// Rows as `[stream, seq, body]`, and who waits until they are on disk.
#[derive(Debug)]
struct Batch {
    rows: Vec<Value>,
    committed: oneshot::Sender<()>,
}

pub(super) async fn router(model_url: &str, database: Option<&str>) -> Router {
    choose_cryptography();
    let writer = match database {
        Some(path) => Some(writer(path.as_ref()).await),
        None => None,
    };
    let relay =
        Relay { model_url: model_url.to_owned(), http: reqwest::Client::new(), writer, streams: Mutex::default() };
    Router::new().route("/ws/{stream}", get(watch)).route("/start/{stream}", post(start)).with_state(Arc::new(relay))
}

/// reqwest is built without a choice of cryptography.
fn choose_cryptography() {
    rustls::crypto::ring::default_provider().install_default().ok();
}

impl Relay {
    fn frames(&self, stream: usize) -> broadcast::Sender<Utf8Bytes> {
        let mut streams = self.streams.lock().expect("no holder of the streams panics");
        streams.entry(stream).or_insert_with(|| broadcast::Sender::new(FRAMES_MAX)).clone()
    }

    /// Relays one answer. All deltas that arrive while a batch is being committed form the next batch, and one frame.
    async fn pass_on(&self, stream: usize) {
        let frames = self.frames(stream);
        let url = format!("{}/chat/completions", self.model_url);
        let asked = self.http.post(url).json(&json!({ "model": "timed", "stream": true })).send().await;
        let mut body = asked.expect("the model answers").bytes_stream().ready_chunks(CHUNKS_MAX);
        let (mut unread, mut seq, mut come, mut is_over) = (Vec::new(), 0, Vec::new(), false);
        let mut committing: Option<BoxFuture<'_, Vec<Value>>> = None;
        loop {
            if committing.is_none() && !come.is_empty() {
                committing = Some(self.commit(stream, std::mem::take(&mut come)).boxed());
            }
            tokio::select! {
                biased;
                committed = async { match &mut committing { Some(commit) => commit.await, None => pending().await } } => {
                    committing = None;
                    let frame = json!({ "type": "records", "records": committed }).to_string();
                    frames.send(frame.into()).ok();
                }
                chunks = body.next(), if !is_over => match chunks {
                    Some(chunks) => {
                        chunks.into_iter().for_each(|bytes| unread.extend_from_slice(&bytes.expect("the model goes on")));
                        come.extend(records(&mut unread, &mut seq));
                    }
                    None => is_over = true,
                },
                else => break,
            }
            if is_over && committing.is_none() && come.is_empty() {
                break;
            }
        }
        frames.send(format!("{{{END}:true}}").into()).ok();
    }

    async fn commit(&self, stream: usize, records: Vec<Value>) -> Vec<Value> {
        if let Some(writer) = &self.writer {
            let rows = records.iter().map(|record| json!([stream, record])).collect();
            let (committed, is_committed) = oneshot::channel();
            writer.send(Batch { rows, committed }).await.expect("the writer lives as long as the relay");
            is_committed.await.expect("no commit fails");
        }
        records
    }
}

/// Takes the complete server-sent events out of `unread`.
fn records(unread: &mut Vec<u8>, seq: &mut u64) -> Vec<Value> {
    let mut records = Vec::new();
    let mut from = 0;
    while let Some(length) = unread[from..].windows(2).position(|pair| pair == b"\n\n") {
        let event = &unread[from..from + length];
        from += length + 2;
        let Some(chunk) = event.strip_prefix(b"data: ").and_then(|json| serde_json::from_slice::<Value>(json).ok())
        else {
            continue;
        };
        if let Some(text) = chunk["choices"][0]["delta"]["content"].as_str() {
            *seq += 1;
            let event = json!({ "kind": "text_chunk", "block": "b1", "text": text });
            records.push(json!({ "seq": *seq, "at": "2026-11-21T10:00:00.123456Z", "event": event }));
        }
    }
    unread.drain(..from);
    records
}

/// A database as bare programs use it: committed means durable.
pub(crate) async fn connect(path: &FilePath) -> SqliteConnection {
    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .disable_statement_logging();
    let mut connection = options.connect().await.expect("the folder is writable");
    let create = "create table if not exists journal (id integer primary key, stream integer, body text)";
    sqlx::raw_sql(create).execute(&mut connection).await.expect("the file is new");
    connection
}

/// One transaction for everything that has gathered; no timer.
async fn writer(path: &FilePath) -> mpsc::Sender<Batch> {
    let mut connection = connect(path).await;
    let (sender, mut batches) = mpsc::channel::<Batch>(BATCHES_MAX);
    tokio::spawn(async move {
        let mut gathered = Vec::new();
        while batches.recv_many(&mut gathered, BATCHES_MAX).await > 0 {
            let rows: Vec<_> = gathered.iter_mut().flat_map(|batch| std::mem::take(&mut batch.rows)).collect();
            // One statement is one transaction, and durable when it returns.
            sqlx::query("insert into journal (stream, body) select value->>0, value->1 from json_each(?)")
                .bind(Value::from(rows).to_string())
                .execute(&mut connection)
                .await
                .expect("rows are new");
            for batch in gathered.drain(..) {
                // The waiting stream may be gone.
                let _ = batch.committed.send(());
            }
        }
    });
    sender
}

async fn start(State(relay): State<Arc<Relay>>, Path(stream): Path<usize>) {
    tokio::spawn(async move { relay.pass_on(stream).await });
}

async fn watch(State(relay): State<Arc<Relay>>, Path(stream): Path<usize>, upgrade: WebSocketUpgrade) -> Response {
    let mut frames = relay.frames(stream).subscribe();
    upgrade.on_upgrade(async move |mut socket: WebSocket| {
        while let Ok(frame) = frames.recv().await {
            if socket.send(Message::Text(frame)).await.is_err() {
                return;
            }
        }
    })
}
