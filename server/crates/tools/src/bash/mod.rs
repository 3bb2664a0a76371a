//! Bash: runs a command line in a sandbox that contains what the Pod's scope grants and nothing else.
//!
//! The server never confines itself and never forks by hand: it starts its own program again as a helper (`helper`).
//! The `keeper` runs outside, has the sandbox built (`room`), and ends everything when the call ends: at the time
//! limit, when the call is dropped, and when yoi dies. The `first` process of the sandbox starts the `shell`, which
//! first gives up every privilege: file access by Landlock (`confine`), system calls (`seccomp`), capabilities
//! (`rights`), and its share of the machine (`limits`, and `groups` for all of its processes together).

mod ahead;
mod background;
mod carve;
mod channel;
mod clock;
mod closed;
mod confine;
mod descendants;
mod ending;
mod environment;
mod errand;
mod failure;
mod first;
mod groups;
mod helper;
mod keeper;
mod kept;
mod kernel;
mod leavings;
mod limits;
mod live;
mod order;
mod reading;
mod repositories;
mod rights;
mod room;
mod run;
mod seccomp;
mod serve;
mod shell;
mod standby;
mod system;
mod text;
mod unwritten;
mod walls;
mod way_in;
mod way_out;

use std::{
    path::{Component, Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use async_trait::async_trait;
use pod::ToolOutcome;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

pub use self::{
    background::{Background, BashOutput, BashStop, Stopper},
    errand::{Errand, Ran, Unrun},
    groups::Groups,
    helper::helper_main,
    limits::Limits,
    reading::commands_in,
    serve::{Served, Serving, Talk},
    walls::{Builder, Confinement, confinement, walls},
};

use self::{
    background::{Begun, Job},
    clock::Clock,
    ending::Ended,
    failure::Failure,
    kept::Kept,
    live::Live,
    order::{Hold, Order},
    repositories::Repositories,
    run::Running,
    standby::Standby,
};
use crate::{Output, Place, Tool, arguments};

const SECONDS_DEFAULT: u64 = 120;
const SECONDS_MAX: u64 = 600;

/// How commands are run on this machine.
#[derive(Debug, Clone)]
pub struct BashOptions {
    /// A program whose `main` begins with [`helper_main`].
    pub helper: PathBuf,
    pub confine: Confine,
    pub builder: Builder,
    /// Whether commands may run even if the kernel cannot confine them. The caller then has to ask a person first.
    pub allow_unconfined: bool,
    /// Names of variables that commands get besides the common ones.
    pub environment: Vec<String>,
    pub limits: Limits,
    /// Where each command has a group of its own.
    pub groups: Groups,
}

/// Whether commands are confined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confine {
    /// If the kernel can.
    Auto,
    /// As if the kernel could not.
    Never,
}

impl BashOptions {
    /// With this very program as the helper.
    pub fn of_this_process() -> Self {
        let own = PathBuf::from(helper::OWN_PROGRAM);
        let helper = if own.exists() { own } else { std::env::current_exe().unwrap_or(own) };
        Self {
            helper,
            confine: Confine::Auto,
            builder: Builder::default(),
            allow_unconfined: false,
            environment: Vec::new(),
            limits: Limits::default(),
            groups: Groups::none("nobody has asked for any"),
        }
    }

    /// Returns what can confine a command here.
    fn hold(&self) -> Hold {
        match (self.confine, confinement(self.builder)) {
            (Confine::Never, _) | (_, Confinement::Missing { landlock: false, .. }) => Hold::Nothing,
            (_, Confinement::Missing { landlock: true, .. }) => Hold::Landlock,
            (_, Confinement::Room { bubblewrap, .. }) => Hold::Room { bubblewrap },
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// A command line for bash. It has no terminal and no input.
    command: String,
    /// The number of seconds after which the command and everything it started are ended, 1 to 600; 120 when absent.
    #[schemars(range(min = 1, max = 600))]
    timeout_s: Option<u64>,
    /// The folder to run it in; the Pod's working directory when absent.
    cwd: Option<String>,
    /// True: return at once, with an id for BashOutput and BashStop, and let the command run on. It then has no time
    /// limit unless timeout_s is given.
    background: Option<bool>,
}

/// Reads the arguments and checks what needs no look at the machine.
fn checked(arguments: Value) -> Result<Arguments, Failure> {
    let arguments: Arguments = arguments::parsed("Bash", arguments).map_err(Failure::InvalidInput)?;
    if let Some(seconds) = arguments.timeout_s.filter(|seconds| !(1..=SECONDS_MAX).contains(seconds)) {
        let sentence = format!("timeout_s is {seconds}; it must be from 1 to {SECONDS_MAX}");
        return Err(Failure::InvalidInput(sentence));
    }
    if arguments.command.contains('\0') {
        return Err(Failure::InvalidInput("the command has a NUL character in it".to_owned()));
    }
    Ok(arguments)
}

/// The tool `Bash`.
#[derive(Debug)]
pub struct Bash {
    options: BashOptions,
    helpers: Standby,
    background: Background,
}

/// A command to be run.
#[derive(Debug)]
struct Wanted {
    order: Order,
    /// `None`: it may run as long as its Pod.
    limit: Option<Duration>,
    is_background: bool,
}

impl Bash {
    pub fn new(options: BashOptions) -> Self {
        Self { options, helpers: Standby::default(), background: Background::default() }
    }

    /// With a place for commands that keep running after their call.
    #[must_use]
    pub fn with_background(self, background: Background) -> Self {
        Self { background, ..self }
    }

    /// Whether commands are confined to the scope, each in a sandbox. If not, each should need an approval.
    pub fn is_confined(&self) -> bool {
        matches!(self.options.hold(), Hold::Room { .. })
    }

    /// What to run and for how long.
    fn order(&self, place: &Place, arguments: Value) -> Result<Wanted, Failure> {
        let arguments = checked(arguments)?;
        let is_background = arguments.background == Some(true);
        let seconds = arguments.timeout_s.unwrap_or(SECONDS_DEFAULT);
        let limit = (!is_background || arguments.timeout_s.is_some()).then(|| Duration::from_secs(seconds));
        let hold = self.options.hold();
        let order = Order {
            command: arguments.command,
            program: None,
            cwd: folder(place, arguments.cwd.as_deref())?,
            rules: place.scope.rules().to_vec(),
            // What keeps its dangerous parts from being written is the sandbox.
            shared: if matches!(hold, Hold::Room { .. }) { place.scope.shared() } else { Vec::new() },
            lent: unwritten::unwritten(&place.scope),
            fixed: Vec::new(),
            closed: closed::paths(),
            hold,
            network: place.network.clone(),
            way_in: place.way_in.clone().filter(|_| place.network.is_own()),
            limits: self.options.limits.clone(),
            group: self.options.groups.next(),
        };
        Ok(Wanted { order, limit, is_background })
    }

    async fn run(&self, place: &Place, arguments: Value, output: Output) -> Result<ToolOutcome, Failure> {
        let Wanted { mut order, limit, is_background } = self.order(place, arguments)?;
        let is_confined = matches!(order.hold, Hold::Room { .. });
        if !is_confined && !self.options.allow_unconfined {
            return Err(Failure::CannotConfine(self.why_unconfined()));
        }
        let repositories = match is_confined {
            true => {
                let scope = place.scope.clone();
                Arc::new(beside(move || Repositories::within(&scope)).await)
            }
            false => Arc::default(),
        };
        order.fixed = repositories.fixed();
        if is_background {
            return self.start(place, order, repositories, limit).await;
        }
        let started = Instant::now();
        let running = self.running(place, &order).await?;
        let limit = limit.unwrap_or(Duration::from_secs(SECONDS_DEFAULT));
        let name = format!("output:{}", place.call_id);
        let (mut kept, mut live) = (Kept::new(&place.outputs, &place.call_id), Live::new(&name));
        let clock = Clock::start(limit, place.questions.clone());
        let ending = running.finish(clock, place.drain.clone(), &mut kept, &mut live, &output).await;
        let took = started.elapsed();
        let scope = place.scope.clone();
        let left = beside(move || {
            repositories.tidy();
            if is_confined { repositories.left_in(&scope) } else { Vec::new() }
        });
        let mut left = leavings::told(&place.cwd, &left.await);
        let lines = kept.lines();
        let (content, last) = kept.finish(&name).await;
        left.push_str(leavings::told_of_locks(place.scope.work_tree().is_some(), &content));
        live.push(&last);
        live.finish(&output).await;
        // Without sandboxes it would be exposed to commands.
        if is_confined {
            self.helpers.prepare(&self.options);
        }
        Ended { ending, is_confined, limit, took, lines, left, content }.outcome()
    }

    async fn running(&self, place: &Place, order: &Order) -> Result<Running, Failure> {
        let running = Running::start(&self.helpers, &self.options, order, place.lifeline.clone()).await;
        running.map_err(|error| Failure::NotStarted(error.to_string()))
    }

    /// Starts a command that keeps running after this call.
    async fn start(
        &self,
        place: &Place,
        order: Order,
        repositories: Arc<Repositories>,
        limit: Option<Duration>,
    ) -> Result<ToolOutcome, Failure> {
        let is_confined = matches!(order.hold, Hold::Room { .. });
        let job = Arc::new(Job::new(place, &order.command, order.cwd.display().to_string()));
        // It takes its seat first, so that no more than the limit can start at once.
        let seat = self.background.add(&place.worker_id, job.clone()).map_err(Failure::TooMany)?;
        let running = self.running(place, &order).await?;
        seat.take();
        if is_confined {
            self.helpers.prepare(&self.options);
        }
        let begun = Begun { running, repositories, is_confined, limit };
        tokio::spawn(job.run(begun, place.clone(), self.background.clone()));
        let id = &place.call_id;
        let content = serde_json::json!({ "id": id }).to_string();
        Ok(ToolOutcome::done(format!(
            "started in the background as {id}; BashOutput returns what it writes, BashStop ends it, and you are told when it ends"
        ))
        .with_content(content))
    }

    fn why_unconfined(&self) -> String {
        match (self.options.confine, confinement(self.options.builder)) {
            (Confine::Auto, Confinement::Missing { reason, .. }) => reason,
            _ => "that is switched off".to_owned(),
        }
    }
}

/// The tools for commands, which share those that run in the background.
pub fn tools(options: BashOptions, background: &Background) -> [Arc<dyn Tool>; 3] {
    [
        Arc::new(Bash::new(options).with_background(background.clone())),
        Arc::new(BashOutput::new(background.clone())),
        Arc::new(BashStop::new(background.clone())),
    ]
}

#[async_trait]
impl Tool for Bash {
    fn name(&self) -> &'static str {
        "Bash"
    }

    fn description(&self) -> &'static str {
        "Runs a command line in bash and returns its output (standard output and errors together) and its exit code. Each \
         call is a new shell: a changed folder and set variables do not carry over to the next one. It can read and write only \
         what your scope grants, can read the system's programs, and has a temporary folder of its own in $TMPDIR. \
         Everything that it starts ends with the call, including background processes; for a server or a watcher, set \
         `background`: the command then goes on until it ends, BashStop ends it, or you are stopped, and it reaches only \
         those hosts that rules allow. In a folder of which a part is \
         denied or lent, it cannot create, rename or remove entries; Write can create files there. Git's settings and hooks, \
         .envrc and the start files of shells are read here and never written: ask the person to change those, and to \
         move or delete a repository. For reading and changing files prefer Read, Write, Edit, Glob and Grep."
    }

    fn schema(&self) -> Value {
        arguments::schema_of::<Arguments>()
    }

    fn misfit(&self, arguments: &Value) -> Option<String> {
        checked(arguments.clone()).err().map(|failure| failure.to_string())
    }

    async fn call(&self, place: &Place, arguments: Value, output: Output) -> ToolOutcome {
        self.run(place, arguments, output).await.unwrap_or_else(ToolOutcome::from)
    }
}

/// Runs disk work that may take a while.
async fn beside<T: Default + Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.unwrap_or_default()
}

/// The folder in which to run a command, if the Pod may read it.
fn folder(place: &Place, wanted: Option<&str>) -> Result<PathBuf, Failure> {
    let cwd = plain(&place.cwd.join(wanted.unwrap_or("")));
    let folder = cwd.display().to_string();
    match place.scope.may_read(cwd.to_str().unwrap_or("")) {
        Err(refusal) => Err(Failure::Scope { folder, refusal }),
        Ok(()) if !cwd.is_dir() => Err(Failure::NoFolder { folder }),
        Ok(()) => Ok(cwd),
    }
}

/// Resolves `.` and `..` of an absolute path as text, because scopes only accept paths without them.
pub fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::Normal(name) => plain.push(name),
            Component::ParentDir => drop(plain.pop()),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => (),
        }
    }
    plain
}
