//! A single request: address, token, answer, error.

use std::{error::Error, sync::Arc, time::Duration};

use bytes::Bytes;
use protocol::{ApiError, CommandId, ErrorCode};
use reqwest::{
    Method, RequestBuilder, Response, StatusCode,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue},
};
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    ClientError, TokenSource,
    place::{Place, Places},
};

/// A client of one yoi server. Clones share its connections.
#[derive(Debug, Clone)]
pub struct Client {
    places: Places,
    token: TokenSource,
    /// `cli`, `tui`, …: the origin of commands as shown in the audit.
    name: &'static str,
}

/// A server's answer, undecoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    pub status: u16,
    pub body: Bytes,
}

/// A request being built by a method of [`Client`].
pub(crate) struct Call<'a> {
    client: &'a Client,
    /// The place that it is sent to, for error messages.
    place: Arc<Place>,
    request: RequestBuilder,
}

impl Client {
    /// A client for the server at `base`, such as `http://127.0.0.1:7474` or `unix:/run/user/1000/yoi/yoi.sock`. Does
    /// not connect yet.
    pub fn new(base: &str, token: impl Into<TokenSource>) -> Result<Self, ClientError> {
        // The first call wins; all install the same provider.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Ok(Self { places: Places::fixed(Place::parse(base)?), token: token.into(), name: "api" })
    }

    /// Calls `ask` for the server's address before each request and each connection, so that a server which has moved
    /// is found. While it returns `None`, the previous address is used.
    #[must_use]
    pub fn looking_up(self, ask: impl Fn() -> Option<String> + Send + Sync + 'static) -> Self {
        Self { places: self.places.asking(ask), ..self }
    }

    /// A client of a server on another machine. Its errors do not contain the address.
    ///
    /// # Errors
    /// If the address is not `http://` or `https://` with a host, or contains credentials.
    pub fn of_server(address: &str, token: impl Into<TokenSource>) -> Result<Self, ClientError> {
        let _ = rustls::crypto::ring::default_provider().install_default();
        Ok(Self { places: Places::fixed(Place::of_server(address)?), token: token.into(), name: "api" })
    }

    /// Whether a text contains this server's address.
    pub fn is_told_by(&self, text: &str) -> bool {
        self.places.now().is_told_by(text)
    }

    /// Sets the name of this client: `cli`, `tui`.
    #[must_use]
    pub fn named(mut self, name: &'static str) -> Self {
        self.name = name;
        self
    }

    /// The server's address as known now, without a trailing slash.
    pub fn address(&self) -> String {
        self.places.now().address.clone()
    }

    /// This program's working directory, if the server is on this machine and knows it by the same path.
    pub fn shared_folder(&self) -> Option<String> {
        let folder = std::env::current_dir().ok()?.into_os_string().into_string().ok()?;
        self.places.now().is_here().then_some(folder)
    }

    pub(crate) fn place(&self) -> Arc<Place> {
        self.places.now()
    }

    /// The headers of every request, including the socket's.
    pub(crate) fn headers(&self) -> Result<HeaderMap, ClientError> {
        let mut headers = HeaderMap::new();
        headers.insert("x-yoi-client", HeaderValue::from_static(self.name));
        if let Some(bearer) = self.token.bearer() {
            let mut value = HeaderValue::from_str(&bearer)
                .map_err(|_| ClientError::Invalid("the token holds characters that no token has".to_owned()))?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        Ok(headers)
    }

    pub(crate) fn get(&self, path: &str) -> Result<Call<'_>, ClientError> {
        self.call(Method::GET, path, &[])
    }

    /// `query` has names and values; those without a value are left out.
    pub(crate) fn call(
        &self,
        method: Method,
        path: &str,
        query: &[(&str, Option<&str>)],
    ) -> Result<Call<'_>, ClientError> {
        let place = self.places.now();
        let mut url = place.base.clone();
        url.set_path(&format!("{}{path}", place.base.path().trim_end_matches('/')));
        let present = query.iter().filter_map(|(name, value)| Some((*name, (*value)?)));
        url.query_pairs_mut().extend_pairs(present);
        let request = place.http.request(method, url).headers(self.headers()?);
        Ok(Call { client: self, place, request: request.header(ACCEPT, "application/json") })
    }

    pub(crate) fn no_server(&self, error: &reqwest::Error) -> ClientError {
        ClientError::NoServer { address: self.address(), cause: innermost(error) }
    }

    pub(crate) fn protocol(&self, cause: impl ToString) -> ClientError {
        ClientError::Protocol { address: self.address(), cause: cause.to_string() }
    }
}

impl Call<'_> {
    pub(crate) fn key(self, id: &CommandId) -> Self {
        Self { request: self.request.header("idempotency-key", id.as_str()), ..self }
    }

    pub(crate) fn body(self, body: &impl Serialize) -> Self {
        Self { request: self.request.json(body), ..self }
    }

    /// Sets a JSON body.
    pub(crate) fn json_text(self, json: String) -> Self {
        Self { request: self.request.header(CONTENT_TYPE, "application/json").body(json), ..self }
    }

    /// Sets a body of JSON lines.
    pub(crate) fn lines(self, jsonl: String) -> Self {
        Self { request: self.request.header(CONTENT_TYPE, "application/x-ndjson").body(jsonl), ..self }
    }

    /// Sets a body of this media type.
    pub(crate) fn bytes(self, media_type: &str, body: Bytes) -> Self {
        Self { request: self.request.header(CONTENT_TYPE, media_type).body(body), ..self }
    }

    pub(crate) fn header(self, name: &'static str, value: &str) -> Self {
        Self { request: self.request.header(name, value), ..self }
    }

    /// Sets a timeout other than the default.
    pub(crate) fn within(self, limit: Duration) -> Self {
        Self { request: self.request.timeout(limit), ..self }
    }

    /// Sends it and decodes the answer's JSON.
    pub(crate) async fn json<T: DeserializeOwned>(self) -> Result<T, ClientError> {
        let client = self.client;
        read(client, self.answer().await?).await
    }

    /// Sends it and returns the answer undecoded.
    pub(crate) async fn reply(self) -> Result<Reply, ClientError> {
        let client = self.client;
        let response = self.answer().await?;
        let status = response.status().as_u16();
        let body = response.bytes().await.map_err(|error| client.no_server(&error))?;
        Ok(Reply { status, body })
    }

    /// Sends it; only success matters.
    pub(crate) async fn done(self) -> Result<(), ClientError> {
        self.answer().await.map(|_| ())
    }

    /// Sends it and leaves reading the body to the caller.
    pub(crate) async fn response(self) -> Result<Response, ClientError> {
        self.answer().await
    }

    /// Sends it; a refusal counts as an answer too.
    pub(crate) async fn unjudged(self) -> Result<Response, ClientError> {
        let place = self.place;
        // The address that was used, even if another one is known by now.
        let no_server = |error| ClientError::NoServer { address: place.address.clone(), cause: innermost(&error) };
        self.request.send().await.map_err(no_server)
    }

    async fn answer(self) -> Result<Response, ClientError> {
        let client = self.client;
        let response = self.unjudged().await?;
        match response.status().is_success() {
            true => Ok(response),
            false => Err(refusal(client, response).await),
        }
    }
}

async fn read<T: DeserializeOwned>(client: &Client, response: Response) -> Result<T, ClientError> {
    let bytes = response.bytes().await.map_err(|error| client.no_server(&error))?;
    serde_json::from_slice(&bytes).map_err(|error| client.protocol(error))
}

async fn refusal(client: &Client, response: Response) -> ClientError {
    let status = response.status();
    let bytes = response.bytes().await.unwrap_or_default();
    match serde_json::from_slice::<ApiError>(&bytes) {
        Ok(error) => ClientError::Api(error),
        // A proxy or an older server may send nothing more specific.
        Err(_) if status == StatusCode::UNAUTHORIZED => ClientError::Api(ApiError::new(
            ErrorCode::Unauthorized,
            "the server asks for a token: set YOI_TOKEN, or name its folder with --data",
        )),
        Err(_) => client.protocol(format!("status {status} without a reason")),
    }
}

/// The innermost cause says what happened ("connection refused"); the outer ones only say that something did.
fn innermost(error: &reqwest::Error) -> String {
    let mut cause: &dyn Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_shows_no_token_when_printed() {
        let client = Client::new("http://127.0.0.1:1", "hush-hush").unwrap();
        assert!(!format!("{client:?} {:?}", client.headers().unwrap()).contains("hush"));
    }
}
