//! Kills a test binary that hangs, so that the others still get their turn.
//!
//! It inspects processes through `/proc`; without that it does nothing.

use std::{
    fs,
    path::PathBuf,
    process::Command,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use crate::run::readable;

/// A test binary that has been silent for this long is hanging.
const SILENCE_MAX: Duration = Duration::from_secs(600);
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// Watches the test binaries of a cargo until it is dropped.
#[derive(Debug)]
pub(crate) struct Watchdog {
    silence: Arc<Mutex<Silence>>,
    ended: Arc<Mutex<usize>>,
    /// Dropping it stops the thread.
    _stop: mpsc::Sender<()>,
}

impl Watchdog {
    /// Watches what the cargo with this process id starts.
    pub(crate) fn over(cargo: u32) -> Self {
        let silence = Arc::new(Mutex::new(Silence::default()));
        let ended = Arc::new(Mutex::new(0));
        let (stop, stopped) = mpsc::channel();
        let (heard, count) = (Arc::clone(&silence), Arc::clone(&ended));
        thread::spawn(move || {
            while stopped.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
                let running = test_binary(cargo);
                let mut silence = heard.lock().unwrap_or_else(PoisonError::into_inner);
                let process = running.as_ref().map(|(process, _)| *process);
                if let (true, Some((process, binary))) = (silence.is_too_long(process, Instant::now()), running) {
                    eprintln!(
                        "error: {} has said nothing for {} and is ended; {}",
                        binary.display(),
                        readable(SILENCE_MAX),
                        silence.suspects()
                    );
                    end_with_descendants(process);
                    *count.lock().unwrap_or_else(PoisonError::into_inner) += 1;
                }
            }
        });
        Self { silence, ended, _stop: stop }
    }

    /// Records a line of standard output.
    pub(crate) fn heard(&self, line: &str) {
        self.silence.lock().unwrap_or_else(PoisonError::into_inner).heard(line, Instant::now());
    }

    /// How many test binaries it has killed.
    pub(crate) fn ended(&self) -> usize {
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How long the running test binary has been silent, and which tests were last reported as slow.
#[derive(Debug, Default)]
struct Silence {
    /// The process at the last check, and since when it has been silent.
    binary: Option<(u32, Instant)>,
    slow: Vec<String>,
}

impl Silence {
    fn heard(&mut self, line: &str, now: Instant) {
        if let Some((_, since)) = &mut self.binary {
            *since = now;
        }
        if line.starts_with("running ") {
            self.slow.clear();
        }
        let Some(said) = line.strip_prefix("test ") else { return };
        if let Some((name, _)) = said.split_once(" has been running for over ") {
            self.slow.push(name.to_owned());
        } else if let Some((name, _)) = said.split_once(" ... ") {
            self.slow.retain(|slow| slow != name);
        }
    }

    /// Whether the running binary must be killed. While none is running, something is being compiled, which is
    /// silent.
    fn is_too_long(&mut self, running: Option<u32>, now: Instant) -> bool {
        let since = match (self.binary, running) {
            (Some((before, since)), Some(process)) if before == process => since,
            _ => now,
        };
        self.binary = running.map(|process| (process, since));
        let is_too_long = now.duration_since(since) >= SILENCE_MAX;
        if is_too_long {
            self.binary = None;
        }
        is_too_long
    }

    fn suspects(&self) -> String {
        match self.slow.as_slice() {
            [] => "none of its tests was said to be slow".to_owned(),
            slow => format!("said to be running for over 60 seconds: {}", slow.join(", ")),
        }
    }
}

/// A process and its parent.
#[derive(Debug, Clone, Copy)]
struct Process {
    id: u32,
    parent: u32,
}

/// The test binary that this cargo is running: a child whose program is in `target/…/deps`, unlike a compiler's.
fn test_binary(cargo: u32) -> Option<(u32, PathBuf)> {
    let children = processes().into_iter().filter(|process| process.parent == cargo);
    let mut programs =
        children.filter_map(|child| Some((child.id, fs::read_link(format!("/proc/{}/exe", child.id)).ok()?)));
    programs.find(|(_, program)| program.parent().is_some_and(|folder| folder.ends_with("deps")))
}

fn processes() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let ids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter_map(|id| Some(Process { id, parent: parent(&fs::read_to_string(format!("/proc/{id}/stat")).ok()?)? }))
        .collect()
}

/// The parent in `ID (NAME) STATE PARENT …`; a name may contain anything, including brackets and spaces.
fn parent(stat: &str) -> Option<u32> {
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_whitespace().nth(1)?.parse().ok()
}

/// The process, its children, their children, and so on: parents before children.
fn with_descendants(root: u32, processes: &[Process]) -> Vec<u32> {
    let mut family = vec![root];
    let mut next = 0;
    while let Some(&parent) = family.get(next) {
        family.extend(processes.iter().filter(|process| process.parent == parent).map(|process| process.id));
        next += 1;
    }
    family
}

/// SIGKILL to all of them. Sent by the shell, because every machine with `/proc` has one.
fn end_with_descendants(root: u32) {
    let family = with_descendants(root, &processes());
    let mut kill = Command::new("sh");
    kill.args(["-c", r#"kill -KILL "$@""#, "kill"]).args(family.iter().map(u32::to_string));
    if let Err(error) = kill.status() {
        eprintln!("error: could not end the processes {family:?}: {error}");
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::{
        process::{Command, Stdio},
        thread,
        time::{Duration, Instant},
    };

    use super::{
        Process, SILENCE_MAX, Silence, end_with_descendants, parent, processes, test_binary, with_descendants,
    };

    #[test]
    fn a_binary_is_ended_after_ten_minutes_without_a_word_and_no_sooner() {
        let began = Instant::now();
        let mut silence = Silence::default();
        assert!(!silence.is_too_long(Some(7), began));
        let nearly = began + SILENCE_MAX - Duration::from_secs(1);
        assert!(!silence.is_too_long(Some(7), nearly));

        silence.heard("test a ... ok", nearly);
        assert!(!silence.is_too_long(Some(7), nearly + SILENCE_MAX - Duration::from_secs(1)));
        assert!(silence.is_too_long(Some(7), nearly + SILENCE_MAX));
        assert!(!silence.is_too_long(Some(7), nearly + SILENCE_MAX), "it is told once");
    }

    #[test]
    fn compiling_and_the_silence_of_another_binary_do_not_count() {
        let began = Instant::now();
        let mut silence = Silence::default();
        assert!(!silence.is_too_long(None, began));
        assert!(!silence.is_too_long(Some(7), began + 3 * SILENCE_MAX));
        assert!(!silence.is_too_long(Some(8), began + 5 * SILENCE_MAX));
        assert!(!silence.is_too_long(None, began + 7 * SILENCE_MAX));
    }

    #[test]
    fn the_tests_that_were_said_to_be_slow_and_did_not_end_are_named() {
        let mut silence = Silence::default();
        let now = Instant::now();
        for line in [
            "test of_the_binary_before has been running for over 60 seconds",
            "running 3 tests",
            "test ended has been running for over 60 seconds",
            "test hangs has been running for over 60 seconds",
            "test ended ... ok",
        ] {
            silence.heard(line, now);
        }
        assert_eq!(silence.suspects(), "said to be running for over 60 seconds: hangs");
    }

    #[test]
    fn a_parent_is_read_and_descendants_are_found() {
        assert_eq!(parent("42 (odd ) name) S 7 42 42 0"), Some(7));
        assert_eq!(parent("nothing"), None);
        let all = [(4, 3), (3, 2), (2, 1), (9, 1), (5, 2)].map(|(id, parent)| Process { id, parent });
        assert_eq!(with_descendants(2, &all), [2, 3, 5, 4]);
    }

    #[test]
    fn the_test_binary_that_a_cargo_runs_is_found() {
        if processes().is_empty() {
            return;
        }
        let found = test_binary(std::os::unix::process::parent_id()).map(|(process, _)| process);
        assert_eq!(found, Some(std::process::id()), "this one is such a binary");
    }

    #[test]
    fn a_process_ends_with_what_it_started() {
        if processes().is_empty() {
            return;
        }
        let mut shell = Command::new("sh");
        shell.args(["-c", "sleep 600 & sleep 600; true"]).stdout(Stdio::null());
        let mut shell = shell.spawn().expect("a shell");
        let family = loop {
            let family = with_descendants(shell.id(), &processes());
            if family.len() == 3 {
                break family;
            }
            thread::sleep(Duration::from_millis(5));
        };
        end_with_descendants(shell.id());
        assert!(!shell.wait().expect("it has ended").success());
        while processes().iter().any(|process| family.contains(&process.id) && process.parent == shell.id()) {
            thread::sleep(Duration::from_millis(5));
        }
    }
}
