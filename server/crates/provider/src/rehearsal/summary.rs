//! The rehearsal model's summary: how many messages of each kind, and how each one begins.

use protocol::{Message, Role};

use super::script::Line;

/// How many messages are listed individually; of more, the newest.
const NAMED_MAX: usize = 20;
const BEGINNING_CHARS_MAX: usize = 80;

/// Summarizes these messages, of which the newest is the request itself.
pub(super) fn lines(messages: &[Message]) -> Vec<Line> {
    let past = messages.split_last().map_or(messages, |(_, past)| past);
    let count = |role: Role| past.iter().filter(|message| message.role == role).count();
    let head = format!(
        "{} messages to the model, {} answers and {} tool results came before.",
        count(Role::User),
        count(Role::Assistant),
        count(Role::Tool)
    );
    let asked: Vec<&Message> = past.iter().filter(|message| message.role == Role::User).collect();
    let newest = &asked[asked.len().saturating_sub(NAMED_MAX)..];
    let named = newest.iter().map(|message| Line::Say(format!("- {}", beginning(&message.content))));
    std::iter::once(Line::Say(head)).chain(named).collect()
}

fn beginning(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(BEGINNING_CHARS_MAX) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}
