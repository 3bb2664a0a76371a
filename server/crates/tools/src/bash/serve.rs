//! A program that is talked to: it lives until it is let go, in the same room as a command, with one socket as its standard input and
//! output, and a standard error of its own.
//!
//! It has the same helper as a command. What holds its life, and tells how it ended, is a socket, too: its helper's standard input.

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

/// For the helper to tell how its program ended, and to end itself.
const END_WAIT: Duration = Duration::from_secs(5);
/// Of a report.
const REPORT_BYTES_MAX: u64 = 64 * 1024;

/// What is to be run, and where.
#[derive(Clone)]
pub struct Serving {
    /// The program and its arguments. Without a slash it is looked for in PATH.
    pub program: Vec<String>,
    /// Beside those that every command gets.
    pub variables: BTreeMap<String, String>,
    pub cwd: PathBuf,
    pub scope: Scope,
    pub network: Network,
    /// Where it cannot be held to the scope: false refuses to start it, true starts it all the same.
    pub is_free: bool,
    /// Held until nothing of it is left.
    pub lifeline: Lifeline,
}

// By hand: the values of variables are nobody's business.
impl fmt::Debug for Serving {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Serving").field("program", &self.program).finish_non_exhaustive()
    }
}

/// A program that runs. Dropping it ends it with all that it started.
#[derive(Debug)]
pub struct Served {
    helper: Option<Child>,
    lifeline: Option<Lifeline>,
    /// Closed, it ends everything; how the program ended comes from it.
    control: Option<UnixStream>,
    group: Option<PathBuf>,
    repositories: Arc<Repositories>,
}

/// What a program is talked to by.
#[derive(Debug)]
pub struct Talk {
    /// Its standard input and output.
    pub stream: UnixStream,
    pub errors: ChildStderr,
}

impl Served {
    /// Starts it.
    ///
    /// # Errors
    /// A sentence: it cannot be held to the scope here, or not be started.
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
        let repositories: Arc<Repositories> = match is_confined {
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

    /// Waits until it has ended by itself; how, in half a sentence. Cancel safe only in that it may be given up.
    pub async fn ended(&mut self) -> String {
        let Some(control) = &mut self.control else { return "it was ended".to_owned() };
        let mut line = String::new();
        let read = BufReader::new(control.take(REPORT_BYTES_MAX)).read_line(&mut line).await;
        match read.ok().and_then(|_| serde_json::from_str(&line).ok()) {
            Some(Report::Exited(code)) => format!("it ended with exit code {code}"),
            Some(Report::Signalled(signal)) => format!("it was ended by signal {signal}"),
            Some(Report::Unconfined(why)) => format!("it was not started: {why}"),
            Some(Report::NotStarted(why)) => format!("it did not start: {why}"),
            None => "it ended, and did not tell how".to_owned(),
        }
    }

    /// Ends it with all that it started, and waits until nothing is left. False when something does not end.
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
        // Without a runtime the process is about to end, and with it every share in the lifeline.
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

/// What a helper could not do, and what it leaves behind.
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

/// An end for another process, which knows nothing of waiting.
fn blocking(stream: UnixStream) -> io::Result<Stdio> {
    let stream: BlockingStream = stream.into_std()?;
    stream.set_nonblocking(false)?;
    Ok(OwnedFd::from(stream).into())
}
