//! Terminals, seen from outside: who gets one, what runs in it, and what is left when it is closed.

#![allow(clippy::unwrap_used)]

mod common;

use std::path::Path;

use common::{OWN_NAME, Server, TOKEN, code};
use futures_util::{SinkExt, StreamExt};
use reqwest::Method;
use serde_json::{Value, json};
use testkit::{until_so, within};
use tokio::net::TcpStream;
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{Error, Message, client::IntoClientRequest, http::HeaderValue},
};

/// A client of a terminal, with everything that has been printed.
struct Terminal {
    socket: WebSocketStream<TcpStream>,
    printed: String,
}

impl Terminal {
    /// Opens one; the refusal is the status and the code.
    async fn try_open(server: &Server, path: &str, headers: &[(&'static str, String)]) -> Result<Self, (u16, String)> {
        let stream = TcpStream::connect(server.address).await.unwrap();
        let address = format!("ws://{OWN_NAME}:{}{path}", server.address.port());
        let mut request = address.into_client_request().unwrap();
        for (name, value) in headers {
            request.headers_mut().insert(*name, HeaderValue::from_str(value).unwrap());
        }
        match client_async(request, stream).await {
            Ok((socket, _)) => Ok(Self { socket, printed: String::new() }),
            Err(Error::Http(answer)) => {
                let body: Value =
                    serde_json::from_slice(answer.body().as_deref().unwrap_or_default()).unwrap_or_default();
                Err((answer.status().as_u16(), body["code"].as_str().unwrap_or_default().to_owned()))
            }
            Err(error) => panic!("{error}"),
        }
    }

    async fn open(server: &Server, pod: &str, query: &str) -> Self {
        let bearer = [("authorization", format!("Bearer {TOKEN}"))];
        let mut terminal = Self::try_open(server, &format!("{pod}/terminal{query}"), &bearer).await.unwrap();
        let opened = terminal.told().await;
        assert_eq!(opened["opened"]["shell"], "sh", "{opened}");
        terminal
    }

    async fn types(&mut self, text: &str) {
        self.socket.send(Message::binary(text.as_bytes().to_vec())).await.unwrap();
    }

    async fn says(&mut self, frame: Value) {
        self.socket.send(Message::text(frame.to_string())).await.unwrap();
    }

    /// The next text frame.
    async fn told(&mut self) -> Value {
        within("the server says something", async {
            loop {
                match self.socket.next().await.unwrap().unwrap() {
                    Message::Text(text) => return serde_json::from_str(&text).unwrap(),
                    message => self.take(&message),
                }
            }
        })
        .await
    }

    /// Waits until these words have been printed; returns what was printed up to then.
    async fn until(&mut self, words: &str) -> String {
        let printed = within(&format!("{words} is printed"), async {
            while !self.printed.contains(words) {
                let message = self.socket.next().await.unwrap().unwrap();
                self.take(&message);
            }
            std::mem::take(&mut self.printed)
        })
        .await;
        let (before, after) = printed.split_once(words).unwrap();
        self.printed = after.to_owned();
        before.to_owned()
    }

    fn take(&mut self, message: &Message) {
        if let Message::Binary(bytes) = message {
            self.printed.push_str(&String::from_utf8_lossy(bytes));
        }
    }

    /// Reads until the server has closed the socket.
    async fn closed(&mut self) {
        within("the socket is closed", async { while let Some(Ok(_)) = self.socket.next().await {} }).await;
    }
}

/// The actions of the audit about terminals, oldest first, with their results.
async fn audited(server: &Server) -> Vec<String> {
    let (_, page) = server.get("/api/v1/audit").await;
    let rows = page["items"].as_array().unwrap().iter().rev();
    let rows = rows.filter(|row| row["action"].as_str().unwrap().starts_with("terminal_"));
    rows.map(|row| format!("{} {} by {}", row["action"], row["result"], row["by"]).replace('"', "")).collect()
}

#[tokio::test]
async fn terminals_are_off_unless_the_server_was_started_with_them() {
    let server = Server::start().await;
    let pod = server.pod("ada").await;
    let refusal = server.get(&format!("{pod}/terminal")).await;
    assert_eq!(code(&refusal), (403, "terminal_off"));
    let sentence = refusal.1["detail"].as_str().unwrap();
    assert!(sentence.contains("--terminal") && sentence.contains("terminal = true"), "{sentence}");
    let bearer = [("authorization", format!("Bearer {TOKEN}"))];
    let refused = Terminal::try_open(&server, &format!("{pod}/terminal"), &bearer).await.err().unwrap();
    assert_eq!(refused, (403, "terminal_off".to_owned()));
    assert_eq!(audited(&server).await, ["terminal_open refused by operator"]);
}

#[tokio::test]
async fn a_shell_runs_in_the_pods_folder_on_a_screen_of_the_clients_size() {
    let server = Server::start_with_terminals("/bin/sh").await;
    let pod = server.pod("ada").await;
    let cwd = server.get(&pod).await.1["cwd"].as_str().unwrap().to_owned();
    let mut terminal = Terminal::open(&server, &pod, "?columns=100&rows=30").await;
    terminal.types("echo answer $((6*7)); pwd; stty size\n").await;
    terminal.until("answer 42").await;
    terminal.until(&cwd).await;
    terminal.until("30 100").await;
    terminal.says(json!({ "resize": { "columns": 120, "rows": 40 } })).await;
    terminal.types("stty size\n").await;
    terminal.until("40 120").await;
    // In a loop without commands: an interrupt that meets a shell's child before it has become its command is lost.
    terminal.types("trap 'over=1; echo inter''rupted' INT; echo rea''dy; until [ $over ]; do :; done\n").await;
    terminal.until("ready").await;
    terminal.types("\x03").await;
    terminal.until("interrupted").await;
    terminal.types("env; echo the e''nd\n").await;
    let environment = terminal.until("the end").await;
    assert!(environment.contains("TERM=xterm-256color"), "{environment}");
    assert!(!environment.contains("CARGO") && !environment.contains("YOI"), "{environment}");
}

#[tokio::test]
async fn a_shell_that_ends_says_how_and_closes_the_socket() {
    let server = Server::start_with_terminals("/bin/sh").await;
    let pod = server.pod("ada").await;
    let mut terminal = Terminal::open(&server, &pod, "").await;
    terminal.types("echo last wo''rds; exit 3\n").await;
    terminal.until("last words").await;
    assert_eq!(terminal.told().await, json!({ "ended": { "code": 3 } }));
    terminal.closed().await;
    until_so("both ends are in the audit", async || audited(&server).await.len() == 2).await;
    assert_eq!(audited(&server).await, ["terminal_open done by operator", "terminal_end done by operator"]);
}

#[tokio::test]
async fn closing_a_terminal_ends_everything_in_it() {
    let server = Server::start_with_terminals("/bin/sh").await;
    let pod = server.pod("ada").await;
    let mut terminal = Terminal::open(&server, &pod, "").await;
    terminal.types("sleep 1000 & sh -c 'trap \"\" HUP TERM; echo id $$ o''k; while :; do sleep 1; done'\n").await;
    let before = terminal.until(" ok").await;
    let id = before.rsplit("id ").next().unwrap().to_owned();
    assert!(Path::new(&format!("/proc/{id}")).exists(), "{before}");
    terminal.socket.close(None).await.unwrap();
    until_so("one that ignores SIGHUP is killed, too", async || !Path::new(&format!("/proc/{id}")).exists()).await;
    until_so("the end is in the audit", async || audited(&server).await.len() == 2).await;

    let mut other = Terminal::open(&server, &pod, "").await;
    other.types("echo id $$ o''k\n").await;
    let before = other.until(" ok").await;
    let id = before.rsplit("id ").next().unwrap().to_owned();
    server.stop.send_replace(true);
    other.closed().await;
    until_so("it ends with the server", async || !Path::new(&format!("/proc/{id}")).exists()).await;
}

#[tokio::test]
async fn nobody_but_a_person_gets_one() {
    let server = Server::start_with_terminals("/bin/sh").await;
    let pod = server.pod("ada").await;
    let path = format!("{pod}/terminal");
    server.backend.pod_tokens().serve_at("http://127.0.0.1:1/mcp".to_owned());
    let worker_id = pod.rsplit('/').next().unwrap().parse().unwrap();
    let agents = server.backend.pod_tokens().mint(&worker_id).unwrap().unwrap();
    let bearer = format!("Bearer {TOKEN}");
    let with = |more: &[(&'static str, &str)]| {
        let more = more.iter().map(|(name, value)| (*name, (*value).to_owned()));
        [("authorization", bearer.clone())].into_iter().chain(more).collect::<Vec<_>>()
    };
    for (headers, expected) in [
        (vec![], (401, "unauthorized")),
        (vec![("authorization", format!("Bearer {}", agents.secret()))], (401, "unauthorized")),
        (with(&[("origin", "http://evil.example")]), (403, "forbidden_origin")),
        (with(&[("sec-fetch-site", "cross-site")]), (403, "forbidden_origin")),
        (with(&[("host", "evil.example")]), (403, "forbidden_host")),
    ] {
        let refused = Terminal::try_open(&server, &path, &headers).await.err().unwrap();
        assert_eq!((refused.0, refused.1.as_str()), expected, "{headers:?}");
    }
    assert_eq!(audited(&server).await, Vec::<String>::new());
    for (path, expected) in [
        (format!("{path}?columns=0"), (400, "invalid_input")),
        (format!("{path}?rows=501"), (400, "invalid_input")),
        (format!("{path}?rows=x"), (400, "invalid_input")),
        (path.clone(), (400, "invalid_input")),
        (format!("{}x/terminal", &pod[..pod.len() - 1]), (404, "pod_not_found")),
    ] {
        let refusal = common::answer(server.request(Method::GET, &path)).await;
        assert_eq!(code(&refusal), expected, "{path}");
    }
}

#[tokio::test]
async fn there_are_eight_and_a_frame_that_says_nothing_is_answered() {
    let server = Server::start_with_terminals("/bin/sh").await;
    let pod = server.pod("ada").await;
    let mut open = Vec::new();
    for _ in 0..8 {
        open.push(Terminal::open(&server, &pod, "").await);
    }
    let bearer = [("authorization", format!("Bearer {TOKEN}"))];
    let path = format!("{pod}/terminal");
    let refused = Terminal::try_open(&server, &path, &bearer).await.err().unwrap();
    assert_eq!(refused, (429, "rate_limited".to_owned()));
    let mut first = open.swap_remove(0);
    for bad in [json!({ "resize": { "columns": 0, "rows": 1 } }), json!({ "type": "x" }), json!([])] {
        first.says(bad.clone()).await;
        assert!(first.told().await["problem"].is_string(), "{bad}");
    }
    first.types("echo still he''re\n").await;
    first.until("still here").await;
    drop(first);
    until_so("there is room again", async || Terminal::try_open(&server, &path, &bearer).await.is_ok()).await;
}

#[tokio::test]
async fn a_shell_that_cannot_be_started_says_so() {
    let server = Server::start_with_terminals("/no/such/shell").await;
    let pod = server.pod("ada").await;
    let bearer = [("authorization", format!("Bearer {TOKEN}"))];
    let mut terminal = Terminal::try_open(&server, &format!("{pod}/terminal"), &bearer).await.unwrap();
    let problem = terminal.told().await;
    assert!(problem["problem"].as_str().unwrap().contains("/no/such/shell"), "{problem}");
    terminal.closed().await;
    assert_eq!(audited(&server).await, ["terminal_open failed by operator"]);
}
