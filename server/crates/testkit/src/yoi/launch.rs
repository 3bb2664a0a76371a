//! Starting a yoi: arguments, environment, folders, and waiting for its first line.

use std::{
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    sync::Arc,
    time::Duration,
};

use tempfile::TempDir;
use tokio::{
    io::{AsyncBufRead, AsyncBufReadExt, BufReader},
    process::{Child, Command},
    sync::oneshot,
    time::{Instant, sleep, timeout},
};

use super::{Log, WAIT_MAX, YoiProcess};
use crate::helper::says_port_lost;

const READY: &str = "yoi is ready: ";
/// The pause before another attempt on a port that was taken.
const PORT_PAUSE: Duration = Duration::from_millis(100);

/// Prefixes of variables that would let the machine's own keys and settings into a test.
const FOREIGN_VARIABLES: [&str; 5] = ["YOI_", "OPENAI_", "ANTHROPIC_", "GEMINI_", "OLLAMA_"];

/// What to start. Cheap to clone; clones share the folders, which are deleted with the last of them.
#[derive(Debug, Clone)]
pub struct Launch {
    binary: PathBuf,
    listen: String,
    data: PathBuf,
    folders: Arc<Folders>,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    open_files: Option<(u64, u64)>,
}

/// The folders of this launch, deleted with it.
#[derive(Debug)]
struct Folders {
    root: TempDir,
}

/// A process that exited before becoming ready.
#[derive(Debug)]
pub struct FailedStart {
    pub status: ExitStatus,
    pub stdout: Vec<String>,
    pub stderr: Vec<String>,
}

impl Launch {
    pub fn new(binary: &str) -> Self {
        let root = tempfile::Builder::new().prefix("yoi-test-").tempdir().expect("a temporary folder can be made");
        for name in ["config", "work", "home"] {
            std::fs::create_dir(root.path().join(name)).expect("a new folder can be filled");
        }
        Self {
            // The process runs in another directory, where a relative path would point elsewhere.
            binary: std::path::absolute(binary).expect("the binary has a path"),
            listen: "127.0.0.1:0".to_owned(),
            // Not created here, because a fresh start creates it.
            data: root.path().join("data"),
            folders: Arc::new(Folders { root }),
            arguments: Vec::new(),
            environment: Vec::new(),
            open_files: None,
        }
    }

    /// Uses this data folder in place of a fresh one.
    pub fn data(mut self, folder: &Path) -> Self {
        self.data = folder.to_owned();
        self
    }

    /// Uses another program, such as a script that starts yoi with some limit.
    pub fn binary(mut self, program: &Path) -> Self {
        self.binary = program.to_owned();
        self
    }

    /// Listens on another address than `127.0.0.1:0`.
    pub fn listen(mut self, address: &str) -> Self {
        self.listen = address.to_owned();
        self
    }

    /// Adds an argument to `serve`.
    pub fn arg(mut self, argument: &str) -> Self {
        self.arguments.push(argument.to_owned());
        self
    }

    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sets the soft and hard limits of open files for `serve`.
    pub fn open_files(mut self, soft: u64, hard: u64) -> Self {
        self.open_files = Some((soft, hard));
        self
    }

    pub fn data_dir(&self) -> &Path {
        &self.data
    }

    /// The directory that the process runs in, empty at first: the default `cwd` of its Pods.
    pub fn work_dir(&self) -> PathBuf {
        self.folders.root.path().join("work")
    }

    /// The command with a clean environment and no verb, for other verbs of the command line.
    pub fn command(&self) -> Command {
        self.cleaned(Command::new(&self.binary))
    }

    /// The command for `serve`, through a shell if limits have to be set first.
    fn server(&self) -> Command {
        let Some((soft, hard)) = self.open_files else { return self.command() };
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(format!("ulimit -Sn {soft}; ulimit -Hn {hard}; exec \"$0\" \"$@\"")).arg(&self.binary);
        self.cleaned(shell)
    }

    fn cleaned(&self, mut command: Command) -> Command {
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if FOREIGN_VARIABLES.iter().any(|foreign| text.starts_with(foreign)) {
                command.env_remove(&name);
            }
        }
        let root = self.folders.root.path();
        command
            .current_dir(self.work_dir())
            .env("HOME", root.join("home"))
            .env("XDG_CONFIG_HOME", root.join("config"))
            .env("XDG_DATA_HOME", root.join("home"))
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .kill_on_drop(true);
        command
    }

    /// Starts `serve` and waits for the line that announces that it is ready. If another program has the port, which
    /// may be temporary, tries again.
    pub async fn start(self) -> YoiProcess {
        let deadline = Instant::now() + WAIT_MAX;
        loop {
            match self.clone().try_start().await {
                Ok(yoi) => return yoi,
                Err(failed) if says_port_lost(&failed.stderr) && Instant::now() < deadline => sleep(PORT_PAUSE).await,
                Err(failed) => panic!("yoi did not start ({}):\n{}", failed.status, failed.stderr.join("\n")),
            }
        }
    }

    /// Like [`start`](Self::start), for tests of starts that must be refused.
    pub async fn try_start(self) -> Result<YoiProcess, FailedStart> {
        let mut command = self.server();
        command.arg("serve").args(["--listen", &self.listen]).arg("--data").arg(&self.data).args(&self.arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child =
            command.spawn().unwrap_or_else(|error| panic!("could not start {}: {error}", self.binary.display()));

        let (ready, is_ready) = oneshot::channel();
        let (stdout, log) = (Log::default(), Log::default());
        let output = BufReader::new(child.stdout.take().expect("standard output is a pipe"));
        let errors = BufReader::new(child.stderr.take().expect("standard error is a pipe"));
        let out_reader = tokio::spawn(gather(output, stdout.clone(), Some(ready)));
        let err_reader = tokio::spawn(gather(errors, log.clone(), None));

        match timeout(WAIT_MAX, is_ready).await {
            Ok(Ok(url)) => Ok(self.running(child, &url, log)),
            // The output was closed without that line: the process has exited, or is about to.
            Ok(Err(_)) => {
                let status = end_of(&mut child).await;
                out_reader.await.ok();
                err_reader.await.ok();
                Err(FailedStart { status, stdout: stdout.lines(), stderr: log.lines() })
            }
            Err(_) => panic!("yoi was not ready within {WAIT_MAX:?}; its log:\n{}", log.lines().join("\n")),
        }
    }

    fn running(self, child: Child, url: &str, log: Log) -> YoiProcess {
        let (console_url, token) = split_login_url(url);
        let base_url = base_url_of(&console_url);
        super::install_tls_provider();
        YoiProcess { launch: self, child, base_url, console_url, token, http: reqwest::Client::new(), log }
    }
}

async fn end_of(child: &mut Child) -> ExitStatus {
    match timeout(WAIT_MAX, child.wait()).await {
        Ok(status) => status.expect("a child can be waited for"),
        Err(_) => panic!("yoi closed its output without being ready, and did not end within {WAIT_MAX:?}"),
    }
}

/// Reads lines until the stream ends, so that the process never blocks on a full pipe. Sends the address once.
async fn gather(stream: impl AsyncBufRead + Unpin, log: Log, mut ready: Option<oneshot::Sender<String>>) {
    let mut lines = stream.lines();
    while let Ok(Some(line)) = lines.next_line().await {
        if let Some(url) = line.strip_prefix(READY)
            && let Some(ready) = ready.take()
        {
            ready.send(url.trim().to_owned()).ok();
        }
        log.push(line);
    }
}

fn split_login_url(url: &str) -> (String, String) {
    let (base_url, token) = url.split_once("/?token=").unwrap_or_else(|| panic!("no token in the ready line's {url}"));
    (base_url.to_owned(), token.to_owned())
}

/// The address for programs: a console's own name is this machine's loopback, but not every resolver knows that.
fn base_url_of(console_url: &str) -> String {
    match console_url.split_once(".localhost:") {
        Some((_, port)) => format!("http://127.0.0.1:{port}"),
        None => console_url.to_owned(),
    }
}
