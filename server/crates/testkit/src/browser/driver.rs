//! The processes behind a browser, and that none of them outlives it.

use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use tokio::time::timeout;

use crate::yoi::WAIT_MAX;

/// How often, and how long apart, leftover processes are killed: two seconds in all.
const ROUNDS_MAX: usize = 100;
const ROUND: Duration = Duration::from_millis(20);

/// A chromedriver on a port that it chose itself.
#[derive(Debug)]
pub(super) struct ChromeDriver {
    child: Child,
    port: u16,
}

impl ChromeDriver {
    pub(super) async fn start() -> Self {
        let mut child = Command::new("chromedriver")
            .arg("--port=0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| {
                panic!(
                    "chromedriver could not be started ({error}); on Debian: apt-get install chromium chromium-driver"
                )
            });
        let output = child.stdout.take().expect("standard output is a pipe");
        let reading = tokio::task::spawn_blocking(move || port_in(output));
        let port = match timeout(WAIT_MAX, reading).await {
            Ok(read) => read.expect("reading lines does not panic"),
            Err(_) => None,
        };
        let Some(port) = port else {
            child.kill().ok();
            child.wait().ok();
            panic!("chromedriver did not tell its port within {WAIT_MAX:?}");
        };
        Self { child, port }
    }

    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

impl Drop for ChromeDriver {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// From the line "ChromeDriver was started successfully on port 43947." After it nothing of interest comes, and
/// chromedriver goes on when nobody reads.
fn port_in(output: impl std::io::Read) -> Option<u16> {
    use std::io::BufRead;
    let lines = std::io::BufReader::new(output).lines().map_while(Result::ok);
    lines.filter(|line| line.contains("successfully on port")).find_map(|line| {
        let digits: String =
            line.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    })
}

/// Kills the Chromium processes of one profile. They are known by its folder, which no other process names.
#[derive(Debug)]
pub(super) struct Leftovers {
    profile: PathBuf,
}

impl Leftovers {
    pub(super) fn of(profile: &Path) -> Self {
        Self { profile: profile.to_owned() }
    }
}

impl Drop for Leftovers {
    fn drop(&mut self) {
        // Again until none is left: one that was just being started is not in the first list, and the folder can be
        // removed only when nobody writes to it.
        for _ in 0..ROUNDS_MAX {
            let pids = pids_naming(&self.profile);
            if pids.is_empty() {
                return;
            }
            Command::new("kill").arg("-KILL").args(pids).stderr(Stdio::null()).status().ok();
            std::thread::sleep(ROUND);
        }
    }
}

/// Only Linux tells command lines as files; elsewhere the session's own end has to do.
pub(super) fn pids_naming(profile: &Path) -> Vec<String> {
    let wanted = profile.to_string_lossy();
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    let own = std::process::id().to_string();
    processes
        .flatten()
        .filter_map(|process| {
            let pid = process.file_name().into_string().ok().filter(|name| name.parse::<u32>().is_ok())?;
            let command_line = std::fs::read(process.path().join("cmdline")).ok()?;
            (pid != own && String::from_utf8_lossy(&command_line).contains(wanted.as_ref())).then_some(pid)
        })
        .collect()
}
