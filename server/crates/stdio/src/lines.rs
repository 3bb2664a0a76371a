//! Messages as lines of standard input and output, limited in both directions.

use std::{io, time::Duration};

use tokio::{
    io::{AsyncBufRead, AsyncBufReadExt, AsyncWriteExt, BufReader, Stdin},
    sync::mpsc,
    task::JoinHandle,
};

/// How many messages may wait to be written; beyond that senders wait.
const WRITTEN_MAX: usize = 64;
/// How long writing the last messages may take.
const LAST_WAIT: Duration = Duration::from_secs(5);

/// The input.
#[derive(Debug)]
pub(crate) struct Lines<R = BufReader<Stdin>> {
    input: R,
    bytes_max: usize,
}

/// One line of input.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    Text(String),
    TooLong,
    End,
}

impl Lines {
    /// Standard input, in lines of at most `bytes_max` bytes.
    pub(crate) fn of_stdin(bytes_max: usize) -> Self {
        Self { input: BufReader::new(tokio::io::stdin()), bytes_max }
    }
}

impl<R: AsyncBufRead + Unpin> Lines<R> {
    /// The next non-empty line. Of a line that is too long the rest is read and discarded.
    pub(crate) async fn next(&mut self) -> io::Result<Line> {
        let mut line = Vec::new();
        let mut is_too_long = false;
        loop {
            let read = self.input.fill_buf().await?;
            let is_end = read.is_empty();
            let end = read.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(read.len(), |at| at + 1);
            is_too_long |= line.len() + taken > self.bytes_max;
            if is_too_long {
                line.clear();
            } else {
                line.extend_from_slice(&read[..taken]);
            }
            self.input.consume(taken);
            if end.is_none() && !is_end {
                continue;
            }
            let text = String::from_utf8_lossy(&line).trim().to_owned();
            match (is_too_long, text.is_empty()) {
                (true, _) => return Ok(Line::TooLong),
                (false, false) => return Ok(Line::Text(text)),
                (false, true) if is_end => return Ok(Line::End),
                (false, true) => line.clear(),
            }
        }
    }
}

/// The output, and a handle for its end.
pub(crate) fn to_stdout() -> (mpsc::Sender<String>, Writing) {
    let (messages, mut written) = mpsc::channel::<String>(WRITTEN_MAX);
    let writing = tokio::spawn(async move {
        let mut output = tokio::io::stdout();
        while let Some(message) = written.recv().await {
            // A message is one line; line breaks in JSON are never significant.
            let line = message.replace(['\n', '\r'], " ") + "\n";
            if output.write_all(line.as_bytes()).await.is_err() || output.flush().await.is_err() {
                return;
            }
        }
    });
    (messages, Writing(writing))
}

/// Ends once all senders are gone and everything is written.
#[derive(Debug)]
pub(crate) struct Writing(JoinHandle<()>);

impl Writing {
    pub(crate) async fn end(self) {
        // Do not wait for a reader that no longer reads.
        let _ = tokio::time::timeout(LAST_WAIT, self.0).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lines_are_read_one_by_one_and_one_that_is_too_long_is_passed_over() {
        let text = format!("one\r\n{}\n\n  \nlast", "x".repeat(11));
        let mut lines = Lines { input: BufReader::with_capacity(4, text.as_bytes()), bytes_max: 10 };
        let mut seen = Vec::new();
        loop {
            match lines.next().await.unwrap() {
                Line::End => break,
                line => seen.push(line),
            }
        }
        assert_eq!(seen, [Line::Text("one".to_owned()), Line::TooLong, Line::Text("last".to_owned())]);
    }
}
