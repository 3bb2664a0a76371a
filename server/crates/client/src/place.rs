//! A server's address and the connections to it; looked up again when it may have moved.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use reqwest::{Url, redirect::Policy};

use crate::ClientError;

/// A server that does not accept a connection within this time is considered absent.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// No API call waits longer than 5 s for another Pod; the rest is a margin for a slow disk.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// Precedes the path of a Unix socket, in place of a URL.
const UNIX: &str = "unix:";
/// The host that requests over a Unix socket name, which the server checks there too.
const UNIX_BASE: &str = "http://localhost";

/// Names of this machine, such as a console's own.
const UNDER_LOCALHOST: &str = ".localhost";
const LOOPBACK: &str = "127.0.0.1";

/// An address, with its HTTP client.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) http: reqwest::Client,
    pub(crate) base: Url,
    /// The Unix socket used in place of a connection to `base`.
    pub(crate) unix: Option<PathBuf>,
    /// As it was given, for display; without a trailing slash.
    pub(crate) address: String,
}

/// Returns the address before each request and each connection; `None` to keep the previous one.
type Ask = dyn Fn() -> Option<String> + Send + Sync;

/// The current place of a server, shared by clones.
#[derive(Clone)]
pub(crate) struct Places {
    now: Arc<Mutex<Arc<Place>>>,
    ask: Option<Arc<Ask>>,
}

impl Place {
    pub(crate) fn parse(text: &str) -> Result<Self, ClientError> {
        let unix = text.strip_prefix(UNIX).map(parse_socket).transpose()?;
        let base = parse_base(if unix.is_some() { UNIX_BASE } else { text })?;
        let address = match &unix {
            Some(path) => format!("{UNIX}{}", path.display()),
            None => base.as_str().trim_end_matches('/').to_owned(),
        };
        let mut builder = reqwest::Client::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(REQUEST_TIMEOUT)
            // The token goes to the given address and nowhere else.
            .redirect(Policy::none());
        if is_loopback(&base) {
            // A proxy cannot reach this machine's loopback.
            builder = builder.no_proxy();
        }
        if let Some(path) = &unix {
            builder = builder.unix_socket(path.as_path());
        }
        let http = builder
            .build()
            .map_err(|error| ClientError::Invalid(format!("this machine's TLS settings cannot be read: {error}")))?;
        Ok(Self { http, base, unix, address })
    }

    /// A server on another machine; messages do not contain its address.
    pub(crate) fn of_server(text: &str) -> Result<Self, ClientError> {
        let wrong = |why: &str| ClientError::Invalid(format!("not a server address: {why}"));
        let url = Url::parse(text).map_err(|_| wrong("it should look like https://box.example:7474"))?;
        if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
            return Err(wrong("it begins with http:// or https:// and names a host"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong("it holds a login; a server is told its token only"));
        }
        Ok(Self { address: "the other server".to_owned(), ..Self::parse(text)? })
    }

    pub(crate) fn is_told_by(&self, text: &str) -> bool {
        let port = self.base.port().map(|port| port.to_string());
        self.base.host_str().is_some_and(|host| text.contains(host)) || port.is_some_and(|port| text.contains(&port))
    }

    /// Whether it is on this machine as far as the address tells; the end of a tunnel looks the same.
    pub(crate) fn is_here(&self) -> bool {
        self.unix.is_some() || is_loopback(&self.base)
    }

    pub(crate) fn unix(&self) -> Option<&Path> {
        self.unix.as_deref()
    }

    /// The address of the event socket.
    pub(crate) fn socket_address(&self) -> String {
        let address = self.base.as_str().trim_end_matches('/');
        let rest = address.strip_prefix("http").unwrap_or(address);
        format!("ws{rest}/api/v1/events")
    }
}

impl Places {
    pub(crate) fn fixed(place: Place) -> Self {
        Self { now: Arc::new(Mutex::new(Arc::new(place))), ask: None }
    }

    pub(crate) fn asking(mut self, ask: impl Fn() -> Option<String> + Send + Sync + 'static) -> Self {
        self.ask = Some(Arc::new(ask));
        self
    }

    /// The current place. An unusable address changes nothing.
    pub(crate) fn now(&self) -> Arc<Place> {
        // Called without the lock, because it may read a file.
        let told = self.ask.as_ref().and_then(|ask| ask());
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(told) = told.filter(|told| told.trim_end_matches('/') != now.address)
            && let Ok(place) = Place::parse(&told)
        {
            *now = Arc::new(place);
        }
        Arc::clone(&now)
    }
}

impl fmt::Debug for Places {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        formatter.debug_tuple("Places").field(&now.address).finish()
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
    let wrong = |why: &str| ClientError::Invalid(format!("\"{text}\" is not a server address: {why}"));
    let mut url = Url::parse(text).map_err(|_| wrong("it should look like http://127.0.0.1:7474"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return Err(wrong("it should look like http://127.0.0.1:7474"));
    }
    // The line that `serve` prints may be pasted in full; its token is not part of the address.
    url.set_query(None);
    url.set_fragment(None);
    if url.host_str().is_some_and(|host| host.ends_with(UNDER_LOCALHOST)) {
        // They are loopback names by definition, but not every system's resolver knows that.
        url.set_host(Some(LOOPBACK)).map_err(|_| wrong("it should look like http://127.0.0.1:7474"))?;
    }
    Ok(url)
}

fn is_loopback(url: &Url) -> bool {
    url.host_str().is_some_and(|host| host == "localhost" || host == "[::1]" || host.starts_with("127."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(text: &str) -> Place {
        let _ = rustls::crypto::ring::default_provider().install_default();
        Place::parse(text).unwrap()
    }

    #[test]
    fn an_address_is_http_or_https_and_loses_its_query() {
        let here = place("http://127.0.0.1:7474/?token=secret");
        assert_eq!(here.address, "http://127.0.0.1:7474");
        assert_eq!(here.socket_address(), "ws://127.0.0.1:7474/api/v1/events");
        let own = place("http://yoi-x.localhost:7474/?token=secret");
        assert_eq!(own.base.as_str(), "http://127.0.0.1:7474/", "no resolver is asked");
        assert_eq!(place("https://box.example/yoi/").socket_address(), "wss://box.example/yoi/api/v1/events");
        for bad in ["", "127.0.0.1:7474", "ftp://x", "http://"] {
            assert!(matches!(Place::parse(bad), Err(ClientError::Invalid(_))), "{bad:?}");
        }
    }

    #[test]
    fn a_server_on_another_machine_has_a_plain_address_that_nothing_tells() {
        for bad in ["box:7474", "unix:/run/yoi.sock", "ftp://box", "http://me:pass@box", "http://me@box"] {
            let error = Place::of_server(bad).unwrap_err().to_string();
            assert!(!error.contains(bad), "{error}");
        }
        let _ = rustls::crypto::ring::default_provider().install_default();
        let there = Place::of_server("https://box.example:7474/?token=x").unwrap();
        assert_eq!(there.socket_address(), "wss://box.example:7474/api/v1/events");
        assert!(!there.address.contains("box"), "{}", there.address);
        assert!(there.is_told_by("not valid for name box.example") && !there.is_told_by("connection refused"));
    }

    #[test]
    fn a_path_of_a_socket_is_an_address_too() {
        let here = place("unix:/run/yoi.sock");
        assert_eq!((here.address.as_str(), here.unix()), ("unix:/run/yoi.sock", Some(Path::new("/run/yoi.sock"))));
        assert_eq!(here.socket_address(), "ws://localhost/api/v1/events");
        assert!(matches!(Place::parse("unix:"), Err(ClientError::Invalid(_))));
    }

    #[test]
    fn a_server_that_moved_is_found_and_one_that_is_away_keeps_its_address() {
        let told = Arc::new(Mutex::new(None::<&str>));
        let asked = Arc::clone(&told);
        let places =
            Places::fixed(place("http://127.0.0.1:1")).asking(move || asked.lock().unwrap().map(str::to_owned));
        for (says, expected) in [
            (None, "http://127.0.0.1:1"),
            (Some("http://127.0.0.1:2"), "http://127.0.0.1:2"),
            (Some("nonsense"), "http://127.0.0.1:2"),
            (None, "http://127.0.0.1:2"),
            (Some("unix:/run/yoi.sock"), "unix:/run/yoi.sock"),
        ] {
            *told.lock().unwrap() = says;
            assert_eq!(places.now().address, expected, "{says:?}");
        }
        let before = places.now();
        assert!(Arc::ptr_eq(&before, &places.now()), "its connections are kept");
    }
}
