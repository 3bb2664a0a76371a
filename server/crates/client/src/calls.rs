//! The operations of the API, one method for all types of them.

use std::time::Duration;

use protocol::{
    CommandId, LINK_WAIT_MS_MAX,
    operation::{Answered, Method, Operation, Request},
    operations::{Answer, Command, ToCommand},
};

use crate::{Client, ClientError, Reply};

/// The timeout of an operation whose answer may take longer, or should come sooner, than usual.
fn patience(id: &str) -> Option<Duration> {
    let seconds = match id {
        // A tool has its own time limit; after this long no answer is coming.
        "run" => 3_600,
        // The server gives a provider 10 s; the rest is a margin.
        "test_provider" => 15,
        // Asked to identify a server, where a quick answer matters.
        "about" => 5,
        // Longer than the other side is asked to wait.
        "exchange_link" => LINK_WAIT_MS_MAX / 1_000 + 10,
        _ => return None,
    };
    Some(Duration::from_secs(seconds))
}

impl Client {
    /// Carries out an operation that needs no command id: a query, or something that the server does by itself.
    pub async fn read<O: Operation>(&self, operation: &O) -> Result<O::Answer, ClientError> {
        let Reply { status, body } = self.send(operation.request(), None).await?;
        O::Answer::read(status, &body).map_err(|error| self.protocol(error))
    }

    /// Carries out a command. Sending it again with the same id returns the first answer.
    pub async fn carry_out<C: ToCommand>(&self, id: &CommandId, command: &C) -> Result<C::Answer, ClientError> {
        let Reply { status, body } = self.send(command.request(), Some(id)).await?;
        C::Answer::read(status, &body).map_err(|error| self.protocol(error))
    }

    /// Like [`Client::carry_out`], for any command.
    pub async fn command(&self, id: &CommandId, command: &Command) -> Result<Answer, ClientError> {
        let Reply { status, body } = self.send(command.request(), Some(id)).await?;
        command.answered(status, &body).map_err(|error| self.protocol(error))
    }

    /// Sends a request and returns the answer undecoded; a refusal is an error.
    pub async fn send(&self, request: Result<Request, String>, key: Option<&CommandId>) -> Result<Reply, ClientError> {
        let Request { id, method, path, query, body } = request.map_err(ClientError::Invalid)?;
        let method = match method {
            Method::Get => reqwest::Method::GET,
            Method::Post => reqwest::Method::POST,
            Method::Put => reqwest::Method::PUT,
            Method::Patch => reqwest::Method::PATCH,
            Method::Delete => reqwest::Method::DELETE,
        };
        let query: Vec<_> = query.iter().map(|(name, value)| (*name, Some(value.as_str()))).collect();
        let mut call = self.call(method, &path, &query)?;
        if let Some(key) = key {
            call = call.key(key);
        }
        if let Some(body) = body {
            call = call.json_text(body);
        }
        if let Some(limit) = patience(id) {
            call = call.within(limit);
        }
        call.reply().await
    }

    /// Whether a server answers at all; needs no token.
    pub async fn health(&self) -> Result<(), ClientError> {
        self.get("/healthz")?.done().await
    }

    /// The server's version, such as `0.1.0`.
    pub async fn version(&self) -> Result<String, ClientError> {
        let document: serde_json::Value = self.get("/api/v1/openapi.json")?.json().await?;
        match document["info"]["version"].as_str() {
            Some(version) => Ok(version.to_owned()),
            None => Err(self.protocol("its document names no version")),
        }
    }
}
