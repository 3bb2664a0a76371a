//! Tools of a test: each reports what it did, and some wait until they are told to continue.

use std::{future::pending, sync::Arc};

use pod::ToolOutcome;
use protocol::PermissionDecision;
use serde_json::{Value, json};
use testkit::WAIT_MAX;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::UnixStream,
    sync::{Barrier, watch},
};
use tools::{Network, Output, Place, Tool, Toolbox};

/// What the tools did, in order, and the gate at which some wait.
#[derive(Debug, Clone)]
pub(crate) struct Ledger {
    entries: Arc<watch::Sender<Vec<String>>>,
    gate: Arc<watch::Sender<bool>>,
}

impl Ledger {
    pub(crate) fn new() -> Self {
        Self { entries: Arc::new(watch::Sender::new(Vec::new())), gate: Arc::new(watch::Sender::new(false)) }
    }

    pub(crate) fn all(&self) -> Vec<String> {
        self.entries.borrow().clone()
    }

    pub(crate) fn open_gate(&self) {
        self.gate.send_replace(true);
    }

    /// Waits until there are this many entries with this text.
    pub(crate) async fn until(&self, entry: &str, count: usize) {
        let mut entries = self.entries.subscribe();
        let is_there = entries.wait_for(|all| all.iter().filter(|other| *other == entry).count() >= count);
        let waited = tokio::time::timeout(WAIT_MAX, is_there).await;
        assert!(waited.is_ok(), "{entry} did not come within {WAIT_MAX:?}; there is {:?}", self.all());
    }

    fn note(&self, entry: impl Into<String>) {
        self.entries.send_modify(|all| all.push(entry.into()));
    }

    pub(crate) fn toolbox(&self) -> Toolbox {
        let meeting = Arc::new(Barrier::new(2));
        let names = ["Bash", "New", "Note", "Look", "Meet", "Slow", "Break", "Big"];
        Toolbox::new(names.map(|name| -> Arc<dyn Tool> {
            Arc::new(TestTool { name, ledger: self.clone(), meeting: meeting.clone() })
        }))
    }
}

/// - `Bash {command}`: asks by default. With `connect`, says what the way to the network answers; with `prints`, sends
///   that only when it is asked for what was printed, and does not end.
/// - `New {name}`: like `Note`, but not in any list.
/// - `Note {name}`: changes something; `Look {name}` only reads. Both report when they begin and end.
/// - `Meet {}`: reads, and ends only when two of it run at once.
/// - `Slow {}`: writes a line, waits at the gate, writes another one; reports when it is dropped.
/// - `Break {}`: panics.
/// - `Big {pieces}`: writes this many numbers, one by one, and returns 700,000 bytes.
#[derive(Debug)]
struct TestTool {
    name: &'static str,
    ledger: Ledger,
    meeting: Arc<Barrier>,
}

#[async_trait::async_trait]
impl Tool for TestTool {
    fn name(&self) -> &'static str {
        self.name
    }

    fn description(&self) -> &'static str {
        "A tool of a test."
    }

    fn schema(&self) -> Value {
        json!({ "type": "object" })
    }

    fn only_reads(&self) -> bool {
        matches!(self.name, "Look" | "Meet")
    }

    fn default_permission(&self) -> PermissionDecision {
        match self.name {
            "Bash" | "New" => pod::default_permission(self.name),
            _ => PermissionDecision::Allow,
        }
    }

    async fn call(&self, place: &Place, arguments: Value, output: Output) -> ToolOutcome {
        let of = |field: &str| arguments[field].as_str().unwrap_or_default().to_owned();
        match self.name {
            "Bash" if arguments["connect"].is_string() => ToolOutcome::done(answered(place, &of("connect")).await),
            "Bash" if arguments["prints"].is_string() => {
                self.ledger.note("Bash has printed");
                place.drain.clone().asked().await;
                output.send(of("prints")).await.unwrap();
                output.send(String::new()).await.unwrap();
                pending().await
            }
            "Bash" => {
                self.ledger.note(format!("Bash {}", of("command")));
                ToolOutcome::done(format!("ran {}", of("command"))).with_content("secret output")
            }
            "Meet" => {
                self.meeting.wait().await;
                ToolOutcome::done("met")
            }
            "Slow" => self.slowly(output).await,
            "Break" => panic!("as the test wants"),
            "Big" => {
                for number in 0..arguments["pieces"].as_u64().unwrap_or(0) {
                    output.send(format!("{number} ")).await.unwrap();
                }
                ToolOutcome::done("big").with_content("x".repeat(700_000))
            }
            name => {
                self.ledger.note(format!("{name} {} begins", of("name")));
                tokio::task::yield_now().await;
                self.ledger.note(format!("{name} {} ends", of("name")));
                ToolOutcome::done(format!("noted {}", of("name")))
            }
        }
    }
}

/// What the proxy of this call answers to a request to connect.
async fn answered(place: &Place, to: &str) -> String {
    let Network::Through { socket } = &place.network else { panic!("{:?}", place.network) };
    let mut stream = UnixStream::connect(socket).await.unwrap();
    stream.write_all(format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n\r\n").as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

impl TestTool {
    async fn slowly(&self, output: Output) -> ToolOutcome {
        let mut presence = Presence { ledger: self.ledger.clone(), is_over: false };
        output.send("first line\n".to_owned()).await.unwrap();
        self.ledger.note("Slow waits");
        let mut gate = self.ledger.gate.subscribe();
        gate.wait_for(|is_open| *is_open).await.unwrap();
        output.send("second line\n".to_owned()).await.unwrap();
        presence.is_over = true;
        ToolOutcome::done("slow is done").with_content("first line\nsecond line\n")
    }
}

struct Presence {
    ledger: Ledger,
    is_over: bool,
}

impl Drop for Presence {
    fn drop(&mut self) {
        self.ledger.note(if self.is_over { "Slow ended" } else { "Slow was dropped" });
    }
}
