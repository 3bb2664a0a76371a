//! Shared by the topics: timing the start of the server, its memory, and statistics of samples.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use testkit::yoi::{Launch, YoiProcess, pod_path};
use tokio::runtime::Runtime;

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_yoi");

/// The interval for polling something that has no event.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

pub(crate) fn tokio_runtime() -> Runtime {
    Runtime::new().expect("threads can be started")
}

/// What precedes the port in the line that says where a program answers: of a console, and of others.
const BEFORE_PORT: [&str; 2] = [".localhost:", "127.0.0.1:"];

/// A server whose start was timed. Dropping it kills it, as `kill -9` does.
#[derive(Debug)]
pub(crate) struct Started {
    child: Child,
    /// From the start of the process to the first byte of its first answer.
    pub(crate) took: Duration,
    pub(crate) base_url: String,
    pub(crate) token: String,
}

impl Started {
    /// `command` prints a line with its address and answers `/healthz`.
    pub(crate) fn by_clock(mut command: Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let began = Instant::now();
        let mut child = command.spawn().expect("the program is there");
        let mut output = BufReader::new(child.stdout.take().expect("standard output is a pipe"));
        // Read continuously, so that the server never waits for it; shown when it ends too early.
        let mut errors = child.stderr.take().expect("standard error is a pipe");
        let log = std::thread::spawn(move || {
            let mut log = Vec::new();
            errors.read_to_end(&mut log).ok();
            String::from_utf8_lossy(&log).into_owned()
        });
        let mut line = String::new();
        let port_in =
            |line: &str| BEFORE_PORT.into_iter().find_map(|before| Some(line.trim().split_once(before)?.1.to_owned()));
        let address = loop {
            if let Some(address) = port_in(&line) {
                break address;
            }
            line.clear();
            let bytes = output.read_line(&mut line).expect("standard output is text");
            if bytes == 0 {
                let status = child.wait().expect("a child can be waited for");
                panic!("the server ended before it was ready ({status}):\n{}", log.join().unwrap_or_default());
            }
        };
        let (port, token) = address.split_once("/?token=").unwrap_or((&address, ""));
        first_answer(port);
        let took = began.elapsed();
        Self { child, took, base_url: format!("http://127.0.0.1:{port}"), token: token.to_owned() }
    }

    pub(crate) fn yoi(launch: &Launch) -> Self {
        let mut command = launch.command();
        command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(launch.data_dir());
        Self::by_clock(command.into_std())
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn first_answer(port: &str) {
    let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).expect("the server listens");
    let request = format!("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("the server reads");
    let mut status = [0; 12];
    stream.read_exact(&mut status).expect("the server answers");
    assert_eq!(&status, b"HTTP/1.1 200", "/healthz answers with 200");
}

/// Proportional set size in kB: what this process adds to the machine's memory use.
pub(crate) fn pss_kb(pid: u32) -> f64 {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).expect("Linux tells a process's memory");
    let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:")).expect("there is a line for Pss");
    let number = line.split_whitespace().next().and_then(|number| number.parse().ok());
    number.expect("a size is a number")
}

/// Processor time of a process, user and system.
pub(crate) fn cpu_seconds(pid: u32) -> f64 {
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("Linux tells a process's time");
    // The name, in brackets, may contain spaces.
    let (_, fields) = stat.rsplit_once(')').expect("the name is in brackets");
    let ticks = fields.split_whitespace().skip(11).take(2).map(|ticks| ticks.parse::<f64>().expect("a number"));
    ticks.sum::<f64>() / TICKS_PER_SECOND
}

/// A server whose Pods can use a model at this address.
pub(crate) async fn yoi_with_model(base_url: &str) -> YoiProcess {
    Launch::new(BINARY).env("OPENAI_BASE_URL", base_url).start().await
}

/// A Pod that uses the model of [`yoi_with_model`].
pub(crate) async fn pod_with_model(yoi: &YoiProcess, name: &str) -> Value {
    let create = json!({ "name": name, "provider": "openai", "model": "timed" });
    yoi.post("/api/v1/pods", &create).await.expect(201)
}

/// Creates `count` idle Pods, a few at a time.
pub(crate) async fn idle_pods(yoi: &YoiProcess, prefix: &str, count: usize) {
    use futures_util::{StreamExt, stream};
    let names = stream::iter(0..count).map(|number| format!("{prefix}-{number}"));
    names.for_each_concurrent(16, |name| async move { drop(yoi.new_pod(&name).await) }).await;
}

/// Waits until the Pod is in this state.
pub(crate) async fn until_state(yoi: &YoiProcess, pod: &Value, state: &str) {
    while yoi.get(&pod_path(pod)).await.expect(200)["state"] != state {
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

/// Waits until the Pod has nothing to do, and no queued messages.
pub(crate) async fn until_idle(yoi: &YoiProcess, pod: &Value) {
    loop {
        let detail = yoi.get(&pod_path(pod)).await.expect(200);
        let has_queued = detail["queued"].as_array().is_some_and(|queued| !queued.is_empty());
        if detail["state"] == "idle" && !has_queued {
            return;
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

/// The value below which `share` (0 to 1) of the samples lie. Sorts them.
pub(crate) fn quantile(samples: &mut [f64], share: f64) -> f64 {
    assert!(!samples.is_empty(), "there is something to measure");
    samples.sort_by(f64::total_cmp);
    samples[((samples.len() - 1) as f64 * share).round() as usize]
}

pub(crate) fn median(samples: &mut [f64]) -> f64 {
    quantile(samples, 0.5)
}

pub(crate) fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}
