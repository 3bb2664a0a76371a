//! The helper: this program again, started with one hidden word, an ordinary process without threads of its own or an
//! async runtime.
//!
//! It comes in two parts. The *keeper* holds the command's life: it is the reaper of all that the command starts, and
//! ends all of it when the command ends or when its standard input closes, which happens at the latest when yoi dies. It
//! is not confined, so that the confined command can neither signal nor read it. The *inner* one confines itself and
//! becomes the shell.

use std::{
    env,
    ffi::OsString,
    fs::{self, DirBuilder, File, Permissions},
    io::{self, BufRead, BufReader, Read, Write},
    os::{
        fd::AsFd,
        unix::{
            fs::{DirBuilderExt, PermissionsExt},
            process::CommandExt,
        },
    },
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
    thread,
};

use rustix::process::{
    Pid, Resource, Rlimit, Signal, WaitOptions, WaitStatus, getpid, getrlimit, set_child_subreaper,
    set_parent_process_death_signal, setrlimit, setsid, wait,
};

use super::{
    confine, descendants,
    order::{Order, Report},
};

/// The first argument of the keeper, and of the inner helper.
pub(super) const KEEPER: &str = "__shell";
const INNER: &str = "__shell-inner";
/// This very program, also when its file was replaced while it ran.
pub(super) const OWN_PROGRAM: &str = "/proc/self/exe";
/// Bytes of an order; a command line of the kernel is far shorter.
const ORDER_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Runs the helper if that is what this process was started as; else none. Goes first in `main`, before threads and
/// before the command line is read.
///
/// `arguments` are those of the process without its name.
pub fn helper_main(arguments: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let word = arguments.into_iter().next()?;
    let report = match word.to_str()? {
        KEEPER => keep(),
        INNER => Some(become_shell()),
        _ => return None,
    };
    if let Some(report) = report {
        tell(&mut io::stdout(), &report);
    }
    Some(ExitCode::SUCCESS)
}

/// Nobody listens any more when this fails.
fn tell(to: &mut impl Write, report: &Report) {
    if let Ok(mut line) = serde_json::to_vec(report) {
        line.push(b'\n');
        let _ = to.write_all(&line).and_then(|()| to.flush());
    }
}

/// Starts the command, waits for its end, and ends what it left behind. None where the inner helper has reported.
fn keep() -> Option<Report> {
    let mut input = BufReader::new(io::stdin());
    let order = match read_order(&mut input) {
        Ok(order) => order,
        Err(error) => return Some(Report::NotStarted(format!("the helper got no order: {error}"))),
    };
    if let Err(error) = set_child_subreaper(Some(getpid())) {
        return Some(Report::NotStarted(format!("what the command starts could not be watched: {error}")));
    }
    let temp = match private_folder() {
        Ok(temp) => temp,
        Err(error) => return Some(Report::NotStarted(format!("there is no temporary folder for it: {error}"))),
    };
    thread::spawn(move || {
        until_end_of(input);
        descendants::kill_forever()
    });
    let ended = start_inner(Order { temp: Some(temp.clone()), ..order }).map(wait_for);
    descendants::end_all();
    remove(&temp);
    match ended {
        Ok(status) => status.map(report_of),
        Err(error) => Some(Report::NotStarted(format!("the helper could not start itself: {error}"))),
    }
}

fn read_order(input: &mut impl BufRead) -> io::Result<Order> {
    let mut line = String::new();
    input.by_ref().take(ORDER_BYTES_MAX).read_line(&mut line)?;
    Ok(serde_json::from_str(&line)?)
}

/// Returns when yoi has closed its end, or is gone.
fn until_end_of(mut input: impl Read) {
    let mut bytes = [0; 64];
    while !matches!(input.read(&mut bytes), Ok(0) | Err(_)) {}
}

/// A folder of its own for one command, that nobody else of this machine can enter.
fn private_folder() -> io::Result<PathBuf> {
    let base = env::temp_dir().canonicalize()?;
    let folder = base.join(format!("yoi-shell-{}-{:016x}", std::process::id(), random()?));
    DirBuilder::new().mode(0o700).create(&folder)?;
    Ok(folder)
}

/// Removes all of it, also folders that the command has closed to its own user. Nobody else is left who could change it.
fn remove(folder: &Path) {
    if fs::remove_dir_all(folder).is_ok() {
        return;
    }
    let mut closed = vec![folder.to_owned()];
    while let Some(folder) = closed.pop() {
        let _ = fs::set_permissions(&folder, Permissions::from_mode(0o700));
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        closed.extend(
            entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path()),
        );
    }
    let _ = fs::remove_dir_all(folder);
}

fn random() -> io::Result<u64> {
    let mut bytes = [0; 8];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

/// The inner helper reports on our own standard output, if it has to; its output is that of the command.
fn start_inner(order: Order) -> io::Result<Pid> {
    let temp = order.temp.clone().unwrap_or_default();
    let mut inner = Command::new(OWN_PROGRAM)
        .arg0("yoi")
        .arg(INNER)
        .env("TMPDIR", temp)
        .stdin(Stdio::piped())
        .stdout(Stdio::inherit())
        .stderr(Stdio::inherit())
        .spawn()?;
    let mut line = serde_json::to_vec(&order)?;
    line.push(b'\n');
    if let Some(mut input) = inner.stdin.take() {
        // It may have been killed by now; its status tells.
        let _ = input.write_all(&line);
    }
    i32::try_from(inner.id()).ok().and_then(Pid::from_raw).ok_or_else(|| io::Error::other("it has no process id"))
}

/// The status of `pid`; every other child that ends meanwhile is an orphan of the command.
fn wait_for(pid: Pid) -> Option<WaitStatus> {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((ended, status))) if ended == pid => return Some(status),
            Ok(_) | Err(rustix::io::Errno::INTR) => (),
            Err(_) => return None,
        }
    }
}

fn report_of(status: WaitStatus) -> Report {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Report::Exited(code),
        (None, Some(signal)) => Report::Signalled(signal),
        (None, None) => Report::NotStarted("it ended in a way the system did not tell".to_owned()),
    }
}

/// Confines this process and turns it into the shell; comes back only when that fails.
fn become_shell() -> Report {
    let failed = |what: &str, error: &dyn std::fmt::Display| Report::NotStarted(format!("{what}: {error}"));
    // The shell must not outlive its keeper, and has no terminal: through one it could type for the person at it.
    if let Err(error) = set_parent_process_death_signal(Some(Signal::KILL)) {
        return failed("its end could not be tied to the helper's", &error);
    }
    if let Err(error) = setsid() {
        return failed("it could not be taken from the terminal", &error);
    }
    let order = match read_order(&mut BufReader::new(io::stdin())) {
        Ok(order) => order,
        Err(error) => return failed("the helper got no order", &error),
    };
    // Both are copies that close when the shell starts, while 1 and 2 become the shell's output.
    let (mut report, output) =
        match (io::stdout().as_fd().try_clone_to_owned(), io::stderr().as_fd().try_clone_to_owned()) {
            (Ok(report), Ok(output)) => (File::from(report), output),
            (Err(error), _) | (_, Err(error)) => return failed("its output could not be opened", &error),
        };
    if let Some(files) = order.open_files_max
        && let Err(error) = limit_open_files(files)
    {
        return failed("its limit of open files could not be set", &error);
    }
    let shell = shell();
    if order.confine
        && let Err(reason) = confine::restrict(&order.scope(), order.temp.as_deref().unwrap_or(Path::new("")))
    {
        return Report::Unconfined(reason);
    }
    let error = Command::new(&shell)
        .arg("-c")
        .arg(&order.command)
        .current_dir(&order.cwd)
        .stdin(Stdio::null())
        .stdout(output)
        .exec();
    tell(&mut report, &failed("the shell did not start", &error));
    // Standard output is no longer ours.
    std::process::exit(0)
}

/// The soft limit alone: a command may raise it again, as it could when yoi had not.
fn limit_open_files(files: u64) -> io::Result<()> {
    let limit = getrlimit(Resource::Nofile);
    Ok(setrlimit(Resource::Nofile, Rlimit { current: Some(files), ..limit })?)
}

/// `bash`, or `sh` where there is none.
fn shell() -> PathBuf {
    let path = env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
    let mut found = env::split_paths(&path).map(|folder| folder.join("bash")).filter(|file| file.is_absolute());
    found.find(|file| file.is_file()).unwrap_or_else(|| "/bin/sh".into())
}
