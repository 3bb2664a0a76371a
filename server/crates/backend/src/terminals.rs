//! Terminals: shells of whoever runs yoi, each on a pseudoterminal of its own, in the folder of a Pod.
//!
//! Such a shell is a program of the account that the server runs as, outside of every sandbox; it is not the Pod's. It
//! ends with the connection that opened it. Of the server's environment it has only what was chosen for it.

mod processes;
mod pty;

use std::{io, path::PathBuf, process::ExitStatus, sync::Arc, time::Duration};

use protocol::{ApiError, ErrorCode, PodRef, TerminalPlace, TerminalSize};
use pty_process::{OwnedReadPty, OwnedWritePty, Size};
use rustix::process::{Pid, Signal};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::Child,
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, sleep},
};

/// The most terminals open at once; further ones are refused.
const TERMINALS_MAX: usize = 8;
/// How often to look whether the processes of a terminal have ended.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// The error by which Linux reports that no process has the terminal open any more.
const NOBODY: i32 = rustix::io::Errno::IO.raw_os_error();

/// The configuration of terminals.
#[derive(Debug, Clone)]
pub struct TerminalOptions {
    /// The shell's program.
    pub shell: PathBuf,
    /// All variables that the shell gets, by name, besides `TERM`.
    pub environment: Vec<(String, String)>,
    /// The soft limit of open files for the shell; `None`: that of the server.
    pub open_files: Option<u64>,
}

/// The terminals of a server.
#[derive(Debug, Clone)]
pub(crate) struct OpenTerminals {
    /// `None`: terminals are off.
    options: Option<Arc<TerminalOptions>>,
    seats: Arc<Semaphore>,
}

/// A place for one terminal, before its shell runs.
#[derive(Debug)]
pub struct TerminalSeat {
    pub(crate) pod: PodRef,
    place: TerminalPlace,
    options: Arc<TerminalOptions>,
    permit: OwnedSemaphorePermit,
}

/// A shell that runs.
#[derive(Debug)]
pub struct Shell {
    pub output: ShellOutput,
    pub input: ShellInput,
    pub process: ShellProcess,
}

/// What a shell and its programs print.
#[derive(Debug)]
pub struct ShellOutput(OwnedReadPty);

/// What is typed into a shell, and the size of its screen.
#[derive(Debug)]
pub struct ShellInput(OwnedWritePty);

/// The shell itself. Dropping it kills it and everything of its session.
#[derive(Debug)]
pub struct ShellProcess {
    child: Child,
    session: Option<Pid>,
    _permit: OwnedSemaphorePermit,
}

impl OpenTerminals {
    pub(crate) fn new(options: Option<TerminalOptions>) -> Self {
        Self { options: options.map(Arc::new), seats: Arc::new(Semaphore::new(TERMINALS_MAX)) }
    }

    /// # Errors
    /// `terminal_off`.
    pub(crate) fn options(&self) -> Result<&Arc<TerminalOptions>, ApiError> {
        let sentence = "terminals are off; start yoi with --terminal, or write `terminal = true` in config.toml";
        self.options.as_ref().ok_or_else(|| ApiError::new(ErrorCode::TerminalOff, sentence))
    }

    /// # Errors
    /// `terminal_off`; `rate_limited`.
    pub(crate) fn seat(&self, pod: PodRef, place: TerminalPlace) -> Result<TerminalSeat, ApiError> {
        let options = Arc::clone(self.options()?);
        let full =
            |_| ApiError::new(ErrorCode::RateLimited, format!("{TERMINALS_MAX} terminals are open; close one first"));
        let permit = Arc::clone(&self.seats).try_acquire_owned().map_err(full)?;
        Ok(TerminalSeat { pod, place, options, permit })
    }
}

impl TerminalOptions {
    /// The name of the shell's program.
    pub(crate) fn shell_name(&self) -> String {
        self.shell.file_name().unwrap_or(self.shell.as_os_str()).to_string_lossy().into_owned()
    }
}

impl TerminalSeat {
    pub fn pod(&self) -> &PodRef {
        &self.pod
    }

    /// Which shell will run, and where.
    pub fn place(&self) -> &TerminalPlace {
        &self.place
    }

    /// Starts the shell, as a login shell.
    ///
    /// # Errors
    /// `internal`: there is no pseudoterminal, or the shell cannot be run.
    pub(crate) fn open(self, size: TerminalSize) -> Result<Shell, ApiError> {
        let Self { place, options, permit, .. } = self;
        let failed = |error: io::Error| {
            let sentence = format!("the shell {} could not be started: {error}; set SHELL", options.shell.display());
            ApiError::new(ErrorCode::Internal, sentence)
        };
        let (pty, pts) = pty::open().map_err(failed)?;
        pty.resize(size_of(size)).map_err(|error| failed(io_error(error)))?;
        let environment = options.environment.iter().map(|(name, value)| (name, value));
        let command = pty_process::Command::new(&options.shell)
            .arg0(format!("-{}", options.shell_name()))
            .env_clear()
            .envs(environment)
            .env("TERM", "xterm-256color")
            .current_dir(&place.folder)
            .kill_on_drop(true);
        let child = command.spawn(pts).map_err(|error| failed(io_error(error)))?;
        let session = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        processes::limit_files(session, options.open_files);
        let (output, input) = pty.into_split();
        Ok(Shell {
            output: ShellOutput(output),
            input: ShellInput(input),
            process: ShellProcess { child, session, _permit: permit },
        })
    }
}

impl ShellOutput {
    /// Reads what has been printed; 0 once nobody can print any more. Cancel-safe.
    ///
    /// # Errors
    /// The terminal is gone.
    pub async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer).await {
            Err(error) if error.raw_os_error() == Some(NOBODY) => Ok(0),
            read => read,
        }
    }
}

impl ShellInput {
    /// Writes as much of this as there is room for; waits while there is none. Cancel-safe.
    ///
    /// # Errors
    /// The terminal is gone.
    pub async fn type_some(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).await
    }

    /// Resizes the terminal; the programs in it get SIGWINCH.
    pub fn resize(&self, size: TerminalSize) {
        if let Err(error) = self.0.resize(size_of(size)) {
            tracing::debug!(%error, "a terminal could not be resized");
        }
    }
}

impl ShellProcess {
    /// Returns when the shell has ended by itself.
    ///
    /// # Errors
    /// The system does not say how.
    pub async fn ended(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Sends SIGHUP to the whole session, and kills what is still there after `grace`.
    pub async fn end(mut self, grace: Duration) {
        let over = Instant::now() + grace;
        self.signal(Signal::HUP);
        // A stopped process does not act on a signal until it is continued.
        self.signal(Signal::CONT);
        while self.is_there() && Instant::now() < over {
            sleep(LOOK_EVERY).await;
        }
        self.signal(Signal::KILL);
        let _ = self.child.wait().await;
        self.session = None;
    }

    /// Whether anything of the session still runs; reaps the shell.
    fn is_there(&mut self) -> bool {
        let shell_runs = matches!(self.child.try_wait(), Ok(None));
        shell_runs || self.session.is_some_and(|session| !processes::of_session(session).is_empty())
    }

    fn signal(&self, signal: Signal) {
        if let Some(session) = self.session {
            processes::signal_session(session, signal);
        }
    }
}

impl Drop for ShellProcess {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

fn size_of(size: TerminalSize) -> Size {
    Size::new(size.rows, size.columns)
}

fn io_error(error: pty_process::Error) -> io::Error {
    match error {
        pty_process::Error::Io(error) => error,
        pty_process::Error::Rustix(error) => error.into(),
        error => io::Error::other(error.to_string()),
    }
}
