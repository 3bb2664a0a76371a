//! The log: lines on standard error, filtered by YOI_LOG. It contains no token, no key and no query string.

use std::io::{IsTerminal, stderr};

use tracing_subscriber::{EnvFilter, filter::Directive};

use crate::config::BadConfig;

/// Crates that log whole requests, including tokens, or the addresses of other servers, at their most detailed level.
const TALKATIVE: [&str; 6] =
    ["tungstenite=info", "tokio_tungstenite=info", "hyper=info", "h2=info", "reqwest=info", "rmcp=error"];

/// Starts logging. `filter` uses the syntax of tracing: `info`, `yoi=debug,runtime=trace`.
pub(crate) fn start(filter: &str) -> Result<(), BadConfig> {
    let wrong = |error: &dyn std::fmt::Display| {
        BadConfig(format!(
            "YOI_LOG \"{filter}\" is not a valid filter ({error}); try info, debug or runtime=debug,info"
        ))
    };
    let mut chosen = EnvFilter::builder().parse(filter).map_err(|error| wrong(&error))?;
    for limit in TALKATIVE {
        let limit: Directive = limit.parse().expect("our own limits are directives");
        chosen = chosen.add_directive(limit);
    }
    let log = tracing_subscriber::fmt().with_env_filter(chosen).with_writer(stderr).with_ansi(stderr().is_terminal());
    log.try_init().map_err(|error| BadConfig(format!("the log cannot be started: {error}")))
}
