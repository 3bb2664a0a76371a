//! An agent's process. Its input and output carry the protocol; its standard error is kept to explain why it ended.
//! Like a command, it has a keeper, which ends everything that it started when yoi drops it or dies.

use std::{
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::{io::AsyncReadExt, process::ChildStderr, time::timeout};
use tools::{
    Lifeline,
    bash::{Served, Serving},
};

use crate::{registry::Starting, turn::Begin, wire::Wire};

/// How much of its standard error is kept: the end.
const ERRORS_BYTES_MAX: usize = 4 * 1024;
const WORDS_CHARS_MAX: usize = 300;
/// How long the keeper may take to report how the process ended.
const ENDING_WAIT: Duration = Duration::from_secs(2);

/// A running process. Dropping it ends it and everything that it started.
#[derive(Debug)]
pub(crate) struct Process {
    served: Served,
    errors: Arc<Mutex<String>>,
}

impl Process {
    /// # Errors
    /// A sentence: the process cannot be confined to its scope on this machine, or it cannot be started.
    pub(crate) async fn start(starting: &Starting, program: &Path, begin: &Begin) -> Result<(Self, Wire), String> {
        let config = &starting.config;
        let program = program.to_str().ok_or("the path of its program is not UTF-8")?.to_owned();
        let words = config.command.iter().skip(1).cloned();
        let (lifeline, _) = Lifeline::pair();
        let serving = Serving {
            program: std::iter::once(program).chain(words).collect(),
            variables: config.env.clone(),
            cwd: begin.cwd.clone(),
            scope: begin.scope.clone(),
            network: begin.network.clone(),
            is_free: !config.confine,
            keeps_repositories: true,
            lifeline,
        };
        let (served, talk) = Served::start(&starting.bash, serving).await?;
        let (reading, writing) = talk.stream.into_split();
        let errors = Arc::new(Mutex::new(String::new()));
        tokio::spawn(keep_end(talk.errors, errors.clone()));
        Ok((Self { served, errors }, Wire::new(Box::new(reading), Box::new(writing))))
    }

    /// Says in half a sentence how the process ended, or nothing while it is still running.
    pub(crate) async fn ending(&mut self) -> Option<String> {
        timeout(ENDING_WAIT, self.served.ended()).await.ok()
    }

    /// Returns the last words that the process wrote to its standard error.
    pub(crate) fn last_words(&self) -> Option<String> {
        let errors = self.errors.lock().expect("no holder of these words panics");
        // Skips lines that are only the end of a dump.
        let says = |line: &&str| line.chars().filter(|letter| letter.is_alphanumeric()).count() > 3;
        let line = errors.lines().map(str::trim).rfind(says)?;
        Some(crate::wire::cut(line, WORDS_CHARS_MAX))
    }

    /// Ends the process and everything that it started, and waits until it is gone.
    pub(crate) async fn end(self) {
        if !self.served.end().await {
            tracing::warn!("an agent's process does not end");
        }
    }
}

async fn keep_end(mut from: ChildStderr, to: Arc<Mutex<String>>) {
    let mut buffer = vec![0; 4 * 1024];
    while let Ok(count @ 1..) = from.read(&mut buffer).await {
        let text = String::from_utf8_lossy(&buffer[..count]);
        let mut kept = to.lock().expect("no holder of these words panics");
        kept.push_str(&text);
        if kept.len() > ERRORS_BYTES_MAX {
            let start = kept.ceil_char_boundary(kept.len() - ERRORS_BYTES_MAX);
            kept.drain(..start);
        }
    }
}
