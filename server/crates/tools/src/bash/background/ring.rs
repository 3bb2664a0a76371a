//! The newest part of an output, with the number of bytes that came before it.

/// How much is kept at least, in bytes; at most twice that.
pub(super) const KEPT_BYTES: usize = 256 * 1024;
/// How much is kept once nothing more is written.
const ENDED_BYTES: usize = 64 * 1024;

/// Text that grows at its end and is forgotten at its beginning. Positions count from the beginning of the whole text.
#[derive(Debug, Default)]
pub(super) struct Ring {
    text: String,
    /// The bytes before it.
    start: u64,
}

/// A part of the text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) text: String,
    /// Where the part begins, and where to continue.
    pub(super) from: u64,
    pub(super) next: u64,
    /// The bytes that were asked for and are no longer kept.
    pub(super) dropped: u64,
}

impl Ring {
    pub(super) fn push(&mut self, text: &str) {
        self.text.push_str(text);
        if self.text.len() > 2 * KEPT_BYTES {
            self.cut_to(KEPT_BYTES);
        }
    }

    /// Nothing more is written: keeps less, and no room for more.
    pub(super) fn finish(&mut self) {
        self.cut_to(ENDED_BYTES);
        self.text.shrink_to_fit();
    }

    fn cut_to(&mut self, bytes: usize) {
        let cut = self.text.floor_char_boundary(self.text.len().saturating_sub(bytes));
        self.text.drain(..cut);
        self.start += cut as u64;
    }

    /// The length of the whole text in bytes.
    pub(super) fn end(&self) -> u64 {
        self.start + self.text.len() as u64
    }

    /// What comes after a position: the first `bytes_max` bytes of it.
    pub(super) fn after(&self, after: u64, bytes_max: usize) -> Part {
        let after = after.min(self.end());
        let at = self.text.floor_char_boundary(usize::try_from(after.saturating_sub(self.start)).unwrap_or(0));
        let to = self.text.floor_char_boundary(at.saturating_add(bytes_max));
        Part {
            text: self.text[at..to].to_owned(),
            from: self.start + at as u64,
            next: self.start + to as u64,
            dropped: self.start.saturating_sub(after),
        }
    }

    /// The end of what comes after a position: the last `bytes_max` bytes of it.
    pub(super) fn newest(&self, after: u64, bytes_max: usize) -> Part {
        let earliest = self.end().saturating_sub(bytes_max as u64).max(after);
        let part = self.after(earliest, bytes_max.max(4) + 4);
        Part { dropped: part.from.saturating_sub(after), ..part }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_longer_kept_is_counted() {
        let mut ring = Ring::default();
        ring.push("a€b\n");
        assert_eq!(ring.after(1, 10), Part { text: "€b\n".to_owned(), from: 1, next: 6, dropped: 0 });
        assert_eq!(ring.after(2, 3), Part { text: "€".to_owned(), from: 1, next: 4, dropped: 0 });
        assert_eq!(ring.after(99, 3), Part { text: String::new(), from: 6, next: 6, dropped: 0 });
        ring.push(&"x".repeat(2 * KEPT_BYTES));
        let part = ring.after(1, 2);
        let start = 6 + KEPT_BYTES as u64;
        assert_eq!(part, Part { text: "xx".to_owned(), from: start, next: start + 2, dropped: start - 1 });
        assert_eq!(ring.end(), 6 + 2 * KEPT_BYTES as u64);
        let newest = ring.newest(1, 5);
        assert_eq!((newest.text.as_str(), newest.next), ("xxxxx", ring.end()));
        assert_eq!(newest.dropped, ring.end() - 5 - 1);
        assert_eq!(ring.newest(ring.end(), 5).text, "");
        ring.finish();
        assert_eq!((ring.text.len(), ring.text.capacity()), (ENDED_BYTES, ENDED_BYTES));
        assert_eq!(ring.end(), 6 + 2 * KEPT_BYTES as u64);
    }
}
