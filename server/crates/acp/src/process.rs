//! An agent's process. Its input and output carry the protocol; its standard error is kept to explain why it ended.
//! Like a command, it has a keeper, which ends everything that it started when yoi drops it or dies.

use std::{
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

use pod::{AGENT_WAY, HostPort, Scope};
use protocol::{Access, NetworkPolicy, ScopeRule};
use tokio::{io::AsyncReadExt, process::ChildStderr, sync::mpsc, time::timeout};
use tools::{
    Lifeline, Network,
    bash::{Served, Serving},
    proxy::{OWN_URL, Own, Proxy, Wish},
};

use crate::{
    registry::Starting,
    turn::{Begin, Entrance},
    wire::Wire,
};

/// How much of its standard error is kept: the end.
const ERRORS_BYTES_MAX: usize = 4 * 1024;
const WORDS_CHARS_MAX: usize = 300;
/// What programs read to find out what they reach without a proxy: their own loopback, on which some agents talk to
/// themselves.
const DIRECT: [&str; 2] = ["NO_PROXY", "no_proxy"];
const LOOPBACK: &str = "127.0.0.1,localhost,::1";
/// How many requests for network access may wait to be passed on.
const WISHES_MAX: usize = 16;
/// How long the keeper may take to report how the process ended.
const ENDING_WAIT: Duration = Duration::from_secs(2);

/// A running process. Dropping it ends it and everything that it started.
#[derive(Debug)]
pub(crate) struct Process {
    served: Served,
    errors: Arc<Mutex<String>>,
    /// Its way to the network, if it leads through yoi.
    proxy: Option<Proxy>,
    turn: Asked,
}

/// Where the requests for network access of the present turn go; `None` between turns. The process outlives its turns,
/// and what decides in one of them may be gone in the next.
type Asked = Arc<Mutex<Option<mpsc::Sender<Wish>>>>;

/// Passes requests on to the present turn. Without one nobody decides: the request is dropped, which is a no.
async fn pass_on(mut wishes: mpsc::Receiver<Wish>, turn: Asked) {
    while let Some(wish) = wishes.recv().await {
        let asked = turn.lock().expect("no holder of the turn panics").clone();
        if let Some(asked) = asked {
            // If the turn is over meanwhile, it is a no.
            let _ = asked.send(wish).await;
        }
    }
}

/// The network of an agent, and what leads there.
struct Way {
    network: Network,
    proxy: Option<Proxy>,
    variables: Vec<(String, String)>,
}

impl Way {
    /// The network of the machine for a free agent, and what the Pod may reach for a confined one.
    fn of(is_confined: bool, begin: &Begin, turn: &Asked, entrance: Option<&Entrance>) -> Result<Self, String> {
        let plain = |network| Ok(Self { network, proxy: None, variables: Vec::new() });
        let own = entrance.and_then(own);
        let proxy = match begin.network {
            _ if !is_confined => return plain(Network::Open),
            NetworkPolicy::Open => return plain(Network::Open),
            // yoi's own tools and nothing else.
            NetworkPolicy::None => match own {
                Some(own) => Proxy::open_only(AGENT_WAY, own),
                None => return plain(Network::None),
            },
            NetworkPolicy::Ask => {
                let (wishes, wished) = mpsc::channel(WISHES_MAX);
                tokio::spawn(pass_on(wished, turn.clone()));
                Proxy::open_with(AGENT_WAY, wishes, own)
            }
        };
        let proxy = proxy.map_err(|error| format!("its network access could not be set up: {error}"))?;
        let variables = DIRECT.map(|name| (name.to_owned(), LOOPBACK.to_owned())).into();
        Ok(Self { network: Network::Through { socket: proxy.socket() }, proxy: Some(proxy), variables })
    }
}

/// The address of yoi's own tools, if a proxy can lead there.
fn own(entrance: &Entrance) -> Option<Own> {
    let (authority, path) = entrance.url.strip_prefix("http://")?.split_once('/')?;
    let (host, port) = authority.rsplit_once(':')?;
    let to = HostPort::parse(host, port.parse().ok()?)?;
    Some(Own { to, path: format!("/{path}"), token: entrance.token.clone() })
}

/// The scope of a confined agent: its Pod's, and yoi's own program, which an agent without HTTP starts to reach yoi's own
/// tools.
fn scope(begin: &Begin) -> Scope {
    let program = std::env::current_exe().and_then(|program| program.canonicalize()).ok();
    let program = program.and_then(|program| program.to_str().map(str::to_owned));
    let reads = program.map(|path| ScopeRule { path, access: Access::Read, recursive: false });
    reads.into_iter().fold(begin.scope.clone(), Scope::with_rule)
}

impl Process {
    /// # Errors
    /// A sentence: the process cannot be confined to its scope on this machine, or it cannot be started.
    pub(crate) async fn start(
        starting: &Starting,
        program: &Path,
        begin: &Begin,
        entrance: Option<&Entrance>,
    ) -> Result<(Self, Wire), String> {
        let config = &starting.config;
        let turn: Asked = Arc::new(Mutex::new(Some(begin.wishes.clone())));
        let Way { network, proxy, variables } = Way::of(config.confine, begin, &turn, entrance)?;
        let program = program.to_str().ok_or("the path of its program is not UTF-8")?.to_owned();
        let words = config.command.iter().skip(1).cloned();
        let (lifeline, _) = Lifeline::pair();
        let serving = Serving {
            program: std::iter::once(program).chain(words).collect(),
            // What the configuration says takes precedence.
            variables: variables.into_iter().chain(config.env.clone()).collect(),
            cwd: begin.cwd.clone(),
            scope: scope(begin),
            network,
            is_free: !config.confine,
            keeps_repositories: true,
            lifeline,
        };
        let (served, talk) = Served::start(&starting.bash, serving).await?;
        let (reading, writing) = talk.stream.into_split();
        let errors = Arc::new(Mutex::new(String::new()));
        tokio::spawn(keep_end(talk.errors, errors.clone()));
        Ok((Self { served, errors, proxy, turn }, Wire::new(Box::new(reading), Box::new(writing))))
    }

    /// Sets where requests for network access go from now on: to a turn, or between turns to nobody.
    pub(crate) fn ask_in(&self, turn: Option<mpsc::Sender<Wish>>) {
        *self.turn.lock().expect("no holder of the turn panics") = turn;
    }

    /// Returns the address at which the process itself reaches yoi's own tools.
    pub(crate) fn address_of(&self, entrance: &Entrance) -> String {
        let inside = self.proxy.as_ref().and_then(|_| own(entrance));
        inside.map_or_else(|| entrance.url.clone(), |own| format!("{OWN_URL}{}", own.path))
    }

    /// Says in half a sentence how the process ended, or nothing while it is still running.
    pub(crate) async fn ending(&mut self) -> Option<String> {
        timeout(ENDING_WAIT, self.served.ended()).await.ok()
    }

    /// Returns the last words that the process wrote to its standard error.
    pub(crate) fn last_words(&self) -> Option<String> {
        let errors = self.errors.lock().expect("no holder of these words panics");
        // Skips lines that are only the end of a dump.
        let says = |line: &&str| line.chars().filter(|letter| letter.is_alphanumeric()).count() > 3;
        let line = errors.lines().map(str::trim).rfind(says)?;
        Some(crate::wire::cut(line, WORDS_CHARS_MAX))
    }

    /// Ends the process and everything that it started, and waits until it is gone.
    pub(crate) async fn end(self) {
        if !self.served.end().await {
            tracing::warn!("an agent's process does not end");
        }
    }
}

async fn keep_end(mut from: ChildStderr, to: Arc<Mutex<String>>) {
    let mut buffer = vec![0; 4 * 1024];
    while let Ok(count @ 1..) = from.read(&mut buffer).await {
        let text = String::from_utf8_lossy(&buffer[..count]);
        let mut kept = to.lock().expect("no holder of these words panics");
        kept.push_str(&text);
        if kept.len() > ERRORS_BYTES_MAX {
            let start = kept.ceil_char_boundary(kept.len() - ERRORS_BYTES_MAX);
            kept.drain(..start);
        }
    }
}
