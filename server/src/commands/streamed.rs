//! The records of one Pod as a person reads them while they come: text at once, everything else as a line when it is
//! complete.
//!
//! A block is printed once. Its end adds what its chunks did not contain, whatever was printed in between.

use std::collections::HashMap;

use jiff::Timestamp;
use protocol::{Event, Record, TurnEvent};

use super::record_line::{cut, indented, record_line, stamp};

/// What is on the screen of unfinished blocks.
#[derive(Debug, Default)]
pub(super) struct Streamed {
    /// Their text as far as it has been printed, by block.
    printed: HashMap<String, String>,
    /// The block whose unfinished line is the last one.
    open: Option<String>,
    /// Notes about the connection to print once the open line has ended.
    notes: Vec<String>,
}

/// What is printed next, and where: text on standard output, or a note on a line of its own on standard error.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    Note(String),
}

/// A block of text: an answer, or reasoning.
struct Said<'a> {
    who: &'static str,
    block: &'a str,
    text: &'a str,
    at: Timestamp,
}

impl Streamed {
    /// What to print for these records, including line ends.
    pub(super) fn take_all(&mut self, records: &[Record]) -> Vec<Piece> {
        let text: String = records.iter().map(|record| self.take(record)).collect();
        // Every line of a block but the first is indented, so after the notes the text simply continues.
        match text.find('\n').filter(|_| !self.notes.is_empty()) {
            Some(end) => {
                let (line, rest) = text.split_at(end + 1);
                self.parted(line, rest)
            }
            None => self.parted("", &text),
        }
    }

    /// Prints a note at the end of the open line, or at once if there is none.
    pub(super) fn note(&mut self, text: String) -> Vec<Piece> {
        self.notes.push(text);
        if self.open.is_some() { Vec::new() } else { self.parted("", "") }
    }

    /// Ends the open line, so that something else can be printed.
    pub(super) fn end(&mut self) -> Vec<Piece> {
        let line_end = self.break_off();
        self.parted(line_end, "")
    }

    /// The end of a line, then the pending notes, then what continues below. Until the line has ended, the notes stay
    /// pending.
    fn parted(&mut self, line: &str, rest: &str) -> Vec<Piece> {
        let is_at_end = !line.is_empty() || self.open.is_none();
        let notes = if is_at_end { std::mem::take(&mut self.notes) } else { Vec::new() };
        let text = |text: &str| (!text.is_empty()).then(|| Piece::Text(text.to_owned()));
        text(line).into_iter().chain(notes.into_iter().map(Piece::Note)).chain(text(rest)).collect()
    }

    fn take(&mut self, record: &Record) -> String {
        let at = record.at;
        match &record.event {
            Event::Turn(TurnEvent::TextChunk { block, text }) => self.more(&Said { who: "model", block, text, at }),
            Event::Turn(TurnEvent::ReasoningChunk { block, text }) => {
                self.more(&Said { who: "thought", block, text, at })
            }
            Event::Turn(TurnEvent::MessageFinished { block, text, interrupted }) if self.has(block) => {
                self.finish(&Said { who: "model", block, text, at }, *interrupted)
            }
            Event::Turn(TurnEvent::ReasoningFinished { block, text, interrupted, .. }) if self.has(block) => {
                self.finish(&Said { who: "thought", block, text, at }, *interrupted)
            }
            _ => record_line(record).map(|line| format!("{}{line}\n", self.break_off())).unwrap_or_default(),
        }
    }

    fn break_off(&mut self) -> &'static str {
        if self.open.take().is_some() { "\n" } else { "" }
    }

    fn has(&self, block: &str) -> bool {
        self.printed.contains_key(block)
    }

    fn more(&mut self, piece: &Said<'_>) -> String {
        let said = self.printed.get(piece.block).map_or("", String::as_str);
        // Trailing spaces and line ends are held back until something follows them: often nothing does.
        let whole = format!("{said}{}", piece.text);
        self.up_to(piece, &whole)
    }

    fn finish(&mut self, piece: &Said<'_>, interrupted: bool) -> String {
        let said = self.printed.get(piece.block).cloned().unwrap_or_default();
        let text = piece.text.trim_end();
        let mut out = match (text.starts_with(said.trim_end()), text.ends_with(said.trim_end())) {
            (true, _) => self.up_to(piece, text),
            // It began before the first record that was requested.
            (false, true) => String::new(),
            // The text differs from that of its chunks: print all of it on a line of its own.
            (false, false) => {
                self.printed.remove(piece.block);
                format!("{}{}", self.break_off(), self.up_to(piece, text))
            }
        };
        // If its line was broken off and nothing came since, the end of the run says it.
        if interrupted && self.open.is_some() {
            out.push_str(cut(true));
        }
        out.push_str(self.break_off());
        self.printed.remove(piece.block);
        out
    }

    /// Prints what is not yet printed of this block.
    fn up_to(&mut self, piece: &Said<'_>, whole: &str) -> String {
        let said = self.printed.get(piece.block).map_or("", String::as_str);
        let (shown, now) = (said.trim_end().len(), whole.trim_end().len());
        let news = whole.get(shown..now).unwrap_or_default();
        let out = match (news.is_empty(), self.open.as_deref() == Some(piece.block)) {
            (true, _) => String::new(),
            (false, true) => indented(news),
            (false, false) => {
                let before = if shown == 0 { "" } else { "… " };
                let line = format!("{}  {}: {before}{}", stamp(piece.at), piece.who, indented(news.trim_start()));
                let out = format!("{}{line}", self.break_off());
                self.open = Some(piece.block.to_owned());
                out
            }
        };
        self.printed.insert(piece.block.to_owned(), whole.to_owned());
        out
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn printed(events: &[Value]) -> String {
        let mut streamed = Streamed::default();
        let record = |event: &Value| {
            serde_json::from_value(json!({ "seq": 1, "at": "2026-01-02T03:04:05Z", "event": event })).unwrap()
        };
        events.iter().map(|event| streamed.take(&record(event))).collect()
    }

    fn chunk(block: &str, text: &str) -> Value {
        json!({ "kind": "text_chunk", "block": block, "text": text })
    }

    fn finished(block: &str, text: &str, interrupted: bool) -> Value {
        json!({ "kind": "message_finished", "block": block, "text": text, "interrupted": interrupted })
    }

    #[test]
    fn text_stands_there_as_it_comes_and_its_end_repeats_nothing() {
        let events =
            [chunk("b", "one "), chunk("b", "two\n"), chunk("b", "three"), finished("b", "one two\nthree.\n", false)];
        assert_eq!(printed(&events[..1]), "03:04:05  model: one");
        assert_eq!(printed(&events[..2]), "03:04:05  model: one two");
        assert_eq!(printed(&events), "03:04:05  model: one two\n          three.\n");
        assert_eq!(printed(&events), format!("{}\n", record_line_of(&events[3])), "as it stands in the log");
    }

    fn record_line_of(event: &Value) -> String {
        let record = json!({ "seq": 1, "at": "2026-01-02T03:04:05Z", "event": event });
        record_line(&serde_json::from_value(record).unwrap()).unwrap()
    }

    #[test]
    fn what_comes_between_has_a_line_of_its_own_and_the_text_goes_on_below() {
        let status = json!({ "kind": "status", "state": "paused" });
        let events = [chunk("b", "one"), status, chunk("b", " two"), finished("b", "one two three", true)];
        assert_eq!(
            printed(&events),
            "03:04:05  model: one\n03:04:05  — paused\n03:04:05  model: … two three … (interrupted)\n"
        );
    }

    #[test]
    fn a_note_waits_for_the_end_of_a_line_and_the_text_goes_on_below_it() {
        let mut streamed = Streamed::default();
        let all = |streamed: &mut Streamed, text: &str| {
            let record = json!({ "seq": 1, "at": "2026-01-02T03:04:05Z", "event": chunk("b", text) });
            streamed.take_all(&[serde_json::from_value(record).unwrap()])
        };
        let text = |text: &str| Piece::Text(text.to_owned());
        let back = || Piece::Note("back".to_owned());
        assert_eq!(all(&mut streamed, "one t"), [text("03:04:05  model: one t")]);
        assert_eq!(streamed.note("back".to_owned()), []);
        assert_eq!(all(&mut streamed, "wo"), [text("wo")]);
        assert_eq!(all(&mut streamed, " three\nfour"), [text(" three\n"), back(), text("          four")]);
        assert_eq!(streamed.note("back".to_owned()), []);
        assert_eq!(streamed.end(), [text("\n"), back()], "nothing is left unsaid at the end");
        assert_eq!(streamed.note("back".to_owned()), [back()]);
    }

    #[test]
    fn a_block_whose_beginning_was_not_asked_for_is_not_said_twice() {
        assert_eq!(printed(&[chunk("b", "two"), finished("b", "one two", false)]), "03:04:05  model: two\n");
        assert_eq!(printed(&[finished("b", "whole", false)]), "03:04:05  model: whole\n");
        assert_eq!(
            printed(&[chunk("b", "x"), finished("b", "another", false)]),
            "03:04:05  model: x\n03:04:05  model: another\n"
        );
    }
}
