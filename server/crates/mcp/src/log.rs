//! The newest part of what a server writes to its standard error, for people to read.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::io::{AsyncRead, AsyncReadExt};

use crate::{
    bounds::LOG_BYTES_MAX,
    text::{Secrets, plain},
};

const READ_BYTES: usize = 4 * 1024;
const LINE_BYTES_MAX: usize = 2 * 1024;

/// The lines of all processes of one server, oldest first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Lines>>);

#[derive(Debug, Default)]
struct Lines {
    lines: VecDeque<String>,
    bytes: usize,
}

impl Log {
    pub(crate) fn push(&self, line: String) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.bytes += line.len() + 1;
        kept.lines.push_back(line);
        while kept.bytes > LOG_BYTES_MAX {
            let Some(oldest) = kept.lines.pop_front() else { break };
            kept.bytes -= oldest.len() + 1;
        }
    }

    pub(crate) fn text(&self) -> String {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
    }

    pub(crate) fn last(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).lines.back().cloned()
    }

    /// Collects lines until nobody writes any more. A line that is too long is split.
    pub(crate) async fn take(self, mut from: impl AsyncRead + Unpin, secrets: Secrets) {
        let (mut buffer, mut begun) = (vec![0; READ_BYTES], Vec::new());
        let push = |bytes: &[u8]| {
            let line = secrets.hide(plain(&String::from_utf8_lossy(bytes), LINE_BYTES_MAX));
            if !line.is_empty() {
                self.push(line);
            }
        };
        loop {
            let count = from.read(&mut buffer).await.unwrap_or(0);
            if count == 0 {
                return push(&begun);
            }
            for byte in &buffer[..count] {
                if *byte == b'\n' || begun.len() >= LINE_BYTES_MAX {
                    push(&begun);
                    begun.clear();
                }
                if *byte != b'\n' {
                    begun.push(*byte);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_newest_lines_are_kept_and_no_line_fills_the_memory() {
        let log = Log::default();
        let endless = vec![b'x'; 10 * LOG_BYTES_MAX];
        log.clone().take(endless.as_slice(), Secrets::default()).await;
        assert!(log.text().len() <= LOG_BYTES_MAX + LINE_BYTES_MAX, "{}", log.text().len());
        log.clone().take(&b"one\n\x1b[31mkey hunter22\xff\n"[..], Secrets::new(vec!["hunter22".into()])).await;
        assert_eq!(log.last().unwrap(), "key [hidden]\u{fffd}");
        assert!(log.text().ends_with("one\nkey [hidden]\u{fffd}\n"));
    }
}
