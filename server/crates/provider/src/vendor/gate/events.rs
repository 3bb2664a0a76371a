//! Splits a stream's bytes into complete events, looking at each byte once.
//!
//! Noise is condensed: all comments of a chunk, which keep a connection alive, become one, and so does whatever is
//! not an event at all.

use super::{
    super::bounds::{ANSWER_BYTES_MAX, EVENT_BYTES_MAX, EVENTS_MAX, TooMuch},
    Shape,
};

/// Stands for all comments in a chunk: the connection is alive.
const ALIVE: &[u8] = b":\n\n";
/// Stands for anything that is not an event, so that the library sees that something came.
const NO_EVENT: &[u8] = b"?\n\n";

/// An incoming stream.
#[derive(Debug)]
pub(super) struct Events {
    shape: Shape,
    /// The line that has not ended yet.
    line: Vec<u8>,
    /// Whether the last byte was a carriage return, so that a line feed after it does not end another line.
    after_return: bool,
    /// The event that has not ended yet.
    event: Vec<u8>,
    has_data: bool,
    /// Whether the event had lines that are not `name:value`.
    is_strange: bool,
    bytes: usize,
    events: usize,
}

impl Events {
    pub(super) fn new(shape: Shape) -> Self {
        Self {
            shape,
            line: Vec::new(),
            after_return: false,
            event: Vec::new(),
            has_data: false,
            is_strange: false,
            bytes: 0,
            events: 0,
        }
    }

    /// Takes a chunk; returns what may be passed on.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<Vec<u8>, TooMuch> {
        self.bytes += bytes.len();
        if self.bytes > ANSWER_BYTES_MAX {
            return Err(TooMuch::Answer);
        }
        let mut out = Portion::default();
        let mut rest = bytes;
        while !rest.is_empty() {
            if std::mem::take(&mut self.after_return) && rest[0] == b'\n' {
                rest = &rest[1..];
                continue;
            }
            match rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
                Some(end) => {
                    self.grow(&rest[..end])?;
                    self.after_return = rest[end] == b'\r' && self.shape == Shape::Events;
                    rest = &rest[end + 1..];
                    self.end_line(&mut out)?;
                }
                None => {
                    self.grow(rest)?;
                    rest = &[];
                }
            }
        }
        Ok(out.close())
    }

    /// Returns what is left at the end of the stream.
    pub(super) fn end(&mut self) -> Result<Vec<u8>, TooMuch> {
        let mut out = Portion::default();
        self.end_line(&mut out)?;
        if self.shape == Shape::Events {
            self.end_event(&mut out)?;
        }
        Ok(out.close())
    }

    fn grow(&mut self, bytes: &[u8]) -> Result<(), TooMuch> {
        if self.line.len() + self.event.len() + bytes.len() > EVENT_BYTES_MAX {
            return Err(TooMuch::Event);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self, out: &mut Portion) -> Result<(), TooMuch> {
        let line = std::mem::take(&mut self.line);
        if self.shape == Shape::Lines {
            if !line.trim_ascii().is_empty() {
                self.count()?;
                out.events.extend_from_slice(&line);
                out.events.push(b'\n');
            }
            return Ok(());
        }
        match line.trim_ascii() {
            // Only a completely empty line ends an event.
            b"" if line.is_empty() => return self.end_event(out),
            b"" => (),
            [b':', ..] => out.is_alive = true,
            text if text.starts_with(b"data:") || text.starts_with(b"event:") => {
                self.has_data |= text.starts_with(b"data:");
                self.event.extend_from_slice(text);
                self.event.push(b'\n');
            }
            text if text.starts_with(b"id:") || text.starts_with(b"retry:") => (),
            _ => self.is_strange = true,
        }
        Ok(())
    }

    fn end_event(&mut self, out: &mut Portion) -> Result<(), TooMuch> {
        let event = std::mem::take(&mut self.event);
        let is_strange = std::mem::take(&mut self.is_strange);
        if std::mem::take(&mut self.has_data) {
            self.count()?;
            out.events.extend_from_slice(&event);
            out.events.push(b'\n');
        } else {
            out.is_strange |= is_strange;
        }
        Ok(())
    }

    fn count(&mut self) -> Result<(), TooMuch> {
        self.events += 1;
        if self.events > EVENTS_MAX { Err(TooMuch::Events) } else { Ok(()) }
    }
}

/// What is passed on from one chunk.
#[derive(Default)]
struct Portion {
    events: Vec<u8>,
    is_alive: bool,
    is_strange: bool,
}

impl Portion {
    fn close(self) -> Vec<u8> {
        let mut bytes = self.events;
        if self.is_strange {
            bytes.extend_from_slice(NO_EVENT);
        }
        if self.is_alive && bytes.is_empty() {
            bytes.extend_from_slice(ALIVE);
        }
        bytes
    }
}

#[cfg(test)]
#[path = "events_tests.rs"]
mod tests;
