//! One request: address, token, answer, error.

use std::{
    error::Error,
    path::{Path, PathBuf},
    time::Duration,
};

use protocol::{ApiError, CommandId, ErrorCode};
use reqwest::{
    Method, RequestBuilder, Response, StatusCode, Url,
    header::{ACCEPT, AUTHORIZATION, HeaderMap, HeaderValue},
};
use serde::{Serialize, de::DeserializeOwned};

use crate::{ClientError, EventStream, TokenSource};

/// A server that does not take the connection within this is not there.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// No call of the API waits longer than 5 s for another Pod; the rest is room for a slow disk.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// Before the path of a Unix socket, in the place of a URL.
const UNIX: &str = "unix:";
/// What a request over a Unix socket names as its host: the server checks it there, too.
const UNIX_BASE: &str = "http://localhost";

/// A yoi at an address. Cloning shares its connections.
#[derive(Debug, Clone)]
pub struct Client {
    http: reqwest::Client,
    base: Url,
    /// The Unix socket that requests go through, instead of a connection to `base`.
    unix: Option<PathBuf>,
    /// As it was given, for people.
    address: String,
    token: TokenSource,
    /// `cli`, `tui`, …: what the audit says a command came from.
    name: &'static str,
}

/// A call before it is sent: what each method of [`Client`] fills in.
pub(crate) struct Call<'a> {
    client: &'a Client,
    request: RequestBuilder,
}

impl Client {
    /// A client for the server at `base`, such as `http://127.0.0.1:7474` or `unix:/run/user/1000/yoi/yoi.sock`. Does
    /// not connect yet.
    pub fn new(base: &str, token: impl Into<TokenSource>) -> Result<Self, ClientError> {
        // The first caller wins; all ask for the same one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let unix = base.strip_prefix(UNIX).map(parse_socket).transpose()?;
        let base = parse_base(if unix.is_some() { UNIX_BASE } else { base })?;
        let address = match &unix {
            Some(path) => format!("{UNIX}{}", path.display()),
            None => base.as_str().trim_end_matches('/').to_owned(),
        };
        let mut builder = reqwest::Client::builder().connect_timeout(CONNECT_TIMEOUT).timeout(REQUEST_TIMEOUT);
        if is_loopback(&base) {
            // A proxy cannot reach this machine's own loopback.
            builder = builder.no_proxy();
        }
        if let Some(path) = &unix {
            builder = builder.unix_socket(path.as_path());
        }
        let http = builder
            .build()
            .map_err(|error| ClientError::Invalid(format!("this machine's TLS settings cannot be read: {error}")))?;
        Ok(Self { http, base, unix, address, token: token.into(), name: "api" })
    }

    /// Says who asks: `cli`, `tui`.
    #[must_use]
    pub fn named(mut self, name: &'static str) -> Self {
        self.name = name;
        self
    }

    /// The address, without a slash at its end.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The Unix socket that it speaks through, if it does.
    pub(crate) fn unix(&self) -> Option<&Path> {
        self.unix.as_deref()
    }

    /// Opens the event socket, and opens it again whenever it is lost, until the stream is dropped.
    ///
    /// Must be called inside a tokio runtime.
    pub fn events(&self) -> EventStream {
        EventStream::open(self.clone())
    }

    /// The headers that every request carries, the socket's too.
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

    /// The address of the event socket.
    pub(crate) fn socket_address(&self) -> String {
        let address = self.base.as_str().trim_end_matches('/');
        let rest = address.strip_prefix("http").unwrap_or(address);
        format!("ws{rest}/api/v1/events")
    }

    pub(crate) fn get(&self, path: &str) -> Result<Call<'_>, ClientError> {
        self.call(Method::GET, path, &[])
    }

    pub(crate) fn post(&self, path: &str) -> Result<Call<'_>, ClientError> {
        self.call(Method::POST, path, &[])
    }

    /// `query` holds names and values; those without a value are left out.
    pub(crate) fn call(
        &self,
        method: Method,
        path: &str,
        query: &[(&str, Option<&str>)],
    ) -> Result<Call<'_>, ClientError> {
        let mut url = self.base.clone();
        url.set_path(&format!("{}{path}", self.base.path().trim_end_matches('/')));
        let present = query.iter().filter_map(|(name, value)| Some((*name, (*value)?)));
        url.query_pairs_mut().extend_pairs(present);
        let request = self.http.request(method, url).headers(self.headers()?);
        Ok(Call { client: self, request: request.header(ACCEPT, "application/json") })
    }

    pub(crate) fn no_server(&self, error: &reqwest::Error) -> ClientError {
        ClientError::NoServer { address: self.address().to_owned(), cause: innermost(error) }
    }

    pub(crate) fn protocol(&self, cause: impl ToString) -> ClientError {
        ClientError::Protocol { address: self.address().to_owned(), cause: cause.to_string() }
    }
}

impl Call<'_> {
    pub(crate) fn key(self, id: &CommandId) -> Self {
        Self { request: self.request.header("idempotency-key", id.as_str()), ..self }
    }

    pub(crate) fn body(self, body: &impl Serialize) -> Self {
        Self { request: self.request.json(body), ..self }
    }

    /// Waits so long instead of the usual time.
    pub(crate) fn within(self, limit: Duration) -> Self {
        Self { request: self.request.timeout(limit), ..self }
    }

    /// Sends it and reads the answer's JSON.
    pub(crate) async fn json<T: DeserializeOwned>(self) -> Result<T, ClientError> {
        let client = self.client;
        read(client, self.answer().await?).await
    }

    /// Sends it and reads the answer's JSON; none when the answer is that there is nothing (204).
    pub(crate) async fn json_or_none<T: DeserializeOwned>(self) -> Result<Option<T>, ClientError> {
        let client = self.client;
        match self.answer().await? {
            response if response.status() == StatusCode::NO_CONTENT => Ok(None),
            response => read(client, response).await.map(Some),
        }
    }

    /// Sends it; only success matters.
    pub(crate) async fn done(self) -> Result<(), ClientError> {
        self.answer().await.map(|_| ())
    }

    /// Sends it, and leaves the answer's body to the caller.
    pub(crate) async fn response(self) -> Result<Response, ClientError> {
        self.answer().await
    }

    async fn answer(self) -> Result<Response, ClientError> {
        let client = self.client;
        let response = self.request.send().await.map_err(|error| client.no_server(&error))?;
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
        // A proxy or an older server may say no more than this.
        Err(_) if status == StatusCode::UNAUTHORIZED => ClientError::Api(ApiError::new(
            ErrorCode::Unauthorized,
            "the server asks for a token: set YOI_TOKEN, or name its folder with --data",
        )),
        Err(_) => client.protocol(format!("status {status} without a reason")),
    }
}

fn parse_socket(text: &str) -> Result<PathBuf, ClientError> {
    match text {
        "" => Err(ClientError::Invalid(format!(
            "\"{UNIX}\" is followed by the path of a socket, such as {UNIX}/run/yoi.sock"
        ))),
        path => std::path::absolute(path).map_err(|error| ClientError::Invalid(format!("{UNIX}{path}: {error}"))),
    }
}

fn parse_base(text: &str) -> Result<Url, ClientError> {
    let wrong = |why: &str| ClientError::Invalid(format!("\"{text}\" is no server's address: {why}"));
    let mut url = Url::parse(text).map_err(|_| wrong("it should look like http://127.0.0.1:7474"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return Err(wrong("it should look like http://127.0.0.1:7474"));
    }
    // The line that `serve` prints may be pasted whole; its token is not part of the address.
    url.set_query(None);
    url.set_fragment(None);
    Ok(url)
}

pub(crate) fn is_loopback(url: &Url) -> bool {
    url.host_str().is_some_and(|host| host == "localhost" || host == "[::1]" || host.starts_with("127."))
}

/// The last cause says what happened ("connection refused"), the outer ones only that something did.
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
    fn an_address_is_http_or_https_and_loses_its_query() {
        let client = Client::new("http://127.0.0.1:7474/?token=secret", "t").unwrap();
        assert_eq!(client.address(), "http://127.0.0.1:7474");
        assert_eq!(client.socket_address(), "ws://127.0.0.1:7474/api/v1/events");
        let client = Client::new("https://box.example/yoi/", "t").unwrap();
        assert_eq!(client.socket_address(), "wss://box.example/yoi/api/v1/events");
        for bad in ["", "127.0.0.1:7474", "ftp://x", "http://"] {
            assert!(matches!(Client::new(bad, "t"), Err(ClientError::Invalid(_))), "{bad:?}");
        }
    }

    #[test]
    fn a_path_of_a_socket_is_an_address_too() {
        let client = Client::new("unix:/run/yoi.sock", "t").unwrap();
        assert_eq!((client.address(), client.unix()), ("unix:/run/yoi.sock", Some(Path::new("/run/yoi.sock"))));
        assert_eq!(client.socket_address(), "ws://localhost/api/v1/events");
        assert!(matches!(Client::new("unix:", "t"), Err(ClientError::Invalid(_))));
    }

    #[test]
    fn a_client_shows_no_token_when_printed() {
        let client = Client::new("http://127.0.0.1:1", "hush-hush").unwrap();
        assert!(!format!("{client:?} {:?}", client.headers().unwrap()).contains("hush"));
    }
}
