//! Computes from the messages alone where to continue in the script.
//!
//! The script is matched against what the model has said since. A line is done when its whole text is there; a line
//! without text, when a later line is done. The first line that is not done starts again from its beginning.

use protocol::{Attachment, Message, Role};

use super::{
    demo,
    script::{Line, parse},
};
use crate::{Attached, Held, called};

/// How a peer's message begins in the context; this header is a line of its own.
const PEER_HEADER: &str = "[peer message from ";
/// How texts begin that are not messages to act on: news of a child, and the summary left by compacting.
const NEWS_HEADERS: [&str; 2] = ["[child event]", "[summary of what came before]"];

/// What is left to do.
#[derive(Debug, PartialEq)]
pub(super) struct Rest {
    pub(super) lines: Vec<Line>,
}

impl Rest {
    pub(super) fn of(messages: &[Message], attached: &Attached) -> Self {
        let Some(at) = messages.iter().rposition(is_script) else { return Self { lines: Vec::new() } };
        let peer_text = messages.iter().rev().find_map(peer_text);
        let since = &messages[at + 1..];
        let from_peer = self::peer_text(&messages[at]);
        // The demo reports its results itself.
        let is_demo = from_peer.is_none() && demo::is_asked(&messages[at].content);
        let mut lines = match is_demo {
            true => demo::lines(since),
            false => {
                let script = from_peer.unwrap_or(&messages[at].content);
                let own = own_lines(script, &messages[at].attachments);
                seen(&messages[at], attached).into_iter().chain(parse(&own, peer_text)).collect()
            }
        };
        for (offset, message) in since.iter().enumerate().filter(|(_, message)| message.role == Role::Assistant) {
            let reports = if is_demo { Vec::new() } else { reports(message, &since[offset + 1..], attached) };
            go_on(&mut lines, message, reports);
        }
        Self { lines }
    }
}

fn is_script(message: &Message) -> bool {
    message.role == Role::User && !NEWS_HEADERS.iter().any(|header| message.content.starts_with(header))
}

/// The text below the header, if a peer sent the message.
fn peer_text(message: &Message) -> Option<&str> {
    if message.role != Role::User || !message.content.starts_with(PEER_HEADER) {
        return None;
    }
    let (header, text) = message.content.split_once('\n').unwrap_or((&message.content, ""));
    header.trim_end().ends_with(']').then_some(text)
}

/// Removes the lines that this message has performed, and inserts reports on the results of its calls.
fn go_on(lines: &mut Vec<Line>, message: &Message, reports: Vec<Line>) {
    let (done, calls_left) = done_by(lines, message);
    lines.drain(..done);
    let mut at = 0;
    // A call is never repeated, even if what precedes it was not said or reads differently now.
    for _ in 0..calls_left {
        let Some(position) = lines.iter().position(|line| matches!(line, Line::Call { .. })) else { break };
        if message.content.trim().is_empty() {
            lines.remove(position);
            at = position;
        } else {
            lines.drain(..=position);
        }
    }
    lines.splice(at..at, reports);
}

/// How many lines from the start this message has completed, and how many of its calls belong to none of them.
fn done_by(lines: &[Line], message: &Message) -> (usize, usize) {
    let mut said = Spoken(&message.content);
    let mut thought = Spoken(message.reasoning.as_deref().unwrap_or_default());
    let mut calls = message.tool_calls.len();
    let mut done = 0;
    for (position, line) in lines.iter().enumerate() {
        match line {
            Line::Say(_) | Line::Stream { .. } => {
                if !line.text().is_some_and(|text| said.take(&text)) {
                    break;
                }
                done = position + 1;
            }
            Line::Think(text) if thought.take(text) => done = position + 1,
            Line::Call { .. } => {
                if calls == 0 {
                    break;
                }
                calls -= 1;
                done = position + 1;
            }
            Line::Think(_) | Line::Wait(_) | Line::Fail(_) => (),
        }
    }
    (done, calls)
}

/// The rest of a text that was said line by line.
struct Spoken<'a>(&'a str);

impl Spoken<'_> {
    /// Removes `line` from the beginning, if it is there in full.
    fn take(&mut self, line: &str) -> bool {
        let rest = self.0.trim_start_matches('\n');
        match rest.strip_prefix(line) {
            Some(after) if after.is_empty() || after.starts_with('\n') => {
                self.0 = after;
                true
            }
            _ => false,
        }
    }
}

/// Reports on the results of a turn's calls, in the order of the calls.
fn reports(message: &Message, after: &[Message], attached: &Attached) -> Vec<Line> {
    let results: Vec<_> = after.iter().take_while(|message| message.role != Role::Assistant).collect();
    message
        .tool_calls
        .iter()
        .filter_map(|call| {
            let is_result = |result: &&&Message| {
                result.role == Role::Tool && result.call_id.as_deref() == Some(call.call_id.as_str())
            };
            let result = results.iter().find(is_result)?;
            let summary = result.content.lines().next().unwrap_or_default();
            let report = Line::Say(format!("{}: {summary}", call.name).trim_end().to_owned());
            Some(std::iter::once(report).chain(seen(result, attached)))
        })
        .flatten()
        .collect()
}

/// A line about a message's attachments: what each is, as far as the model received it.
fn seen(message: &Message, attached: &Attached) -> Option<Line> {
    let one = |attachment: &Attachment| {
        let (name, media_type) = (called(attachment), &attachment.media_type);
        match attached.find(&attachment.blob) {
            Some(Held::Picture(bytes) | Held::Document(bytes)) => {
                format!("{name} ({media_type}, {} bytes)", bytes.len())
            }
            Some(Held::Text(text, _)) => format!("{name} ({} bytes of text)", text.len()),
            Some(Held::Not(why)) => format!("{name} in words alone: {why}"),
            None => format!("{name}, which is not kept here"),
        }
    };
    let all: Vec<String> = message.attachments.iter().map(one).collect();
    (!all.is_empty()).then(|| Line::Say(format!("I was sent {}.", all.join(", "))))
}

/// The script without the lines that stand for its attachments.
fn own_lines(script: &str, attachments: &[Attachment]) -> String {
    let stands_for =
        |line: &str| ["[image", "[file "].iter().any(|begins| line.starts_with(begins)) && line.ends_with(']');
    let is_own = |line: &&str| attachments.is_empty() || !stands_for(line.trim());
    script.split('\n').filter(is_own).collect::<Vec<_>>().join("\n")
}
