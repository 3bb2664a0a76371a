//! Kills a test program that hangs, so that the others still get their turn.
//!
//! What it started is found through `/proc`; without that, only the program itself is killed.

use std::{
    fs,
    process::Command,
    time::{Duration, Instant},
};

/// A test program that has been silent for this long is hanging.
pub(crate) const SILENCE_MAX: Duration = Duration::from_secs(600);

/// How long a test program has been silent, and which of its tests were last reported as slow.
#[derive(Debug)]
pub(crate) struct Silence {
    since: Instant,
    slow: Vec<String>,
}

impl Silence {
    pub(crate) fn new(now: Instant) -> Self {
        Self { since: now, slow: Vec::new() }
    }

    /// Records a line of its output.
    pub(crate) fn heard(&mut self, line: &str, now: Instant) {
        self.since = now;
        let Some(said) = line.strip_prefix("test ") else { return };
        if let Some((name, _)) = said.split_once(" has been running for over ") {
            self.slow.push(name.to_owned());
        } else if let Some((name, _)) = said.split_once(" ... ") {
            self.slow.retain(|slow| slow != name);
        }
    }

    /// Whether it must be killed.
    pub(crate) fn is_too_long(&self, now: Instant) -> bool {
        now.duration_since(self.since) >= SILENCE_MAX
    }

    /// A clause that names the tests that may hang.
    pub(crate) fn suspects(&self) -> String {
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

/// SIGKILL to the process and all that it started. Sent by the shell, because every machine with `/proc` has one.
pub(crate) fn end_with_descendants(root: u32) {
    let family = with_descendants(root, &processes());
    let mut kill = Command::new("sh");
    kill.args(["-c", r#"kill -KILL "$@""#, "kill"]).args(family.iter().map(u32::to_string));
    if let Err(error) = kill.status() {
        eprintln!("error: could not end the processes {family:?}: {error}");
    }
}

#[cfg(test)]
mod tests {
    use std::{
        process::{Command, Stdio},
        thread,
        time::{Duration, Instant},
    };

    use super::{Process, SILENCE_MAX, Silence, end_with_descendants, parent, processes, with_descendants};

    #[test]
    fn a_program_is_ended_after_ten_minutes_without_a_word_and_no_sooner() {
        let began = Instant::now();
        let mut silence = Silence::new(began);
        let nearly = began + SILENCE_MAX - Duration::from_secs(1);
        assert!(!silence.is_too_long(nearly));

        silence.heard("test a ... ok", nearly);
        assert!(!silence.is_too_long(nearly + SILENCE_MAX - Duration::from_secs(1)));
        assert!(silence.is_too_long(nearly + SILENCE_MAX));
    }

    #[test]
    fn the_tests_that_were_said_to_be_slow_and_did_not_end_are_named() {
        let now = Instant::now();
        let mut silence = Silence::new(now);
        for line in [
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
