//! Runs other programs: announces them, passes their output through, reports how long they took.

use std::{
    env,
    io::{BufRead, BufReader, Read},
    mem,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        LazyLock,
        mpsc::{self, Receiver, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};

/// How long the output of an exited program may be silent before it counts as complete.
pub(crate) const OUTPUT_WAIT: Duration = Duration::from_secs(2);

/// The workspace root, two folders above this crate. Taken from cargo's variable at run time: the value at compile
/// time may be of another clone that shares the target folder.
pub(crate) fn workspace() -> &'static Path {
    static CRATE: LazyLock<PathBuf> =
        LazyLock::new(|| env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into()).into());
    CRATE.ancestors().nth(2).expect("server/xtask lies two folders below the root")
}

/// A cargo command in the workspace. In CI (`CI` is set) it writes no incremental state and no debug information:
/// both fill disks and caches, and nobody will debug those builds.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(workspace()).args(arguments).stdin(Stdio::null());
    if env::var_os("CI").is_some() {
        cargo.env("CARGO_INCREMENTAL", "0").env("CARGO_PROFILE_DEV_DEBUG", "0");
    }
    cargo
}

/// One finished step, for the summary.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) is_ok: bool,
    pub(crate) took: Duration,
}

/// Announces a step, runs it, and reports. An error counts as a failed step, because the following ones are still
/// informative.
pub(crate) fn step(name: &'static str, work: impl FnOnce() -> Result<bool>) -> Step {
    println!("\n==> {name}");
    let began = Instant::now();
    let is_ok = work().unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        false
    });
    let took = began.elapsed();
    println!("    {} after {}", if is_ok { "done" } else { "FAILED" }, readable(took));
    Step { name, is_ok, took }
}

/// Prints the command line and runs it with its output passed through.
pub(crate) fn passes(command: &mut Command) -> Result<bool> {
    announce(command);
    Ok(command.status().with_context(|| format!("could not start {:?}", command.get_program()))?.success())
}

/// Like [`passes`], and hands each line of standard output to `look`, which decides whether it is also shown.
pub(crate) fn passes_watched(command: &mut Command, look: impl FnMut(&str) -> Show) -> Result<bool> {
    announce(command);
    let started = command.stdout(Stdio::piped()).spawn();
    ends_well(started.with_context(|| format!("could not start {:?}", command.get_program()))?, look)
}

/// Lets `look` see each line until the program has exited. Processes that it leaves running may keep its output open,
/// so does not wait for its end.
fn ends_well(mut child: Child, mut look: impl FnMut(&str) -> Show) -> Result<bool> {
    let lines = lines(child.stdout.take().context("standard output is a pipe")?);
    loop {
        match lines.recv_timeout(OUTPUT_WAIT) {
            Ok(line) => {
                let text = String::from_utf8_lossy(&line);
                if look(text.trim_end()) == Show::Yes {
                    print!("{text}");
                }
            }
            Err(RecvTimeoutError::Timeout) => {
                if let Some(status) = child.try_wait()? {
                    return Ok(status.success());
                }
            }
            Err(RecvTimeoutError::Disconnected) => return Ok(child.wait()?.success()),
        }
    }
}

/// Each line with its line end, as it arrives.
pub(crate) fn lines(output: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut output = BufReader::new(output);
        let mut line = Vec::new();
        while output.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            if sender.send(mem::take(&mut line)).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Whether a line is also shown.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Show {
    Yes,
    No,
}

/// The standard output of a command that must succeed.
pub(crate) fn output_of(command: &mut Command) -> Result<String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.stderr(Stdio::inherit()).output().with_context(|| format!("could not start {program}"))?;
    anyhow::ensure!(output.status.success(), "{program} failed ({})", output.status);
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// cargo's metadata of the workspace's own packages.
pub(crate) fn metadata() -> Result<serde_json::Value> {
    let text = output_of(&mut cargo(&["metadata", "--no-deps", "--locked", "--format-version", "1"]))?;
    serde_json::from_str(&text).context("cargo metadata answers in JSON")
}

/// The target folder, according to `CARGO_TARGET_DIR` and configuration files.
pub(crate) fn target_dir() -> Result<PathBuf> {
    let metadata = metadata()?;
    Ok(metadata["target_directory"].as_str().context("cargo metadata names the target folder")?.into())
}

pub(crate) fn readable(took: Duration) -> String {
    match took.as_secs() {
        0..=99 => format!("{:.1} s", took.as_secs_f64()),
        seconds => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

fn announce(command: &Command) {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let arguments: Vec<_> = command.get_args().map(|argument| argument.to_string_lossy()).collect();
    println!("    $ {program} {}", arguments.join(" "));
}
