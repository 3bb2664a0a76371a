//! The server's `/mcp` endpoint, for programs that relay MCP messages. Messages are passed on as text and not
//! interpreted.

use std::time::Duration;

use bytes::BytesMut;
use reqwest::{Method, Response, header};

use crate::{Client, ClientError};

const PATH: &str = "/mcp";
/// An answer may take as long as the request does; the caller gives up by dropping it.
const ANSWER_WAIT_MAX: Duration = Duration::from_secs(24 * 3_600);
/// The maximum size of one message in a stream.
const MESSAGE_BYTES_MAX: usize = 16 << 20;

/// The verbs of the endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum McpVerb {
    /// Sends a message.
    Post,
    /// Listens for messages that belong to no request.
    Get,
    /// Ends a session.
    Delete,
}

/// A streaming answer.
#[derive(Debug)]
pub struct McpAnswer {
    pub status: u16,
    /// The id of the session that it starts.
    pub session: Option<String>,
    is_stream: bool,
    response: Response,
    read: BytesMut,
}

impl Client {
    /// Sends a request to `/mcp`. Any HTTP response is an answer, including refusals.
    ///
    /// # Errors
    /// If the server cannot be reached or the token is malformed.
    pub async fn mcp(
        &self,
        verb: McpVerb,
        headers: &[(&'static str, String)],
        message: Option<String>,
    ) -> Result<McpAnswer, ClientError> {
        let method = match verb {
            McpVerb::Post => Method::POST,
            McpVerb::Get => Method::GET,
            McpVerb::Delete => Method::DELETE,
        };
        let mut call = self.call(method, PATH, &[])?.within(ANSWER_WAIT_MAX);
        for (name, value) in headers {
            call = call.header(name, value);
        }
        if let Some(message) = message {
            call = call.json_text(message);
        }
        let response = call.unjudged().await?;
        let text = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
        let session = text("mcp-session-id").map(str::to_owned);
        let is_stream = text(header::CONTENT_TYPE.as_str()).is_some_and(|kind| kind.starts_with("text/event-stream"));
        Ok(McpAnswer { status: response.status().as_u16(), session, is_stream, response, read: BytesMut::new() })
    }
}

impl McpAnswer {
    /// The next message; `None` at the end.
    ///
    /// # Errors
    /// If the answer is incomplete, or a message exceeds the size limit.
    pub async fn next(&mut self) -> Result<Option<String>, BrokenOff> {
        loop {
            match self.is_stream {
                true => {
                    while let Some(event) = take_event(&mut self.read) {
                        if let Some(message) = data_of(&event) {
                            return Ok(Some(message));
                        }
                    }
                }
                false => self.read_whole().await?,
            }
            if !self.is_stream {
                let whole = self.read.split();
                return Ok((!whole.is_empty()).then(|| String::from_utf8_lossy(&whole).into_owned()));
            }
            match self.response.chunk().await {
                Ok(Some(chunk)) if self.read.len() + chunk.len() <= MESSAGE_BYTES_MAX => {
                    self.read.extend_from_slice(&chunk);
                }
                Ok(None) => return Ok(None),
                Ok(Some(_)) | Err(_) => return Err(BrokenOff),
            }
        }
    }

    async fn read_whole(&mut self) -> Result<(), BrokenOff> {
        while let Some(chunk) = self.response.chunk().await.map_err(|_| BrokenOff)? {
            if self.read.len() + chunk.len() > MESSAGE_BYTES_MAX {
                return Err(BrokenOff);
            }
            self.read.extend_from_slice(&chunk);
        }
        Ok(())
    }
}

/// The answer was not complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the answer broke off")]
pub struct BrokenOff;

/// Removes and returns the first complete event of a stream.
fn take_event(read: &mut BytesMut) -> Option<String> {
    let ends = |end: &[u8]| read.windows(end.len()).position(|part| part == end).map(|at| at + end.len());
    let end = [ends(b"\n\n"), ends(b"\r\n\r\n")].into_iter().flatten().min()?;
    Some(String::from_utf8_lossy(&read.split_to(end)).into_owned())
}

/// The data of an event; `None` for one that only keeps the connection alive.
fn data_of(event: &str) -> Option<String> {
    let lines = event.lines().filter_map(|line| line.strip_prefix("data:"));
    let data = lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n");
    (!data.trim().is_empty()).then_some(data)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_taken_out_of_a_stream_one_by_one_and_empty_ones_carry_nothing() {
        let mut read = BytesMut::from("id: 0\nretry: 3000\ndata: \n\ndata: {\"a\":1}\n\n: ping\n\ndata: {\"b\"");
        let mut seen = Vec::new();
        while let Some(event) = take_event(&mut read) {
            seen.extend(data_of(&event));
        }
        assert_eq!(seen, ["{\"a\":1}"]);
        read.extend_from_slice(b":\r\ndata: 2}\r\n\r\n");
        assert_eq!(take_event(&mut read).and_then(|event| data_of(&event)).as_deref(), Some("{\"b\":\n2}"));
    }
}
