//! A program that yoi talks to. It lives until yoi drops it, in the same kind of sandbox as a command, with one socket
//! as its standard input and output, and with a standard error of its own.
//!
//! It has the same helper as a command. The helper's standard input is a socket, too: closing it ends the program, and
//! the helper reports on it how the program ended.

use std::{
    collections::BTreeMap,
    fmt, io,
    os::{fd::OwnedFd, unix::net::UnixStream as BlockingStream},
    path::{Path, PathBuf},
    process::Stdio,
    sync::Arc,
    time::Duration,
};

use pod::Scope;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::UnixStream,
    process::{Child, ChildStderr, Command},
    runtime::Handle,
    time::timeout,
};

use super::{
    BashOptions, Failure, beside, closed, environment, groups, helper,
    order::{Hold, Order, Program, Report},
    repositories::Repositories,
    unwritten,
};
use crate::{Lifeline, Network};

/// How long the helper may take to report how its program ended, and to end itself.
const END_WAIT: Duration = Duration::from_secs(5);
/// The size of a report.
const REPORT_BYTES_MAX: u64 = 64 * 1024;

/// What is to be run, and where.
#[derive(Clone)]
pub struct Serving {
    /// The program and its arguments. A program without a slash is looked up on the PATH.
    pub program: Vec<String>,
    /// Variables besides those that every command gets.
    pub variables: BTreeMap<String, String>,
    pub cwd: PathBuf,
    pub scope: Scope,
    pub network: Network,
    /// Whether to start the program even if it cannot be confined to the scope; otherwise it is not started.
    pub is_free: bool,
    /// Whether settings and hooks of the repositories in the scope are read-only. Usually they are.
    pub keeps_repositories: bool,
    /// Held until nothing of the program is left.
    pub lifeline: Lifeline,
}

// Written by hand, so that the values of variables are never printed.
impl fmt::Debug for Serving {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Serving").field("program", &self.program).finish_non_exhaustive()
    }
}

/// A running program. Dropping it ends the program and everything that it started.
#[derive(Debug)]
pub struct Served {
    helper: Option<Child>,
    lifeline: Option<Lifeline>,
    /// Closing it ends everything. The report on how the program ended arrives here.
    control: Option<UnixStream>,
    group: Option<PathBuf>,
    repositories: Arc<Repositories>,
}

/// The means of talking to the program.
#[derive(Debug)]
pub struct Talk {
    /// The program's standard input and output.
    pub stream: UnixStream,
    pub errors: ChildStderr,
}

impl Served {
    /// Starts the program.
    ///
    /// # Errors
    /// A sentence: the program cannot be confined to its scope on this machine, or it cannot be started.
    pub async fn start(options: &BashOptions, serving: Serving) -> Result<(Self, Talk), String> {
        let hold = match (serving.is_free, options.hold()) {
            (true, _) => Hold::Nothing,
            (false, room @ Hold::Room { .. }) => room,
            (false, _) => {
                return Err(
                    "there is no sandbox for it on this machine; `confine = false` starts it without".to_owned()
                );
            }
        };
        let is_confined = matches!(hold, Hold::Room { .. });
        let repositories: Arc<Repositories> = match is_confined && serving.keeps_repositories {
            true => {
                let scope = serving.scope.clone();
                Arc::new(beside(move || Repositories::within(&scope)).await)
            }
            false => Arc::default(),
        };
        let lifeline = serving.lifeline.clone();
        let order = order(options, serving, hold, repositories.fixed())?;
        let started = Self::started(options, &order, lifeline, repositories).await;
        started.map_err(|error| Failure::NotStarted(error.to_string()).to_string())
    }

    async fn started(
        options: &BashOptions,
        order: &Order,
        lifeline: Lifeline,
        repositories: Arc<Repositories>,
    ) -> io::Result<(Self, Talk)> {
        let (control, theirs) = UnixStream::pair()?;
        let (stream, talk) = UnixStream::pair()?;
        let mut helper = Command::new(&options.helper)
            .arg0("yoi")
            .arg(helper::KEEPER)
            .env_clear()
            .envs(environment::shown(std::env::vars_os(), &options.environment))
            .current_dir(Path::new("/"))
            .stdin(blocking(theirs)?)
            .stdout(blocking(talk)?)
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let errors = helper.stderr.take().ok_or_else(|| io::Error::other("a pipe of the helper is missing"))?;
        let group = order.group.as_ref().map(|group| group.folder.clone());
        let (helper, lifeline) = (Some(helper), Some(lifeline));
        let mut served = Self { helper, lifeline, control: Some(control), group, repositories };
        let mut line = serde_json::to_vec(order)?;
        line.push(b'\n');
        if let Some(control) = &mut served.control {
            control.write_all(&line).await?;
        }
        Ok((served, Talk { stream, errors }))
    }

    /// Waits until the program has ended by itself, and says how in half a sentence. The wait may be dropped, but part
    /// of the report may then be lost.
    pub async fn ended(&mut self) -> String {
        if self.control.is_none() {
            return "it was ended".to_owned();
        }
        match self.report().await {
            Some(Report::Exited(code)) => format!("it ended with exit code {code}"),
            Some(Report::Signalled(signal)) => format!("it was ended by signal {signal}"),
            Some(Report::Unconfined(why)) => format!("it was not started: {why}"),
            Some(Report::NotStarted(why)) => format!("it did not start: {why}"),
            None => "it ended, and did not tell how".to_owned(),
        }
    }

    /// Waits until the program has ended by itself. `None` if nobody told how.
    pub(super) async fn report(&mut self) -> Option<Report> {
        let control = self.control.as_mut()?;
        let mut line = String::new();
        let read = BufReader::new(control.take(REPORT_BYTES_MAX)).read_line(&mut line).await;
        read.ok().and_then(|_| serde_json::from_str(&line).ok())
    }

    /// Ends the program and everything that it started, and waits until nothing is left. Returns false if something
    /// does not end.
    pub async fn end(mut self) -> bool {
        self.control = None;
        let Some(helper) = &mut self.helper else { return true };
        let is_over = timeout(END_WAIT, helper.wait()).await.is_ok();
        if is_over {
            self.helper = None;
            leave(self.group.take(), self.repositories.clone()).await;
        }
        is_over
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.control = None;
        // Without a runtime this process is about to end, and with it every share of the lifeline.
        let (lifeline, group) = (self.lifeline.take(), self.group.take());
        let repositories = self.repositories.clone();
        if let (Some(mut helper), Ok(runtime)) = (self.helper.take(), Handle::try_current()) {
            runtime.spawn(async move {
                let _ = helper.wait().await;
                leave(group, repositories).await;
                drop(lifeline);
            });
        }
    }
}

/// Ends what the helper could not end, and tidies up what it left behind.
async fn leave(group: Option<PathBuf>, repositories: Arc<Repositories>) {
    let leaving = tokio::task::spawn_blocking(move || {
        if let Some(group) = group.filter(|group| group.exists()) {
            groups::end(&group);
        }
        repositories.tidy();
    });
    let _ = leaving.await;
}

fn order(options: &BashOptions, serving: Serving, hold: Hold, fixed: Vec<PathBuf>) -> Result<Order, String> {
    let Serving { program, variables, cwd, scope, network, .. } = serving;
    let is_bad = |text: &String| text.contains('\0');
    if program.is_empty() || program.iter().any(is_bad) || variables.values().any(is_bad) {
        return Err("its command has no program, or a NUL character in it".to_owned());
    }
    Ok(Order {
        command: String::new(),
        program: Some(Program { arguments: program, variables: variables.into_iter().collect() }),
        cwd,
        rules: scope.rules().to_vec(),
        shared: if matches!(hold, Hold::Room { .. }) { scope.shared() } else { Vec::new() },
        lent: unwritten::unwritten(&scope),
        fixed,
        closed: closed::paths(),
        hold,
        network,
        way_in: None,
        limits: options.limits.clone(),
        group: options.groups.next(),
    })
}

/// Returns an end of the socket for another process, which expects blocking reads and writes.
fn blocking(stream: UnixStream) -> io::Result<Stdio> {
    let stream: BlockingStream = stream.into_std()?;
    stream.set_nonblocking(false)?;
    Ok(OwnedFd::from(stream).into())
}
