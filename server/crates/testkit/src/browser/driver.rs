//! The processes behind a browser, and their cleanup.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use crate::helper::{Helper, NotReady};

/// How often, and how far apart, leftover processes are killed: two seconds in all.
const ROUNDS_MAX: usize = 100;
const ROUND: Duration = Duration::from_millis(20);

/// A chromedriver on a port that it chose itself.
#[derive(Debug)]
pub(super) struct ChromeDriver {
    helper: Helper,
    port: u16,
}

impl ChromeDriver {
    pub(super) async fn start() -> Self {
        match Self::start_as(Path::new("chromedriver")).await {
            Ok(driver) => driver,
            Err(failed) if failed.is_missing() => {
                panic!("{failed}; on Debian: apt-get install chromium chromium-driver")
            }
            Err(failed) => panic!("{failed}"),
        }
    }

    /// With port 0 it picks a free IPv6 port, and exits if that one is taken for IPv4 by then.
    pub(super) async fn start_as(program: &Path) -> Result<Self, NotReady> {
        let (helper, port) = Helper::start(program, &["--port=0"], port_in).await?;
        Ok(Self { helper, port })
    }

    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Its last output, for the error when a browser does not start.
    pub(super) fn last_words(&self) -> String {
        self.helper.last_words()
    }
}

/// Parses the line "ChromeDriver was started successfully on port 43947."
fn port_in(line: &str) -> Option<u16> {
    let (_, after) = line.split_once("successfully on port")?;
    let digits: String = after.trim_start().chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// Kills the Chromium processes of one profile, which are identified by its folder on their command lines.
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
        // Repeated until none is left: one that was just starting is not in the first list, and the folder can be
        // removed only when nothing writes to it.
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

/// Only Linux exposes command lines as files; elsewhere ending the session has to suffice.
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
