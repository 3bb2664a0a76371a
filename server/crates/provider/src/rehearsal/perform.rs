//! Performs the rest of a script, event by event.

use std::time::Duration;

use protocol::{Message, Usage};
use tokio::time::Instant;

use super::{
    bytes,
    script::{Line, stream_word},
};
use crate::{FinishReason, ModelEvent, ProviderError, ProviderErrorCode, request::first_free_call_number};

/// Yields to other tasks after this many words without a pause.
const WORDS_PER_TURN: u64 = 64;

type Item = Result<ModelEvent, ProviderError>;

/// One answer.
#[derive(Debug)]
pub(super) struct Performance {
    lines: std::iter::Peekable<std::vec::IntoIter<Line>>,
    now: Now,
    /// Whether text was emitted, so that the next line begins with a newline; likewise for reasoning.
    has_said: bool,
    has_thought: bool,
    /// The number of calls in this answer.
    calls: usize,
    call_number: usize,
    words: u64,
    input: u64,
}

/// What it is in the middle of.
#[derive(Debug)]
enum Now {
    Next,
    Saying {
        text: String,
        from: usize,
        as_thought: bool,
    },
    Streaming {
        words: u64,
        per_second: f64,
        number: u64,
        since: Instant,
    },
    /// The chunks of the call's arguments were emitted, the call itself was not yet.
    Calling(ModelEvent),
    /// The usage was emitted, the end was not yet.
    Finishing,
    Ended,
}

impl Performance {
    pub(super) fn new(lines: Vec<Line>, messages: &[Message]) -> Self {
        Self {
            lines: lines.into_iter().peekable(),
            now: Now::Next,
            has_said: false,
            has_thought: false,
            calls: 0,
            call_number: first_free_call_number(messages),
            words: 0,
            input: bytes(messages).div_ceil(4) as u64,
        }
    }

    pub(super) async fn next(mut self) -> Option<(Item, Self)> {
        loop {
            match std::mem::replace(&mut self.now, Now::Ended) {
                Now::Next => {
                    if let Some(item) = self.begin().await {
                        return Some((item, self));
                    }
                }
                Now::Saying { text, from, as_thought } => {
                    let Some(end) = word_end(&text, from) else {
                        self.now = Now::Next;
                        continue;
                    };
                    let piece = text[from..end].to_owned();
                    let event = self.word(piece, from == 0, as_thought);
                    self.now = Now::Saying { text, from: end, as_thought };
                    self.take_turns().await;
                    return Some((Ok(event), self));
                }
                Now::Streaming { words, number, .. } if number > words => self.now = Now::Next,
                Now::Streaming { words, per_second, number, since } => {
                    if per_second > 0.0 {
                        tokio::time::sleep_until(since + Duration::from_secs_f64((number - 1) as f64 / per_second))
                            .await;
                    }
                    let space = if number == 1 { "" } else { " " };
                    let event = self.word(format!("{space}{}", stream_word(number)), number == 1, false);
                    self.now = Now::Streaming { words, per_second, number: number + 1, since };
                    self.take_turns().await;
                    return Some((Ok(event), self));
                }
                Now::Calling(call) => {
                    self.calls += 1;
                    // Consecutive calls form one turn, and a turn ends with its calls.
                    let goes_on = matches!(self.lines.peek(), Some(Line::Call { .. }));
                    if !goes_on {
                        self.lines = Vec::new().into_iter().peekable();
                    }
                    self.now = Now::Next;
                    return Some((Ok(call), self));
                }
                Now::Finishing => {
                    let reason = if self.calls > 0 { FinishReason::ToolCalls } else { FinishReason::Stop };
                    return Some((Ok(ModelEvent::Finished { reason }), self));
                }
                Now::Ended => return None,
            }
        }
    }

    /// Begins the next line, or the end if there is none.
    async fn begin(&mut self) -> Option<Item> {
        let Some(line) = self.lines.next() else {
            self.now = Now::Finishing;
            return Some(Ok(ModelEvent::Usage(self.usage())));
        };
        self.now = match line {
            Line::Say(text) => Now::Saying { text, from: 0, as_thought: false },
            Line::Think(text) => Now::Saying { text, from: 0, as_thought: true },
            Line::Stream { words, per_second } => {
                Now::Streaming { words, per_second, number: 1, since: Instant::now() }
            }
            Line::Wait(silence) => {
                tokio::time::sleep(silence).await;
                Now::Next
            }
            Line::Fail(status) => return Some(Err(failure(status))),
            Line::Call { name, arguments } => {
                let index = self.calls;
                let pieces = ModelEvent::ToolArgs { index, name: name.clone(), text: arguments.to_string() };
                let call_id = format!("call_{}", self.call_number + index);
                self.now = Now::Calling(ModelEvent::ToolCall { index, call_id, name, arguments });
                return Some(Ok(pieces));
            }
        };
        None
    }

    /// A word as an event; the first one of a line is preceded by a newline if there was a line before.
    fn word(&mut self, word: String, is_first: bool, as_thought: bool) -> ModelEvent {
        self.words += 1;
        let has_begun = if as_thought { &mut self.has_thought } else { &mut self.has_said };
        let word = match is_first && std::mem::replace(has_begun, true) {
            true => format!("\n{word}"),
            false => word,
        };
        if as_thought { ModelEvent::Reasoning(word) } else { ModelEvent::Text(word) }
    }

    async fn take_turns(&self) {
        if self.words.is_multiple_of(WORDS_PER_TURN) {
            tokio::task::yield_now().await;
        }
    }

    /// An estimate: four bytes of input are a token, and each word of output is one.
    fn usage(&self) -> Usage {
        let (input, output) = (self.input, self.words);
        Usage { input, output, context_used: input + output, ..Usage::default() }
    }
}

/// The end of the next word from `from` on, including the white space before it; `None` after the last.
fn word_end(text: &str, from: usize) -> Option<usize> {
    let rest = &text[from..];
    let start = rest.find(|character: char| !character.is_whitespace())?;
    let length = rest[start..].find(char::is_whitespace).unwrap_or(rest.len() - start);
    Some(from + start + length)
}

fn failure(status: u16) -> ProviderError {
    let code = ProviderErrorCode::of_status(status);
    ProviderError::new(code, format!("rehearsal: HTTP status {status}, as the script asked for"))
}
