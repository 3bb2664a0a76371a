//! A program that runs beside a test and announces in its output when it is ready. If it exits instead, the reason is
//! reported; if another program took its port first, it is started again.

#[cfg(test)]
pub(crate) mod tests;

use std::{
    collections::VecDeque,
    fmt,
    io::{BufRead, BufReader, Read},
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread::JoinHandle,
    time::Duration,
};

use tokio::time::{Instant, sleep};

use crate::wait::WAIT_MAX;

/// How often a program that keeps losing its port is started.
const STARTS_MAX: usize = 5;
/// How many lines of its output are kept for an error message.
const LINES_MAX: usize = 40;
/// How often to check whether the program is ready or has exited.
const POLL: Duration = Duration::from_millis(10);
/// How long the output of an exited program is still read: a process that it left behind may keep it open.
const LAST_WORDS_MAX: Duration = Duration::from_secs(1);

/// What programs print if their port is taken, in lower case.
const PORT_LOST: [&str; 3] = ["address already in use", "address in use", "port not available"];

/// A running program. Dropping it kills it.
#[derive(Debug)]
pub(crate) struct Helper {
    child: Child,
    words: Words,
}

/// Why a program is not ready.
#[derive(Debug)]
pub(crate) struct NotReady {
    program: String,
    why: Why,
    words: Vec<String>,
}

#[derive(Debug)]
enum Why {
    NotStarted(std::io::Error),
    Ended(ExitStatus),
    Silent,
}

/// The end of a program's output, from both streams.
#[derive(Debug, Clone, Default)]
struct Words(Arc<Mutex<VecDeque<String>>>);

impl Helper {
    /// Starts it and waits for the line of output in which `sign` finds something.
    pub(crate) async fn start<T: Send + 'static>(
        program: &Path,
        arguments: &[&str],
        sign: fn(&str) -> Option<T>,
    ) -> Result<(Self, T), NotReady> {
        for _ in 1..STARTS_MAX {
            match Self::start_once(program, arguments, sign).await {
                Err(failed) if failed.has_lost_its_port() => eprintln!("{failed}\nit is started again"),
                other => return other,
            }
        }
        Self::start_once(program, arguments, sign).await
    }

    /// The end of its output so far, as lines of an error message.
    pub(crate) fn last_words(&self) -> String {
        told(&self.words.lines())
    }

    async fn start_once<T: Send + 'static>(
        program: &Path,
        arguments: &[&str],
        sign: fn(&str) -> Option<T>,
    ) -> Result<(Self, T), NotReady> {
        let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let failed = |why, words: &Words| NotReady { program: name.clone(), why, words: words.lines() };
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let words = Words::default();
        let mut child = command.spawn().map_err(|error| failed(Why::NotStarted(error), &words))?;
        let found = Arc::new(Mutex::new(None));
        let stdout = child.stdout.take().expect("standard output is a pipe");
        let stderr = child.stderr.take().expect("standard error is a pipe");
        let readers = [gather(stdout, &words, &found, sign), gather(stderr, &words, &found, sign)];
        let mut helper = Self { child, words };

        let deadline = Instant::now() + WAIT_MAX;
        loop {
            if let Some(found) = locked(&found).take() {
                return Ok((helper, found));
            }
            if let Some(status) = helper.child.try_wait().expect("a child can be waited for") {
                ends_of(&readers).await;
                return Err(failed(Why::Ended(status), &helper.words));
            }
            if Instant::now() > deadline {
                return Err(failed(Why::Silent, &helper.words));
            }
            sleep(POLL).await;
        }
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

impl NotReady {
    fn has_lost_its_port(&self) -> bool {
        matches!(self.why, Why::Ended(_)) && says_port_lost(&self.words)
    }

    /// Whether the program is not installed.
    pub(crate) fn is_missing(&self) -> bool {
        matches!(&self.why, Why::NotStarted(error) if error.kind() == std::io::ErrorKind::NotFound)
    }
}

impl fmt::Display for NotReady {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let program = &self.program;
        match &self.why {
            Why::NotStarted(error) => return write!(formatter, "{program} could not be started: {error}"),
            Why::Ended(status) => write!(formatter, "{program} ended before it was ready ({status})")?,
            Why::Silent => write!(formatter, "{program} did not say within {WAIT_MAX:?} that it is ready")?,
        }
        formatter.write_str(&told(&self.words))
    }
}

/// Whether these lines of an exited program say that its port was taken.
pub(crate) fn says_port_lost(lines: &[String]) -> bool {
    lines.iter().map(|line| line.to_lowercase()).any(|line| PORT_LOST.iter().any(|words| line.contains(words)))
}

fn told(lines: &[String]) -> String {
    if lines.is_empty() {
        "; it said nothing".to_owned()
    } else {
        format!("; the end of its output:\n{}", lines.join("\n"))
    }
}

impl Words {
    fn push(&self, line: String) {
        let mut lines = locked(&self.0);
        if lines.len() == LINES_MAX {
            lines.pop_front();
        }
        lines.push_back(line);
    }

    fn lines(&self) -> Vec<String> {
        locked(&self.0).iter().cloned().collect()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads to the end, so that the program never blocks on a full pipe.
fn gather<T: Send + 'static>(
    output: impl Read + Send + 'static,
    words: &Words,
    found: &Arc<Mutex<Option<T>>>,
    sign: fn(&str) -> Option<T>,
) -> JoinHandle<()> {
    let (words, found) = (words.clone(), Arc::clone(found));
    std::thread::spawn(move || {
        for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line).trim_end().to_owned();
            let sign = sign(&line);
            words.push(line);
            if sign.is_some() {
                *locked(&found) = sign;
            }
        }
    })
}

async fn ends_of(readers: &[JoinHandle<()>]) {
    let deadline = Instant::now() + LAST_WORDS_MAX;
    while !readers.iter().all(JoinHandle::is_finished) && Instant::now() < deadline {
        sleep(POLL).await;
    }
}
