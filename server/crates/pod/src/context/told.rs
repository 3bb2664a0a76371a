//! Renders a conversation as one text of limited length, for a summary when the whole is too long for the model.

use std::{borrow::Cow, collections::VecDeque};

use protocol::{Message, Role};

use super::prompt;

/// A single message takes at most this fraction of the text.
const PIECE_DIVISOR: usize = 4;

/// The newest messages that fit into `bytes_max`, long ones shortened, preceded by an earlier summary if there is one.
pub(super) fn told(messages: &[Message], bytes_max: usize) -> String {
    let piece_max = bytes_max / PIECE_DIVISOR;
    let (summary, rest) = match messages.split_first() {
        Some((first, rest)) if is_summary(first) => (Some(piece(first, piece_max)), rest),
        _ => (None, messages),
    };
    let mut left = bytes_max - summary.as_ref().map_or(0, String::len).min(bytes_max);
    let mut pieces = VecDeque::new();
    for message in rest.iter().rev() {
        let piece = piece(message, piece_max);
        let Some(less) = left.checked_sub(piece.len() + 1) else { break };
        left = less;
        pieces.push_front(piece);
    }
    let left_out = match rest.len() - pieces.len() {
        0 => None,
        count => Some(format!("[{count} messages left out]")),
    };
    summary.into_iter().chain(left_out).chain(pieces).collect::<Vec<_>>().join("\n")
}

/// The replacement for messages that no model could summarise.
pub(super) fn without_summary(messages: &[Message], bytes_max: usize) -> String {
    let (summary, count) = match messages.split_first() {
        Some((first, rest)) if is_summary(first) => {
            let text = first.content.trim_start_matches(prompt::SUMMARY_HEADER).trim_start();
            (Some(cut(text, bytes_max).into_owned()), rest.len())
        }
        _ => (None, messages.len()),
    };
    let note = (count > 0).then(|| {
        format!("[{count} messages were left out here: they did not fit into the model's context, not even to be summarised]")
    });
    summary.into_iter().chain(note).collect::<Vec<_>>().join("\n")
}

pub(super) fn is_summary(message: &Message) -> bool {
    message.role == Role::User && message.content.starts_with(prompt::SUMMARY_HEADER)
}

fn piece(message: &Message, bytes_max: usize) -> String {
    let who = match message.role {
        Role::System => "instructions",
        Role::User => "user",
        Role::Assistant => "model",
        Role::Tool => "result",
    };
    let calls = message.tool_calls.iter().map(|call| format!("\n[called {} {}]", call.name, call.arguments));
    let whole = format!("{who}: {}{}", message.content, calls.collect::<String>());
    cut(&whole, bytes_max).into_owned()
}

fn cut(text: &str, bytes_max: usize) -> Cow<'_, str> {
    without_middle(text, bytes_max, |bytes| format!(" [{bytes} bytes left out] "))
}

/// The beginning and the end of a text that is longer than `bytes_max`, with a note in between about how many bytes are
/// left out.
pub(super) fn without_middle(text: &str, bytes_max: usize, left_out: impl Fn(usize) -> String) -> Cow<'_, str> {
    if text.len() <= bytes_max {
        return text.into();
    }
    let head = &text[..text.floor_char_boundary(bytes_max / 3)];
    let tail = &text[text.ceil_char_boundary(text.len() - bytes_max / 2)..];
    let middle = left_out(text.len() - head.len() - tail.len());
    format!("{head}{middle}{tail}").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn say(text: &str) -> Message {
        Message::new(Role::User, text)
    }

    #[test]
    fn the_newest_messages_and_an_earlier_summary_are_told() {
        let summary = say(&format!("{}\nthe beginning", prompt::SUMMARY_HEADER));
        let messages = [summary, say("old"), say(&"long ".repeat(40)), say("new")];
        let whole = told(&messages, 10_000);
        assert_eq!(whole.lines().count(), 5, "{whole}");
        let short = told(&messages, 400);
        assert!(short.starts_with("user: [summary of what came before]\nthe beginning\n"), "{short}");
        assert!(short.contains("bytes left out") && short.ends_with("user: new"), "{short}");
        let shorter = told(&messages, 90);
        assert!(shorter.contains("messages left out]") && shorter.ends_with("user: new"), "{shorter}");
        assert!(told(&messages, 0).contains("[3 messages left out]"));
    }

    #[test]
    fn without_a_summary_the_earlier_one_stays() {
        let summary = say(&format!("{}\nthe beginning", prompt::SUMMARY_HEADER));
        let text = without_summary(&[summary, say("a"), say("b")], 100);
        assert!(text.starts_with("the beginning\n[2 messages"), "{text}");
    }
}
