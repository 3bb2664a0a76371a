//! Where a context is cut when it is compacted: what a summary takes the place of, and what stays.

use protocol::{Message, Role, Seq};

use super::{Context, Entry, joined, open_answer, prompt};

/// Bytes of text that count as one token. An estimate, and on the safe side for prose and code.
const BYTES_PER_TOKEN: usize = 4;
/// Part of the model's context that the retained end may take.
const KEPT_PERCENT_MAX: u64 = 20;
/// What may stay when the model's limit is not known, in tokens.
const KEPT_TOKENS_DEFAULT: u64 = 8_000;

/// A cut of a context in two.
#[derive(Debug, Clone, PartialEq)]
pub struct Cut {
    /// What is to be summarised: system message first, and the request for the summary last.
    pub request: Vec<Message>,
    /// The first record that stays as it is.
    pub kept_from_seq: Seq,
    pub dropped: usize,
    pub kept: usize,
    /// Estimates, in tokens.
    pub tokens_now: u64,
    pub tokens_kept: u64,
    /// Of the system message, which always stays.
    tokens_system: u64,
}

impl Cut {
    /// Estimated tokens of the context once `summary` stands for what the cut drops.
    pub fn tokens_after(&self, summary: &str) -> u64 {
        self.tokens_system + self.tokens_kept + in_tokens(summary.len())
    }
}

impl Context {
    /// Estimated tokens of everything that would be sent.
    pub fn tokens(&self) -> u64 {
        tokens(std::iter::once(&self.system).chain(self.all().map(|entry| &entry.message)))
    }

    /// Cuts so that the newest turns stay, as far as they fit; `head` is the newest position of the journal and `limit`
    /// the model's context in tokens, 0 when unknown. At least half of the text is dropped, but never a message that
    /// has no answer yet, nor a call that has no result yet. None when there is nothing to drop.
    pub fn cut(&self, head: Seq, limit: u64) -> Option<Cut> {
        let entries: Vec<&Entry> = self.all().collect();
        let behind = bytes_behind(&entries);
        let system = bytes(&self.system);
        let allowed = match limit {
            0 => KEPT_TOKENS_DEFAULT,
            limit => limit * KEPT_PERCENT_MAX / 100,
        };
        let at = boundary(&entries, &behind, allowed.min(in_tokens(behind[0]) / 2)).min(unsettled(&entries));
        let (dropped, kept) = entries.split_at(at);
        // A summary of nothing but a summary makes no room.
        let summary_at = self.compacted.last().map(|(at, _)| *at);
        if dropped.iter().all(|entry| Some(entry.at) == summary_at) {
            return None;
        }
        let before = joined(dropped.iter().copied());
        let messages = |entries: &[&Entry]| entries.iter().filter(|entry| !entry.joins).count();
        let request = Message::new(Role::User, prompt::SUMMARISE);
        Some(Cut {
            request: std::iter::once(self.system.clone()).chain(before).chain([request]).collect(),
            kept_from_seq: kept.first().map_or(head.next(), |entry| entry.at),
            dropped: messages(dropped),
            kept: messages(kept),
            tokens_now: in_tokens(system + behind[0]),
            tokens_kept: in_tokens(behind[at]),
            tokens_system: in_tokens(system),
        })
    }

    fn all(&self) -> impl Iterator<Item = &Entry> {
        self.messages.iter().chain(&self.deferred)
    }
}

/// For each place among the entries, and the one behind them all: the bytes from there on.
fn bytes_behind(entries: &[&Entry]) -> Vec<usize> {
    let mut behind = vec![0; entries.len() + 1];
    for (at, entry) in entries.iter().enumerate().rev() {
        behind[at] = behind[at + 1] + bytes(&entry.message);
    }
    behind
}

/// Where the retained end begins: at the earliest message of a person that fits, else at the earliest answer that fits
/// (results stay with their calls), else behind everything. `behind`: see [`bytes_behind`].
fn boundary(entries: &[&Entry], behind: &[usize], tokens_max: u64) -> usize {
    let first = behind.partition_point(|bytes| in_tokens(*bytes) > tokens_max);
    let begins = |at: &usize, role: Role| entries[*at].message.role == role && !entries[*at].joins;
    let earliest = |role: Role| (first..entries.len()).find(|at| begins(at, role));
    earliest(Role::User).or_else(|| earliest(Role::Assistant)).unwrap_or(entries.len())
}

/// Where that begins which no summary can stand for: an answer whose calls have no results yet, and messages that have
/// no answer yet.
fn unsettled(entries: &[&Entry]) -> usize {
    let answered = entries.iter().rposition(|entry| entry.message.role != Role::User).map_or(0, |at| at + 1);
    open_answer(entries.iter().copied()).unwrap_or(answered)
}

fn tokens<'a>(messages: impl IntoIterator<Item = &'a Message>) -> u64 {
    in_tokens(messages.into_iter().map(bytes).sum())
}

fn in_tokens(bytes: usize) -> u64 {
    (bytes / BYTES_PER_TOKEN) as u64
}

fn bytes(message: &Message) -> usize {
    let calls = message.tool_calls.iter().map(|call| call.name.len() + call.arguments.to_string().len());
    message.content.len() + message.reasoning.as_deref().map_or(0, str::len) + calls.sum::<usize>()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definition, in a time that grows with the square of the conversation.
    fn by_definition(entries: &[&Entry], tokens_max: u64) -> usize {
        let fits = |at: &usize| tokens(entries[*at..].iter().map(|entry| &entry.message)) <= tokens_max;
        let begins = |at: usize, role: Role| entries[at].message.role == role && !entries[at].joins;
        let places = |role: Role| (0..entries.len()).filter(move |at| begins(*at, role));
        places(Role::User).find(fits).or_else(|| places(Role::Assistant).find(fits)).unwrap_or(entries.len())
    }

    fn any_entry() -> impl Strategy<Value = Entry> {
        let role = prop_oneof![Just(Role::User), Just(Role::Assistant), Just(Role::Tool)];
        (role, 0_usize..40, any::<bool>()).prop_map(|(role, bytes, joins)| Entry {
            joins: joins && role == Role::Assistant,
            ..Entry::new(Seq(1), Message::new(role, "x".repeat(bytes)))
        })
    }

    proptest! {
        #[test]
        fn the_retained_end_begins_where_the_definition_says(
            entries in prop::collection::vec(any_entry(), 0..40),
            tokens_max in 0_u64..120,
        ) {
            let entries: Vec<&Entry> = entries.iter().collect();
            let found = boundary(&entries, &bytes_behind(&entries), tokens_max);
            prop_assert_eq!(found, by_definition(&entries, tokens_max));
        }
    }
}
