//! An agent that speaks the Agent Client Protocol on its standard input and output and answers every prompt with timed
//! deltas, as [`testkit::timed_model`] does. It flushes each of them, as real agents do.

use std::{
    io::{StdoutLock, Write, stdin, stdout},
    thread,
    time::{Duration, Instant},
};

use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

/// The prompt is the plan: `DELTAS at PAUSE_MS`; without a pause, they come as fast as they are read. Each delta is
/// `NUMBER:NANOSECONDS `, counted from when the machine's clock, which all processes share, showed `zero` nanoseconds.
pub(super) fn run(zero: u128) {
    for line in stdin().lines().map_while(Result::ok) {
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        let id = message["id"].clone();
        let answer = match message["method"].as_str() {
            Some("initialize") => json!({ "protocolVersion": 1, "agentCapabilities": { "loadSession": true } }),
            Some("session/new") => json!({ "sessionId": "timed" }),
            Some("session/load") => json!({}),
            Some("session/prompt") => {
                let text = message["params"]["prompt"][0]["text"].as_str().unwrap_or_default();
                let (deltas, pause) = text.split_once(" at ").unwrap_or((text, "0"));
                let pause = Duration::from_millis(pause.parse().unwrap_or(0));
                stream(zero, deltas.parse().unwrap_or(0), pause);
                json!({ "stopReason": "end_turn" })
            }
            _ => continue,
        };
        say(&mut stdout().lock(), &json!({ "jsonrpc": "2.0", "id": id, "result": answer }));
    }
}

/// What the machine's clock shows.
pub(crate) fn nanoseconds() -> u128 {
    let now = clock_gettime(ClockId::Monotonic);
    let (seconds, nanoseconds) = (u128::try_from(now.tv_sec), u128::try_from(now.tv_nsec));
    seconds.unwrap_or_default() * 1_000_000_000 + nanoseconds.unwrap_or_default()
}

fn stream(zero: u128, deltas: usize, pause: Duration) {
    let mut out = stdout().lock();
    let began = Instant::now();
    for number in 0..deltas {
        // The first one is late enough for the client to be ready for it.
        let due = pause * u32::try_from(number + 1).unwrap_or(u32::MAX);
        thread::sleep(due.saturating_sub(began.elapsed()));
        let text = format!("{number}:{} ", nanoseconds().saturating_sub(zero));
        let content = json!({ "type": "text", "text": text });
        let update = json!({ "sessionUpdate": "agent_message_chunk", "content": content });
        let params = json!({ "sessionId": "timed", "update": update });
        say(&mut out, &json!({ "jsonrpc": "2.0", "method": "session/update", "params": params }));
    }
}

fn say(out: &mut StdoutLock<'_>, message: &Value) {
    // Its client may have gone away.
    let _ = writeln!(out, "{message}").and_then(|()| out.flush());
}
