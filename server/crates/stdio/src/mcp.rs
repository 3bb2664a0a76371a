//! `yoi mcp`: the running server's `/mcp` on standard input and output.
//!
//! It relays messages and interprets only what that requires: ids, sessions, versions. A server that was away is
//! found again; requests are then sent again with the same key, so that nothing happens twice.

mod message;
mod session;

use std::{io, sync::Arc, time::Duration};

use client::Client;
use tokio::task::JoinSet;

use self::{message::Message, session::Session};
use crate::lines::{Line, Lines, to_stdout};

/// The maximum size of a message in bytes; the server accepts no more.
const MESSAGE_BYTES_MAX: usize = 4 << 20;
/// How many requests are handled at once; more wait on standard input.
const REQUESTS_MAX: usize = 64;
/// How long to wait for answers once input has ended.
const LAST_ANSWERS_WAIT: Duration = Duration::from_secs(5);

/// Relays messages until standard input ends.
///
/// # Errors
/// If standard input cannot be read.
pub async fn mcp(client: Client) -> io::Result<()> {
    let (answers, writing) = to_stdout();
    let session = Arc::new(Session::new(client, answers.clone()));
    let mut lines = Lines::of_stdin(MESSAGE_BYTES_MAX);
    let mut asked = JoinSet::new();
    loop {
        while asked.try_join_next().is_some() {}
        if asked.len() >= REQUESTS_MAX {
            asked.join_next().await;
        }
        let message = match lines.next().await? {
            Line::End => break,
            Line::TooLong => {
                let sentence = format!("a message has at most {MESSAGE_BYTES_MAX} bytes");
                Err(message::error("null", -32_600, &sentence))
            }
            Line::Text(line) => Message::parse(line),
        };
        match message {
            Ok(message) if message.is_in_order() => session.pass_on(message).await,
            Ok(message) => {
                let session = session.clone();
                asked.spawn(async move { session.pass_on(message).await });
            }
            // Fails when nobody reads any more; the next read ends.
            Err(refusal) => drop(answers.send(refusal).await),
        }
    }
    let rest = async { while asked.join_next().await.is_some() {} };
    if tokio::time::timeout(LAST_ANSWERS_WAIT, rest).await.is_err() {
        asked.shutdown().await;
    }
    session.end().await;
    drop((session, answers));
    writing.end().await;
    Ok(())
}
