//! A model server for benchmarks that answers in the caller's protocol, with deltas that say when they were sent:
//! `NUMBER:NANOSECONDS `.
//!
//! It flushes each delta, as real servers do: one HTTP chunk and one write to the socket for each.

mod wire;

use std::{
    io::Write,
    net::SocketAddr,
    sync::{Arc, LazyLock, Mutex},
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

pub use self::wire::Wire;

/// The zero point of the nanoseconds.
static ZERO: LazyLock<Instant> = LazyLock::new(Instant::now);

/// A server with timed deltas. Dropping it stops the server.
#[derive(Debug)]
pub struct TimedModel {
    address: SocketAddr,
    shared: Arc<Shared>,
    server: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    plan: Mutex<Plan>,
    /// When the headers of each request arrived.
    asked: Mutex<Vec<Instant>>,
}

#[derive(Debug, Clone, Copy)]
pub struct Plan {
    pub deltas: usize,
    pub pace: Pace,
}

#[derive(Debug, Clone, Copy)]
pub enum Pace {
    /// As fast as they are read, from an async server.
    AtOnce,
    /// The same from a server with one thread per connection.
    Threaded,
    Every(Duration),
}

/// One delta as it was read back.
#[derive(Debug, Clone, Copy)]
pub struct Delta {
    pub number: usize,
    pub sent: Instant,
}

impl TimedModel {
    /// # Panics
    /// If this machine has no free port.
    pub async fn start(plan: Plan) -> Self {
        LazyLock::force(&ZERO);
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port on this machine");
        let address = listener.local_addr().expect("a bound socket has an address");
        let shared = Arc::new(Shared { plan: Mutex::new(plan), asked: Mutex::default() });
        let server = tokio::spawn(serve(listener, shared.clone()));
        Self { address, shared, server }
    }

    /// For chat completions.
    pub fn base_url(&self) -> String {
        self.base_url_for(Wire::ChatCompletions)
    }

    /// For a provider that speaks this protocol.
    pub fn base_url_for(&self, wire: Wire) -> String {
        match wire {
            Wire::Responses | Wire::ChatCompletions => format!("http://{}/v1", self.address),
            Wire::Anthropic | Wire::Gemini | Wire::Ollama => format!("http://{}", self.address),
        }
    }

    /// Sets the plan for all answers from now on.
    ///
    /// # Panics
    /// If another holder of the lock has panicked.
    pub fn set_plan(&self, plan: Plan) {
        *self.shared.plan.lock().expect("no holder of the plan panics") = plan;
    }

    /// When the headers of the newest request arrived.
    ///
    /// # Panics
    /// If another holder of the lock has panicked.
    pub fn asked_last(&self) -> Option<Instant> {
        self.shared.asked.lock().expect("no holder of the times panics").last().copied()
    }
}

impl Drop for TimedModel {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// Parses the deltas in these chunks of text.
///
/// # Panics
/// If they are not from a [`TimedModel`].
pub fn deltas(text: &str) -> impl Iterator<Item = Delta> + '_ {
    text.split_whitespace().map(|word| {
        let (number, nanoseconds) = word.split_once(':').expect("a delta is NUMBER:NANOSECONDS");
        let nanoseconds = nanoseconds.parse().expect("a time is a number");
        let sent = *ZERO + Duration::from_nanos(nanoseconds);
        Delta { number: number.parse().expect("a number is a number"), sent }
    })
}

/// The nanoseconds that stand in a delta which is sent now.
pub fn nanoseconds() -> u128 {
    ZERO.elapsed().as_nanos()
}

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((stream, _)) = listener.accept().await {
        stream.set_nodelay(true).expect("a new connection takes options");
        let shared = shared.clone();
        tokio::spawn(async move {
            // The client may disconnect in mid-answer.
            let _ = answer(stream, &shared).await;
        });
    }
}

/// One request, one answer; then the connection is closed.
async fn answer(mut stream: TcpStream, shared: &Shared) -> std::io::Result<()> {
    let wire = read_question(&mut stream, shared).await?;
    let plan = *shared.plan.lock().expect("no holder of the plan panics");
    let (before, after) = wire.around_delta();
    let piece = move |number| chunk(&format!("{before}{number}:{} {after}", nanoseconds()));
    let last = chunk(&wire.end(plan.deltas)) + LAST;
    stream.write_all(head(wire).as_bytes()).await?;
    match plan.pace {
        Pace::AtOnce => {
            for number in 0..plan.deltas {
                stream.write_all(piece(number).as_bytes()).await?;
            }
        }
        Pace::Every(pause) => {
            let began = tokio::time::Instant::now();
            for number in 0..plan.deltas {
                // The first one is late enough for the client to be ready for it.
                tokio::time::sleep_until(began + pause * (number as u32 + 1)).await;
                stream.write_all(piece(number).as_bytes()).await?;
            }
        }
        Pace::Threaded => {
            let mut blocking = stream.into_std()?;
            blocking.set_nonblocking(false)?;
            let writing = tokio::task::spawn_blocking(move || {
                for number in 0..plan.deltas {
                    blocking.write_all(piece(number).as_bytes())?;
                }
                blocking.write_all(last.as_bytes())
            });
            return writing.await?;
        }
    }
    stream.write_all(last.as_bytes()).await?;
    stream.shutdown().await
}

/// Reads the whole request: an unread part would end the connection in mid-answer.
async fn read_question(stream: &mut TcpStream, shared: &Shared) -> std::io::Result<Wire> {
    let (mut read, mut wanted) = (Vec::new(), usize::MAX);
    let mut wire = Wire::ChatCompletions;
    while read.len() < wanted {
        if stream.read_buf(&mut read).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        if wanted == usize::MAX
            && let Some(end) = read.windows(4).position(|bytes| bytes == b"\r\n\r\n")
        {
            shared.asked.lock().expect("no holder of the times panics").push(Instant::now());
            let head = String::from_utf8_lossy(&read[..end]);
            wire = Wire::of(head.lines().next().unwrap_or_default());
            wanted = end + 4 + content_length(&head);
        }
    }
    Ok(wire)
}

fn content_length(head: &str) -> usize {
    let lines = head.lines().filter_map(|line| line.split_once(':'));
    let mut length = lines.filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    length.next().and_then(|(_, length)| length.trim().parse().ok()).unwrap_or(0)
}

/// The head of an answer, with what precedes its deltas.
fn head(wire: Wire) -> String {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\n\
                transfer-encoding: chunked\r\nconnection: close\r\n\r\n";
    let begin = wire.begin();
    match begin.is_empty() {
        true => head.to_owned(),
        false => format!("{head}{}", chunk(&begin)),
    }
}

/// Follows the last chunk.
const LAST: &str = "0\r\n\r\n";

fn chunk(text: &str) -> String {
    format!("{:x}\r\n{text}\r\n", text.len())
}
