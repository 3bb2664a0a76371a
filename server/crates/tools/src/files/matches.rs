//! Formats matching lines: `path:12: text`, and `path-11- text` for the lines around them.

use std::io;

use grep_searcher::{Searcher, Sink, SinkContext, SinkMatch};

use super::page::cut;

/// The most characters of a line that are shown.
const LINE_CHARS_MAX: usize = 500;

/// The most bytes that a search returns.
const OUTPUT_BYTES_MAX: usize = 100 * 1024;

/// What has been found so far.
#[derive(Debug)]
pub(super) struct Matches {
    pub(super) text: String,
    pub(super) lines: usize,
    pub(super) files: usize,
    lines_max: usize,
    /// Why no more is collected.
    pub(super) end: Option<End>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Limit,
    Size,
}

impl Matches {
    pub(super) fn new(lines_max: usize) -> Self {
        Self { text: String::new(), lines: 0, files: 0, lines_max, end: None }
    }

    /// Collects one file's lines. They are kept only if the file turns out to be text.
    pub(super) fn file<'a>(&'a mut self, shown: &'a str) -> FileMatches<'a> {
        FileMatches { shown, text: String::new(), lines: 0, is_binary: false, matches: self }
    }
}

/// The lines of one file.
#[derive(Debug)]
pub(super) struct FileMatches<'a> {
    shown: &'a str,
    text: String,
    lines: usize,
    is_binary: bool,
    matches: &'a mut Matches,
}

impl FileMatches<'_> {
    /// Adds what was found to the result.
    pub(super) fn keep(self) {
        if self.is_binary {
            self.matches.end = None;
            return;
        }
        if self.lines == 0 {
            return;
        }
        if !self.matches.text.is_empty() {
            self.matches.text.push('\n');
        }
        self.matches.text.push_str(&self.text);
        self.matches.lines += self.lines;
        self.matches.files += 1;
    }

    fn print(&mut self, mark: char, number: Option<u64>, bytes: &[u8]) -> bool {
        let line = String::from_utf8_lossy(bytes);
        let line = cut(line.trim_end_matches(['\n', '\r']), LINE_CHARS_MAX);
        let line = format!("{}{mark}{}{mark} {line}\n", self.shown, number.unwrap_or(0));
        if self.matches.text.len() + self.text.len() + line.len() > OUTPUT_BYTES_MAX {
            self.matches.end = Some(End::Size);
            return false;
        }
        self.text.push_str(&line);
        true
    }
}

impl Sink for FileMatches<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        if self.matches.lines + self.lines == self.matches.lines_max {
            self.matches.end = Some(End::Limit);
            return Ok(false);
        }
        let goes_on = self.print(':', found.line_number(), found.bytes());
        self.lines += usize::from(goes_on);
        Ok(goes_on)
    }

    fn context(&mut self, _: &Searcher, around: &SinkContext<'_>) -> Result<bool, io::Error> {
        Ok(self.print('-', around.line_number(), around.bytes()))
    }

    fn context_break(&mut self, _: &Searcher) -> Result<bool, io::Error> {
        self.text.push_str("--\n");
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> Result<bool, io::Error> {
        self.is_binary = true;
        Ok(false)
    }
}
