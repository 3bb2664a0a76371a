//! What is kept of a command's output: its beginning and end for the model, and all of it in a file if it is longer
//! than that.

use std::path::{Path, PathBuf};

use tokio::{
    fs::{DirBuilder, File, OpenOptions, remove_file},
    io::{self, AsyncWriteExt},
};

use super::text::{Decoder, head_chars, tail_chars};

/// The most characters of output that a model gets.
pub(super) const CONTENT_CHARS_MAX: usize = 30_000;
/// When something is left out: the characters from the beginning, and from the end, where errors usually are.
const HEAD_CHARS: usize = 10_000;
const TAIL_CHARS: usize = 19_700;
/// The most bytes of output; a command that writes more is ended.
pub(super) const OUTPUT_BYTES_MAX: u64 = 50 * 1024 * 1024;

/// Collects the output as it arrives.
#[derive(Debug)]
pub(super) struct Kept {
    decoder: Decoder,
    /// The first [`CONTENT_CHARS_MAX`] characters.
    head: String,
    head_chars: usize,
    /// What came after those; at least the last [`TAIL_CHARS`] characters of it.
    tail: String,
    chars: usize,
    lines: usize,
    ends_in_line: bool,
    bytes: u64,
    file: Spill,
}

impl Kept {
    pub(super) fn new(folder: &Path, call_id: &str) -> Self {
        let file =
            Spill { path: file_of(folder, call_id), early: Vec::new(), file: None, is_made: false, has_failed: false };
        Self {
            decoder: Decoder::default(),
            head: String::new(),
            head_chars: 0,
            tail: String::new(),
            chars: 0,
            lines: 0,
            ends_in_line: false,
            bytes: 0,
            file,
        }
    }

    /// Adds bytes. Returns their text, and whether there is room for more.
    pub(super) async fn push(&mut self, bytes: &[u8]) -> (String, bool) {
        let room = OUTPUT_BYTES_MAX - self.bytes;
        let taken = &bytes[..bytes.len().min(usize::try_from(room).unwrap_or(usize::MAX))];
        self.bytes += taken.len() as u64;
        self.file.push(taken).await;
        let text = self.decoder.push(taken);
        self.take(&text);
        (text, taken.len() == bytes.len())
    }

    fn take(&mut self, text: &str) {
        let Some(last) = text.chars().next_back() else {
            return;
        };
        self.chars += text.chars().count();
        self.lines += text.matches('\n').count();
        self.ends_in_line = last != '\n';
        let first = head_chars(text, CONTENT_CHARS_MAX - self.head_chars);
        self.head.push_str(first);
        self.head_chars += first.chars().count();
        self.tail.push_str(&text[first.len()..]);
        // A character has at most four bytes, so at least half of this stays.
        if self.tail.len() > 16 * TAIL_CHARS {
            self.tail = tail_chars(&self.tail, TAIL_CHARS).to_owned();
        }
    }

    pub(super) fn lines(&self) -> usize {
        self.lines + usize::from(self.ends_in_line)
    }

    /// The content for a model, with `name` as the place of the rest; and the last of the text, which may be invalid
    /// UTF-8.
    pub(super) async fn finish(mut self, name: &str) -> (String, String) {
        let last = self.decoder.finish();
        self.take(&last);
        if self.chars <= CONTENT_CHARS_MAX {
            self.file.discard().await;
            return (self.head, last);
        }
        let is_kept = self.file.finish().await;
        let whole = self.head + &self.tail;
        let left_out = self.chars - HEAD_CHARS - TAIL_CHARS;
        let rest = match is_kept {
            true => format!("Read {{\"path\":\"{name}\"}} shows all"),
            false => "they could not be kept".to_owned(),
        };
        let (head, tail) = (head_chars(&whole, HEAD_CHARS), tail_chars(&whole, TAIL_CHARS));
        let (before, after) =
            (if head.ends_with('\n') { "" } else { "\n" }, if tail.starts_with('\n') { "" } else { "\n" });
        (format!("{head}{before}[{left_out} characters left out; {rest}]{after}{tail}"), last)
    }
}

/// The file with a call's whole output. Ids are made by the server from letters, digits and `-`; any other has no file.
fn file_of(folder: &Path, call_id: &str) -> Option<PathBuf> {
    let is_id = !call_id.is_empty() && call_id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    is_id.then(|| folder.join(call_id))
}

/// A file that is created when it is needed.
#[derive(Debug)]
struct Spill {
    path: Option<PathBuf>,
    /// As much as fits into the content if every byte is a character.
    early: Vec<u8>,
    file: Option<File>,
    is_made: bool,
    has_failed: bool,
}

impl Spill {
    async fn push(&mut self, bytes: &[u8]) {
        if self.has_failed || bytes.is_empty() {
            return;
        }
        let is_short = self.file.is_none() && self.early.len() + bytes.len() <= CONTENT_CHARS_MAX;
        if is_short {
            self.early.extend_from_slice(bytes);
        } else if let Err(error) = self.write(bytes).await {
            tracing::warn!(%error, "the output of a command is not kept");
            self.discard().await;
            self.has_failed = true;
        }
    }

    async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut file = match self.file.take() {
            Some(file) => file,
            None => self.create().await?,
        };
        file.write_all(&std::mem::take(&mut self.early)).await?;
        file.write_all(bytes).await?;
        self.file = Some(file);
        Ok(())
    }

    async fn create(&mut self) -> io::Result<File> {
        let path = self.path.as_ref().ok_or(io::ErrorKind::InvalidFilename)?;
        if let Some(folder) = path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder).await?;
        }
        // A file of this name is a leftover of a crashed run, or something else entirely.
        remove_file(path).await.or_else(|error| match error.kind() {
            io::ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        })?;
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).await?;
        self.is_made = true;
        Ok(file)
    }

    /// Returns true if all of it is in the file.
    async fn finish(mut self) -> bool {
        let flushed = match self.file.as_mut() {
            Some(file) => file.flush().await,
            None => return false,
        };
        flushed.inspect_err(|error| tracing::warn!(%error, "the output of a command is not kept")).is_ok()
    }

    async fn discard(&mut self) {
        self.file = None;
        if self.is_made
            && let Some(path) = &self.path
        {
            let _ = remove_file(path).await;
        }
    }
}
