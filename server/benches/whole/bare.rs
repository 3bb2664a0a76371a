//! Bare programs on the same crates: the least that anything of this kind can cost. Run as child processes.
//!
//! Their memory and their start are measured too, so they do nothing beyond their purpose.

mod agent;
mod relay;
mod tasks;

use std::process::ExitCode;

use axum::{Router, routing::get, serve::ListenerExt};
use tokio::net::TcpListener;

pub(crate) use self::{agent::nanoseconds, relay::connect};

/// The first word of the command line of a bare program.
pub(crate) const WORD: &str = "--bare";
/// What precedes the address, on standard output.
pub(crate) const READY: &str = "ready: ";

/// `--bare agent ZERO`: an agent on standard input and output. `--bare answers`: answers `/healthz`. `--bare tasks`: that, and idle tasks. `--bare relay MODEL_URL [DATABASE]`:
/// relays a model's answers to sockets, committed first if there is a database.
pub(crate) fn run_if_asked(arguments: &[String]) -> Option<ExitCode> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (&WORD, words) = words.split_first()? else { return None };
    if let ["agent", zero] = words {
        agent::run(zero.parse().expect("a time is a number"));
        return Some(ExitCode::SUCCESS);
    }
    let runtime = tokio::runtime::Runtime::new().expect("threads can be started");
    runtime.block_on(async {
        let router = Router::new().route("/healthz", get(async || "ok"));
        let router = match words {
            ["answers"] => router,
            ["tasks"] => router.merge(tasks::router()),
            ["relay", model_url] => router.merge(relay::router(model_url, None).await),
            ["relay", model_url, database] => router.merge(relay::router(model_url, Some(database)).await),
            _ => panic!("no bare program is called {words:?}"),
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port on this machine");
        println!("{READY}{}", listener.local_addr().expect("a bound socket has an address"));
        let listener = listener.tap_io(|stream| stream.set_nodelay(true).expect("a new connection takes options"));
        axum::serve(listener, router).await.expect("the port is ours");
    });
    Some(ExitCode::SUCCESS)
}
