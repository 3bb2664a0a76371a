//! Accepts connections, and carries their requests to the router and its responses back.

use std::{
    io,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, HttpBody},
    extract::Request,
    http::StatusCode,
    response::Response,
    serve::Listener,
};
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use protocol::{ApiError, ErrorCode};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    sync::{Semaphore, watch},
    time::timeout,
};
use tower::ServiceExt;

use super::{
    Connection, Connections, Lingering,
    seat::{Turn, Watcher},
};

/// How many connections at a time are told that there is no room; further ones are just closed.
const REFUSALS_MAX: usize = 32;
const REFUSAL_TIME_MAX: Duration = Duration::from_secs(1);
const REFUSAL_READ_MAX: u64 = 64 * 1024;
/// The most bytes of a request's head. Enough for all cookies that a browser keeps for one host, so that a page that
/// sets too many locks nobody out; a longer head is answered with 431.
const HEAD_BYTES_MAX: usize = 1024 * 1024;
const RETRY_MS: u64 = 1_000;

/// Serves a listener until the server stops and its connections have ended.
pub async fn serve<L: Listener>(
    mut listener: L,
    router: Router,
    connections: Connections,
    stopped: watch::Receiver<bool>,
) -> io::Result<()> {
    // With its state applied, the router needs no work for each connection.
    let router = router.with_state(());
    let refusals = Arc::new(Semaphore::new(REFUSALS_MAX));
    let (open, held) = watch::channel(());
    let mut stop = stopped.clone();
    let mut stop = pin!(async move { drop(stop.wait_for(|stop| *stop).await) });
    loop {
        let (io, _) = tokio::select! {
            biased;
            () = &mut stop => break,
            accepted = listener.accept() => accepted,
        };
        let Some(seat) = connections.seat() else {
            if let Ok(permit) = refusals.clone().try_acquire_owned() {
                tokio::spawn(async move {
                    refuse(io).await;
                    drop(permit);
                });
            }
            continue;
        };
        let (watcher, io) = (seat.watcher(), Lingering::new(io, seat));
        let (router, stopped, held) = (router.clone(), stopped.clone(), held.clone());
        tokio::spawn(backend::watched(async move {
            carry(io, watcher, router, stopped).await;
            drop(held);
        }));
    }
    drop((listener, held));
    open.closed().await;
    Ok(())
}

/// Serves one connection to its end.
async fn carry<Io: Connection>(
    io: Lingering<Io>,
    watcher: Watcher,
    router: Router,
    mut stopped: watch::Receiver<bool>,
) {
    let seat = watcher.clone();
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let (turn, router) = (seat.turn(), router.clone());
        let mut request: Request = request.map(Body::new);
        request.extensions_mut().insert(turn.visitor());
        async move { router.oneshot(request).await.map(|answer| attended(turn, answer)) }
    });
    let connection =
        http1::Builder::new().max_buf_size(HEAD_BYTES_MAX).serve_connection(TokioIo::new(io), service).with_upgrades();
    let mut connection = pin!(connection);
    let mut stop = pin!(async move { drop(stopped.wait_for(|stop| *stop).await) });
    let mut is_stopping = false;
    loop {
        tokio::select! {
            ended = connection.as_mut() => {
                if let Err(error) = ended {
                    tracing::trace!(%error, "a connection broke");
                }
                return;
            }
            () = watcher.cut() => return,
            () = &mut stop, if !is_stopping => {
                is_stopping = true;
                connection.as_mut().graceful_shutdown();
            }
        }
    }
}

/// A request counts as being answered until its response has been sent completely.
fn attended(turn: Turn, answer: Response) -> Response {
    if answer.status() == StatusCode::SWITCHING_PROTOCOLS {
        turn.upgraded();
        return answer;
    }
    answer.map(|body| Body::new(Attended { body, _turn: turn }))
}

/// A body that keeps its turn.
struct Attended {
    body: Body,
    _turn: Turn,
}

impl HttpBody for Attended {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Sends the message that there is no room, if the client takes it promptly.
async fn refuse<Io: Connection>(mut io: Io) {
    let told = async {
        io.write_all(&no_room()).await?;
        io.shutdown().await?;
        // Unread input would turn the close into a reset, which would discard the response.
        tokio::io::copy(&mut io.take(REFUSAL_READ_MAX), &mut tokio::io::sink()).await
    };
    let _ = timeout(REFUSAL_TIME_MAX, told).await;
}

fn no_room() -> Vec<u8> {
    let sentence = "this server holds as many connections as it can, and all of them are in use; try again";
    let mut error = ApiError::new(ErrorCode::RuntimeUnavailable, sentence);
    error.retry_after_ms = Some(RETRY_MS);
    let body = serde_json::to_string(&error).expect("protocol types always encode");
    let retry_s = RETRY_MS.div_ceil(1000);
    format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/problem+json\r\ncontent-length: {}\r\n\
         retry-after: {retry_s}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use axum::routing::{get, post};
    use tokio::{
        net::{TcpListener, TcpStream},
        time::sleep,
    };

    use super::*;
    use crate::{ConnectionLimits, Visitor};

    async fn started(limits: ConnectionLimits) -> (std::net::SocketAddr, Connections, watch::Sender<bool>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (connections, (stop, stopped)) = (Connections::start(limits), watch::channel(false));
        let held = |axum::Extension(visitor): axum::Extension<Visitor>| async move {
            visitor.is_known();
            pending::<()>().await;
        };
        let router = Router::new()
            .route("/", get(|| async { "hello" }))
            .route("/", post(|body: Bytes| async move { body.len().to_string() }))
            .route("/held", get(held));
        tokio::spawn(serve(listener, router, connections.clone(), stopped));
        (address, connections, stop)
    }

    async fn ask(stream: &mut TcpStream, path: &str) -> String {
        let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut buffer = vec![0; 4096];
        let count = stream.read(&mut buffer).await.unwrap();
        String::from_utf8_lossy(&buffer[..count]).into_owned()
    }

    async fn until(connections: &Connections, is_so: impl Fn(super::super::ConnectionFigures) -> bool) {
        timeout(Duration::from_secs(60), async {
            while !is_so(connections.figures()) {
                sleep(Duration::from_millis(5)).await;
            }
        })
        .await
        .unwrap_or_else(|_| panic!("{:?}", connections.figures()));
    }

    #[tokio::test]
    async fn requests_are_answered_one_after_the_other_and_a_silent_one_is_let_go() {
        let limits = ConnectionLimits { head_max: Duration::from_millis(100), ..ConnectionLimits::default() };
        let (address, connections, _stop) = started(limits).await;
        let mut silent = TcpStream::connect(address).await.unwrap();
        silent.write_all(b"G").await.unwrap();
        let mut kept = TcpStream::connect(address).await.unwrap();
        for _ in 0..3 {
            assert!(ask(&mut kept, "/").await.ends_with("hello"));
        }
        let ended = timeout(Duration::from_secs(60), silent.read(&mut [0; 8])).await.unwrap();
        assert!(matches!(ended, Ok(0) | Err(_)), "{ended:?}");
        until(&connections, |figures| figures.open == 1 && figures.timed_out_total == 1).await;
        assert!(ask(&mut kept, "/").await.ends_with("hello"));
        drop(kept);
        until(&connections, |figures| figures.open == 0).await;
    }

    #[tokio::test]
    async fn where_there_is_no_room_strangers_are_dropped_and_newcomers_are_told() {
        let limits = ConnectionLimits { at_once_max: 3, ..ConnectionLimits::default() };
        let (address, connections, stop) = started(limits).await;
        let mut strangers = Vec::new();
        for _ in 0..10 {
            let mut stranger = TcpStream::connect(address).await.unwrap();
            stranger.write_all(b"G").await.unwrap();
            strangers.push(stranger);
        }
        until(&connections, |figures| figures.displaced_total == 7).await;
        let mut held = Vec::new();
        for _ in 0..3 {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(b"GET /held HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
            held.push(stream);
            // Its state has to be known before the next one comes.
            let displaced = 7 + held.len() as u64;
            until(&connections, |figures| figures.displaced_total == displaced).await;
            sleep(Duration::from_millis(50)).await;
        }
        let mut late = TcpStream::connect(address).await.unwrap();
        let told = ask(&mut late, "/").await;
        assert!(told.starts_with("HTTP/1.1 503 "), "{told}");
        assert!(told.contains("\"code\":\"runtime_unavailable\"") && told.contains("retry-after: 1"), "{told}");
        assert_eq!(connections.figures().refused_total, 1);
        held.pop();
        until(&connections, |figures| figures.open == 2).await;
        assert!(ask(&mut TcpStream::connect(address).await.unwrap(), "/").await.ends_with("hello"));
        stop.send_replace(true);
    }
}
