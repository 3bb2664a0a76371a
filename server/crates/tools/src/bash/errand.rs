//! A program that yoi itself needs to its end, such as git, in the same kind of sandbox as a command of a Pod: what it
//! works on may be hostile and name programs of its own.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use pod::Scope;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    net::unix::OwnedWriteHalf,
    time::timeout,
};

use super::{
    BashOptions, Served, Serving, Talk,
    order::{Hold, Report},
};
use crate::{Lifeline, Network};

/// The most bytes of the program's standard error.
const ERRORS_BYTES_MAX: u64 = 16 * 1024;

/// What is to be run, and where.
#[derive(Debug, Clone)]
pub struct Errand {
    /// The program, which is looked up on the PATH, and its arguments.
    pub program: Vec<String>,
    /// Variables besides those that every command gets.
    pub variables: BTreeMap<String, String>,
    /// Its standard input.
    pub input: Vec<u8>,
    pub cwd: PathBuf,
    /// What it may touch. There is no network.
    pub scope: Scope,
    /// Whether settings and hooks of the repositories in the scope are read-only. Only for a program that runs nothing
    /// else and has to remove them.
    pub keeps_repositories: bool,
    /// After this time it is ended.
    pub time_max: Duration,
    /// The most bytes of its standard output; with more than that it is ended.
    pub bytes_max: usize,
}

/// How a program ended, and what it said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// Its exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    pub output: Vec<u8>,
    pub errors: String,
}

/// Why a program was not run to its end; each as half a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unrun {
    /// Nothing is run without a sandbox.
    #[error("there is no sandbox for it on this machine (`yoi doctor` says why), and it is not run without one")]
    NoRoom,
    #[error("it was not started: {0}")]
    NotStarted(String),
    #[error("it took longer than {} s and was ended", .0.as_secs())]
    Late(Duration),
    #[error("it said more than {0} bytes and was ended")]
    TooMuch(usize),
}

impl Errand {
    /// Runs it to its end. Dropping this future ends it.
    ///
    /// # Errors
    /// It could not be run, or was ended.
    pub async fn run(self, options: &BashOptions) -> Result<Ran, Unrun> {
        if !matches!(options.hold(), Hold::Room { .. }) {
            return Err(Unrun::NoRoom);
        }
        let Self { program, variables, input, cwd, scope, keeps_repositories, time_max, bytes_max } = self;
        let (lifeline, _ended) = Lifeline::pair();
        let network = Network::None;
        let serving = Serving { program, variables, cwd, scope, network, is_free: false, keeps_repositories, lifeline };
        let work = async {
            let (mut served, Talk { stream, errors }) =
                Served::start(options, serving).await.map_err(Unrun::NotStarted)?;
            let (output, stdin) = stream.into_split();
            let ((), output, errors) =
                tokio::join!(give(stdin, input), all_of(output, bytes_max), beginning_of(errors));
            let Some(output) = output else {
                served.end().await;
                return Err(Unrun::TooMuch(bytes_max));
            };
            let code = match served.report().await {
                Some(Report::Exited(code)) => Some(code),
                Some(Report::Signalled(_)) | None => None,
                Some(Report::Unconfined(why) | Report::NotStarted(why)) => return Err(Unrun::NotStarted(why)),
            };
            served.end().await;
            Ok(Ran { code, output, errors })
        };
        timeout(time_max, work).await.unwrap_or(Err(Unrun::Late(time_max)))
    }
}

/// Whoever does not read to the end does not need it.
async fn give(mut stdin: OwnedWriteHalf, input: Vec<u8>) {
    let _ = stdin.write_all(&input).await;
    let _ = stdin.shutdown().await;
}

/// `None` if there is more. What cannot be read any more is not there.
async fn all_of(from: impl AsyncRead + Unpin, most: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let _ = from.take(most as u64 + 1).read_to_end(&mut bytes).await;
    (bytes.len() <= most).then_some(bytes)
}

/// Reads all of it, so that the writer never waits, and keeps its beginning.
async fn beginning_of(mut from: impl AsyncRead + Unpin) -> String {
    let mut bytes = Vec::new();
    let _ = (&mut from).take(ERRORS_BYTES_MAX).read_to_end(&mut bytes).await;
    let _ = tokio::io::copy(&mut from, &mut tokio::io::sink()).await;
    String::from_utf8_lossy(&bytes).into_owned()
}
