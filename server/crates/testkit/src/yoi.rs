//! The built binary as seen from outside: started on port 0 with a folder of its own, used over HTTP, killed at will.
//!
//! The path of the binary comes from the test (`env!("CARGO_BIN_EXE_yoi")`), because only the tests of the package
//! `yoi` have it. The process sees no keys, configuration or data of the machine it runs on.

mod answer;
mod event_socket;
mod launch;
#[cfg(test)]
mod tests;

use std::{
    process::ExitStatus,
    sync::{Arc, Mutex},
};

use tokio::process::Child;

pub(crate) use answer::install_tls_provider;
pub use answer::{Answer, pod_path};
pub use event_socket::EventSocket;
pub use launch::{FailedStart, Launch};

pub use crate::wait::{WAIT_MAX, until};

/// How many lines of the log a failing test prints.
const LOG_LINES_SHOWN: usize = 60;

/// A running yoi, or a dead one after [`kill9`](Self::kill9). Dropping it kills the process.
#[derive(Debug)]
pub struct YoiProcess {
    launch: Launch,
    child: Child,
    base_url: String,
    console_url: String,
    token: String,
    http: reqwest::Client,
    log: Log,
}

impl YoiProcess {
    /// Starts `binary serve` on a fresh folder. For anything else, use [`Launch`].
    pub async fn start(binary: &str) -> Self {
        Launch::new(binary).start().await
    }

    /// `http://127.0.0.1:PORT` without a trailing slash: the address for programs.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// `http://NAME.localhost:PORT` without a trailing slash: the address of the pages.
    pub fn console_url(&self) -> &str {
        &self.console_url
    }

    /// A client that resolves the console's own name, follows no redirects and keeps no cookies.
    pub fn browser_client(&self) -> reqwest::Client {
        let (host, port) = self.console_url.trim_start_matches("http://").rsplit_once(':').expect("it names a port");
        let port = port.parse().expect("a port is a number");
        let there = std::net::SocketAddr::from(([127, 0, 0, 1], port));
        let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).no_proxy();
        client.resolve(host, there).build().expect("a client without settings of the machine can be built")
    }

    /// The bearer token from the line that announced that the server is ready.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// The address to open in a browser: it logs in and redirects.
    pub fn login_url(&self) -> String {
        format!("{}/?token={}", self.console_url, self.token)
    }

    /// `None` once the process has been waited for, after [`kill9`](Self::kill9) or [`terminate`](Self::terminate).
    pub fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    pub fn launch(&self) -> &Launch {
        &self.launch
    }

    /// Standard error so far, one line each.
    pub fn log(&self) -> Vec<String> {
        self.log.lines()
    }

    /// SIGKILL: no handler runs, nothing is flushed. Returns when the process is gone.
    pub async fn kill9(&mut self) {
        self.child.start_kill().ok();
        self.child.wait().await.expect("a child can be waited for");
    }

    /// SIGTERM, then waits for the orderly exit.
    pub async fn terminate(&mut self) -> ExitStatus {
        let pid = self.pid().expect("the process was ended before");
        let status = tokio::process::Command::new("kill").args(["-TERM", &pid.to_string()]).status().await;
        assert!(status.expect("`kill` can be run").success(), "no process {pid} to send SIGTERM to");
        self.wait().await
    }

    /// Waits for the process to exit by itself.
    pub async fn wait(&mut self) -> ExitStatus {
        match tokio::time::timeout(WAIT_MAX, self.child.wait()).await {
            Ok(status) => status.expect("a child can be waited for"),
            Err(_) => panic!("yoi did not end within {WAIT_MAX:?}"),
        }
    }

    /// Restarts on the same folder and a new port. A running process is killed first, as by `kill -9`.
    pub async fn restart(&mut self) {
        let launch = self.launch.clone();
        self.restart_as(launch).await;
    }

    /// Restarts on the same folder and the same port, so that open pages and clients find it again.
    pub async fn restart_on_same_port(&mut self) {
        let address = self.base_url.trim_start_matches("http://").to_owned();
        let launch = self.launch.clone().listen(&address);
        self.restart_as(launch).await;
    }

    /// Restarts with other arguments or variables: take [`launch`](Self::launch) and change it.
    pub async fn restart_as(&mut self, launch: Launch) {
        self.kill9().await;
        *self = launch.start().await;
    }
}

impl Drop for YoiProcess {
    fn drop(&mut self) {
        let how_it_is = how_it_is(&mut self.child);
        self.child.start_kill().ok();
        if std::thread::panicking() {
            let lines = self.log.lines();
            eprintln!("--- the end of the log of yoi at {}; {how_it_is}", self.base_url);
            for line in lines.iter().skip(lines.len().saturating_sub(LOG_LINES_SHOWN)) {
                eprintln!("{line}");
            }
        }
    }
}

/// For a failing test: a missing answer says little if the server is gone.
fn how_it_is(child: &mut Child) -> String {
    match child.try_wait() {
        Ok(Some(status)) => format!("it has ended ({status})"),
        _ => "it runs".to_owned(),
    }
}

/// Lines of one stream of the process, collected while it runs.
#[derive(Debug, Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn push(&self, line: String) {
        self.0.lock().expect("no reader panics while it holds the log").push(line);
    }

    fn lines(&self) -> Vec<String> {
        self.0.lock().expect("no reader panics while it holds the log").clone()
    }
}
