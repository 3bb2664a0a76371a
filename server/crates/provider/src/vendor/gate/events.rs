//! Bytes of a stream to whole events, each looked at once.
//!
//! What says nothing is not passed on: comments, which keep a connection awake, become one for each portion, and so does whatever
//! is no event at all.

use super::{
    super::bounds::{ANSWER_BYTES_MAX, EVENT_BYTES_MAX, EVENTS_MAX, TooMuch},
    Shape,
};

/// Stands for all comments of a portion: the connection is alive.
const ALIVE: &[u8] = b":\n\n";
/// Stands for what is no event: the library is to see that something came.
const NO_EVENT: &[u8] = b"?\n\n";

/// A stream as it comes in.
#[derive(Debug)]
pub(super) struct Events {
    shape: Shape,
    /// The line that has not ended.
    line: Vec<u8>,
    /// The last byte was a carriage return: a line feed after it ends no further line.
    after_return: bool,
    /// The event that has not ended.
    event: Vec<u8>,
    has_data: bool,
    /// Lines without a name before a colon were seen in the event.
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

    /// What may go on.
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

    /// What is left when nothing more comes.
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
            // Only a line of nothing ends an event.
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

/// What goes on of one portion.
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
