//! The operations of the API: each is asked for by its own type.

use std::time::Duration;

use protocol::{
    CommandId, LINK_WAIT_MS_MAX,
    operation::{Answered, Method, Operation, Request},
    operations::{Answer, Command, ToCommand},
};

use crate::{Client, ClientError, Reply};

/// How long an answer is waited for where it is not the usual time.
fn patience(id: &str) -> Option<Duration> {
    let seconds = match id {
        // A tool keeps its own time limit; beyond this its answer is not coming.
        "run" => 3_600,
        // The server gives a provider 10 s; the rest is room for its answer.
        "test_provider" => 15,
        // Who asks which server this is wants to know it soon.
        "about" => 5,
        // Beyond what the other side is asked to wait.
        "exchange_link" => LINK_WAIT_MS_MAX / 1_000 + 10,
        _ => return None,
    };
    Some(Duration::from_secs(seconds))
}

impl Client {
    /// Asks for an operation that needs no key: a query, or what a server does itself.
    pub async fn read<O: Operation>(&self, operation: &O) -> Result<O::Answer, ClientError> {
        let Reply { status, body } = self.send(operation.request(), None).await?;
        O::Answer::read(status, &body).map_err(|error| self.protocol(error))
    }

    /// Asks for a command. Sent again under the same id, it gives the first answer.
    pub async fn carry_out<C: ToCommand>(&self, id: &CommandId, command: &C) -> Result<C::Answer, ClientError> {
        let Reply { status, body } = self.send(command.request(), Some(id)).await?;
        C::Answer::read(status, &body).map_err(|error| self.protocol(error))
    }

    /// As [`Client::carry_out`], of any command.
    pub async fn command(&self, id: &CommandId, command: &Command) -> Result<Answer, ClientError> {
        let Reply { status, body } = self.send(command.request(), Some(id)).await?;
        command.answered(status, &body).map_err(|error| self.protocol(error))
    }

    /// Sends a request and leaves the answer as it is; a refusal is an error.
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
