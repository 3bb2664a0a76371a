//! A model server on OpenAI's wire whose deltas say when they were sent: `NUMBER:NANOSECONDS `.

use std::{
    net::SocketAddr,
    sync::{Arc, LazyLock, Mutex},
    time::{Duration, Instant},
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::{DefaultBodyLimit, State},
    response::{IntoResponse, Response},
    routing::post,
    serve::ListenerExt,
};
use futures_util::{StreamExt, stream};
use tokio::{net::TcpListener, task::JoinHandle};

/// Deltas that come at once are written in portions of this size, as a fast model's server does.
const PORTION_BYTES: usize = 16 * 1024;

/// Zero of the nanoseconds.
static ZERO: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Every answer of it. Dropping it stops the server.
#[derive(Debug)]
pub(crate) struct TimedModel {
    address: SocketAddr,
    plan: Arc<Mutex<Plan>>,
    server: JoinHandle<()>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) deltas: usize,
    pub(crate) pace: Pace,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Pace {
    AtOnce,
    Every(Duration),
}

/// One delta as it was read back.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Delta {
    pub(crate) number: usize,
    pub(crate) sent: Instant,
}

impl TimedModel {
    pub(crate) async fn start(plan: Plan) -> Self {
        LazyLock::force(&ZERO);
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port on this machine");
        let address = listener.local_addr().expect("a bound socket has an address");
        let listener = listener.tap_io(|stream| stream.set_nodelay(true).expect("a new connection takes options"));
        let plan = Arc::new(Mutex::new(plan));
        let router = Router::new().route("/v1/chat/completions", post(answer)).layer(DefaultBodyLimit::disable());
        let router = router.with_state(plan.clone());
        let server = tokio::spawn(async move { axum::serve(listener, router).await.expect("the port is ours") });
        Self { address, plan, server }
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// For the answers from now on.
    pub(crate) fn set_plan(&self, plan: Plan) {
        *self.plan.lock().expect("no holder of the plan panics") = plan;
    }
}

impl Drop for TimedModel {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// The deltas in these pieces of text.
pub(crate) fn deltas(text: &str) -> impl Iterator<Item = Delta> + '_ {
    text.split_whitespace().map(|word| {
        let (number, nanoseconds) = word.split_once(':').expect("a delta is NUMBER:NANOSECONDS");
        let nanoseconds = nanoseconds.parse().expect("a time is a number");
        let sent = *ZERO + Duration::from_nanos(nanoseconds);
        Delta { number: number.parse().expect("a number is a number"), sent }
    })
}

/// Takes the whole question before it answers: one left unread would end the connection in mid-answer.
async fn answer(State(plan): State<Arc<Mutex<Plan>>>, _question: Bytes) -> Response {
    let plan = *plan.lock().expect("no holder of the plan panics");
    let body = match plan.pace {
        Pace::AtOnce => {
            let portions = portions(plan.deltas);
            Body::from_stream(stream::iter(portions.into_iter().map(Ok::<_, std::io::Error>)))
        }
        Pace::Every(pause) => Body::from_stream(paced(plan.deltas, pause).map(Ok::<_, std::io::Error>)),
    };
    ([("content-type", "text/event-stream"), ("cache-control", "no-cache")], body).into_response()
}

fn paced(deltas: usize, pause: Duration) -> impl futures_util::Stream<Item = String> {
    let began = tokio::time::Instant::now();
    stream::unfold(0, move |number| async move {
        if number > deltas {
            return None;
        }
        // The first one is late enough for whoever asked to be ready for it.
        tokio::time::sleep_until(began + pause * (number as u32 + 1)).await;
        let piece = if number == deltas { end() } else { delta(number) };
        Some((piece, number + 1))
    })
}

/// All with the time of now: the first is sent at once, the others as fast as they are taken.
fn portions(deltas: usize) -> Vec<String> {
    let mut portions = vec![String::new()];
    for number in 0..deltas {
        if portions.last().is_some_and(|last| last.len() > PORTION_BYTES) {
            portions.push(String::new());
        }
        let last = portions.last_mut().expect("it begins with one");
        last.push_str(&delta(number));
    }
    portions.push(end());
    portions
}

fn delta(number: usize) -> String {
    let nanoseconds = ZERO.elapsed().as_nanos();
    frame(&format!(r#"{{"content":"{number}:{nanoseconds} "}}"#), "null")
}

fn end() -> String {
    frame("{}", "\"stop\"") + "data: [DONE]\n\n"
}

fn frame(delta: &str, reason: &str) -> String {
    format!(
        "data: {{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"timed\",\
         \"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{reason}}}]}}\n\n"
    )
}
