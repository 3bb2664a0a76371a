//! A bare program as a child process: this very binary, started with other arguments.

use std::{
    io::{BufRead, BufReader},
    net::SocketAddr,
    process::{Child, Command, Stdio},
};

use crate::bare;

/// A running bare program. Dropping it kills the process.
#[derive(Debug)]
pub(crate) struct Floor {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Floor {
    /// `words`: see [`bare::run_if_asked`].
    pub(crate) fn start(words: &[&str]) -> Self {
        let mut command = command(words);
        let mut child = command.spawn().expect("this program can be started once more");
        let mut line = String::new();
        let output = child.stdout.take().expect("standard output is a pipe");
        BufReader::new(output).read_line(&mut line).expect("a bare program says where it listens");
        let address = line.trim().strip_prefix(bare::READY).and_then(|address| address.parse().ok());
        Self { child, address: address.expect("a bare program says where it listens") }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }
}

pub(crate) fn command(words: &[&str]) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("a program knows where it is"));
    command.arg(bare::WORD).args(words).stdin(Stdio::null()).stdout(Stdio::piped());
    command
}

impl Drop for Floor {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
