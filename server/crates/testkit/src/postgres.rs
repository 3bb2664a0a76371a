//! PostgreSQL for tests: one server per test process, one fresh database per caller.
//!
//! It listens only on a Unix socket in a temporary folder, and never writes anywhere else. A watchdog shell holds the
//! read end of a pipe from this process; however this process ends, the watchdog stops the server and removes the
//! folder.

use std::{
    path::{Path, PathBuf},
    process::{ChildStdin, Command, Output, Stdio},
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};

/// How long the server may take until it answers.
const START_WAIT_MAX: Duration = Duration::from_secs(60);
const START_POLL: Duration = Duration::from_millis(20);

/// Runs the server until its own standard input ends. `$1` is the temporary folder; the rest is the server's command.
/// If the server exits earlier, its status is written to the file `ended`.
/// Ignores the signals that a terminal sends to all processes of a test run, because it has to clean up after them.
const WATCHDOG: &str = r#"
trap '' INT TERM HUP
folder=$1; shift
exec 3<&0
"$@" </dev/null >"$folder/server.log" 2>&1 &
server=$!
{ while read -r line; do :; done <&3; kill -INT "$server" 2>/dev/null; } &
wait "$server"
echo "$?" >"$folder/ended"
wait
rm -rf "$folder"
"#;

/// The address of a new, empty database (`postgresql:///…?host=FOLDER&user=postgres`). The first call starts the
/// server.
pub async fn fresh_database() -> anyhow::Result<String> {
    tokio::task::spawn_blocking(|| {
        static SERVER: OnceLock<Result<Server, String>> = OnceLock::new();
        let server = SERVER.get_or_init(|| Server::start().map_err(|error| format!("{error:#}")));
        match server {
            Ok(server) => server.create_database(),
            Err(sentence) => bail!("{sentence}"),
        }
    })
    .await?
}

/// Runs a statement independently of the server under test, with PostgreSQL's own client; returns the unaligned
/// output.
pub async fn execute(url: &str, sql: &str) -> anyhow::Result<String> {
    let mut psql = tokio::process::Command::new(programs()?.join("psql"));
    let psql = psql.args(["-qAt", "-v", "ON_ERROR_STOP=1", "-d", url, "-c", sql]).stdin(Stdio::null());
    let Output { status, stdout, stderr } = psql.output().await.context("cannot start psql")?;
    if !status.success() {
        bail!("{sql} failed ({status}): {}", String::from_utf8_lossy(&stderr));
    }
    Ok(String::from_utf8_lossy(&stdout).trim().to_owned())
}

struct Server {
    programs: PathBuf,
    folder: PathBuf,
    databases: AtomicU32,
    /// Never written to: closing it tells the watchdog to end.
    _lifeline: ChildStdin,
}

impl Server {
    fn start() -> anyhow::Result<Self> {
        let programs = programs()?;
        // Kept: the watchdog removes it after the server has exited.
        let folder = tempfile::Builder::new().prefix("yoi-postgres-").tempdir()?.keep();
        match Self::start_in(programs, folder.clone()) {
            Ok(server) => Ok(server),
            Err(error) => {
                // The watchdog does the same when its input ends; this is for the time before it runs.
                drop(std::fs::remove_dir_all(&folder));
                Err(error)
            }
        }
    }

    fn start_in(programs: PathBuf, folder: PathBuf) -> anyhow::Result<Self> {
        if is_root() {
            run(Command::new("chown").arg("postgres:postgres").arg(&folder))?;
        }
        let data = folder.join("data");
        let mut initdb = unprivileged(&programs.join("initdb"));
        initdb.args(["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "-D"]);
        run(initdb.arg(&data).current_dir(&folder))?;

        let mut server = unprivileged(&programs.join("postgres"));
        server.arg("-D").arg(&data).arg("-k").arg(&folder);
        for setting in ["listen_addresses=", "fsync=off", "full_page_writes=off", "max_connections=200"] {
            server.args(["-c", setting]);
        }
        let lifeline = watch_over(&server, &folder)?;
        let server = Self { programs, folder, databases: AtomicU32::new(0), _lifeline: lifeline };
        server.wait_until_ready()?;
        Ok(server)
    }

    fn wait_until_ready(&self) -> anyhow::Result<()> {
        let deadline = Instant::now() + START_WAIT_MAX;
        loop {
            let mut is_ready = Command::new(self.programs.join("pg_isready"));
            if is_ready.arg("-q").arg("-h").arg(&self.folder).status()?.success() {
                return Ok(());
            }
            let written = |file: &str| std::fs::read_to_string(self.folder.join(file)).unwrap_or_default();
            let ended = written("ended");
            if ended.ends_with('\n') {
                bail!(
                    "PostgreSQL ended before it was ready (exit status: {}); its log says: {}",
                    ended.trim(),
                    written("server.log")
                );
            }
            if Instant::now() > deadline {
                bail!("PostgreSQL does not answer after {START_WAIT_MAX:?}; its log says: {}", written("server.log"));
            }
            thread::sleep(START_POLL);
        }
    }

    fn create_database(&self) -> anyhow::Result<String> {
        let name = format!("test_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        let mut createdb = Command::new(self.programs.join("createdb"));
        run(createdb.arg("-h").arg(&self.folder).args(["-U", "postgres", "-T", "template0", &name]))?;
        Ok(format!("postgresql:///{name}?host={}&user=postgres", self.folder.display()))
    }
}

/// Starts the watchdog, which starts the server. The server lives until the returned end of the pipe is closed.
fn watch_over(server: &Command, folder: &Path) -> anyhow::Result<ChildStdin> {
    let mut watchdog = Command::new("sh");
    watchdog.args(["-c", WATCHDOG, "watchdog"]).arg(folder).arg(server.get_program()).args(server.get_args());
    // A process group of its own: Ctrl-C in a terminal is for the tests.
    std::os::unix::process::CommandExt::process_group(&mut watchdog, 0);
    watchdog.current_dir("/").stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = watchdog.spawn().context("cannot start the shell that watches over PostgreSQL")?;
    child.stdin.take().context("the watchdog was started with a pipe")
}

/// The folder with `initdb`, `postgres`, `pg_isready` and `createdb`: from the PATH, or where Debian puts them.
pub fn programs() -> anyhow::Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).filter_map(|folder| folder.join("initdb").canonicalize().ok());
    let debian = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut debian: Vec<PathBuf> = debian.map(|version| version.path().join("bin/initdb")).collect();
    debian.sort();
    let is_whole = |folder: &PathBuf| ["initdb", "postgres", "createdb"].iter().all(|name| folder.join(name).exists());
    on_path
        .chain(debian.into_iter().rev())
        .filter_map(|initdb| initdb.parent().map(Path::to_owned))
        .find(is_whole)
        .context("these tests need PostgreSQL's own programs (initdb, postgres, createdb): apt-get install postgresql")
}

/// A command that runs a program as the user `postgres` if this process is root: PostgreSQL refuses to run as root.
pub fn unprivileged(program: &Path) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "--"]).arg(program);
    command
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

fn run(command: &mut Command) -> anyhow::Result<()> {
    let Output { status, stderr, .. } =
        command.stdin(Stdio::null()).output().with_context(|| format!("cannot start {command:?}"))?;
    if !status.success() {
        bail!("{command:?} failed ({status}): {}", String::from_utf8_lossy(&stderr));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Server;
    use crate::helper::tests::stand_in;

    /// Does not cover the watchdog's cleanup, which every test with a database does.
    #[test]
    fn a_server_that_ends_at_once_is_told_with_its_status_and_its_log() {
        use std::os::unix::fs::PermissionsExt;
        let programs = tempfile::tempdir().unwrap();
        // The server runs as another user if this one is root.
        std::fs::set_permissions(programs.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        stand_in(programs.path(), "initdb", "exit 0");
        stand_in(programs.path(), "pg_isready", "exit 2");
        stand_in(programs.path(), "postgres", "echo 'FATAL: could not create semaphores' >&2; exit 5");
        let folder = tempfile::tempdir().unwrap().keep();
        let failed = Server::start_in(programs.path().to_owned(), folder).map(drop).unwrap_err().to_string();
        assert!(failed.contains("(exit status: 5)") && failed.contains("could not create semaphores"), "{failed}");
    }
}
