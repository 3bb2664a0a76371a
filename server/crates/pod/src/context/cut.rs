//! Where a context is cut when it is compacted: what a summary replaces, and what stays.

use protocol::{Attachment, Message, Role, Seq};

use super::{Context, Entry, Room, joined, open_answer, prompt, room::SUMMARY_HEADER_TOKENS, told};
use crate::{Newest, QuestionSize};

/// Bytes of text per token. An estimate, on the safe side for prose and code.
const BYTES_PER_TOKEN: usize = 4;
/// The approximate tokens of a picture, whatever its file size: models process pictures in a few sizes.
const PICTURE_TOKENS: usize = 1_600;
/// The most bytes that a text file, or any other file except a picture, counts for.
const TEXT_BYTES_MAX: usize = 256 * 1024;

/// A context cut in two.
#[derive(Debug, Clone, PartialEq)]
pub struct Cut {
    /// The request for the summary: the system message first, then what is to be summarised, then the request itself.
    pub request: Vec<Message>,
    /// The first record that is kept unchanged.
    pub kept_from_seq: Seq,
    pub dropped: usize,
    pub kept: usize,
    /// Estimates, in tokens.
    pub tokens_now: u64,
    pub tokens_kept: u64,
    /// The size of the system message, which always stays.
    tokens_system: u64,
    /// The longest summary that fits.
    tokens_summary: u64,
    /// The replacement for the dropped part if even its summary request is too long.
    without_summary: String,
}

impl Cut {
    /// The estimated tokens of the context once `summary` replaces the dropped part.
    pub fn tokens_after(&self, summary: &str) -> u64 {
        self.tokens_system + self.tokens_kept + in_tokens(summary.len())
    }

    /// The summary, truncated to the room for it.
    pub fn within<'a>(&self, summary: &'a str) -> &'a str {
        let bytes_max = in_bytes(self.tokens_summary);
        &summary[..summary.floor_char_boundary(bytes_max)]
    }

    /// The replacement for the dropped part if even its summary request is too long.
    pub fn without_summary(&self) -> &str {
        &self.without_summary
    }
}

impl Context {
    /// The estimated tokens of everything that would be sent.
    pub fn tokens(&self) -> u64 {
        tokens(std::iter::once(&self.system).chain(self.all().map(|entry| &entry.message)))
    }

    /// The size of a request with only this context in it.
    pub fn size(&self) -> QuestionSize {
        let whole = self.tokens();
        QuestionSize { whole, said: whole.saturating_sub(in_tokens(bytes(&self.system))) }
    }

    /// Like [`Self::cut_within`], for a context that fits; `limit` is the model's context in tokens, 0 if unknown.
    pub fn cut(&self, head: Seq, limit: u64) -> Option<Cut> {
        self.cut_within(head, Room { limit, ..Room::default() })
    }

    /// Cuts the context so that the newest turns stay, as far as they fit; `head` is the newest position of the
    /// journal. Drops at least half of the text, but never a message without an answer or a call without a result; of
    /// unanswered messages that are too long, only the newest is certain to stay. `None` if there is nothing to drop.
    pub fn cut_within(&self, head: Seq, room: Room) -> Option<Cut> {
        let entries: Vec<&Entry> = self.all().collect();
        let behind = bytes_behind(&entries);
        let (system, whole) = (in_tokens(bytes(&self.system)), in_tokens(bytes(&self.system) + behind[0]));
        let floor = if room.is_too_long() { newest_unsettled(&entries) } else { unsettled(&entries) };
        let at = boundary(&entries, &behind, room.kept(system).min(in_tokens(behind[0]) / 2)).min(floor);
        let (dropped, kept) = entries.split_at(at);
        let tokens_summary = room.summary(system, in_tokens(behind[at]));
        // Summarising nothing but an earlier summary frees nothing, unless that one was made when there was more room.
        let summary_at = self.compacted.last().map(|(at, _)| *at);
        let is_long = room.is_too_long() && in_tokens(behind[0] - behind[at]) > tokens_summary + SUMMARY_HEADER_TOKENS;
        if dropped.is_empty() || (!is_long && dropped.iter().all(|entry| Some(entry.at) == summary_at)) {
            return None;
        }
        let before = joined(dropped.iter().copied());
        let messages = |entries: &[&Entry]| entries.iter().filter(|entry| !entry.joins).count();
        let without_summary = match room.request(system, whole) {
            Some(_) => told::without_summary(&before, in_bytes(tokens_summary)),
            None => String::new(),
        };
        Some(Cut {
            request: request(&self.system, before, room.request(system, whole)),
            kept_from_seq: kept.first().map_or(head.next(), |entry| entry.at),
            dropped: messages(dropped),
            kept: messages(kept),
            tokens_now: whole,
            tokens_kept: in_tokens(behind[at]),
            tokens_system: system,
            tokens_summary,
            without_summary,
        })
    }

    /// What no summary can replace, given tools of this many tokens.
    pub fn newest(&self, tools: u64) -> Newest {
        let newest = self.all().last().filter(|entry| entry.message.role == Role::User && !self.is_compaction(entry));
        let tokens = newest.map_or(0, |entry| in_tokens(bytes(&entry.message)));
        Newest {
            at: newest.map(|entry| entry.at),
            tokens,
            always: in_tokens(bytes(&self.system)) + tools,
            left: self.tokens().saturating_sub(tokens) + tools,
        }
    }

    fn is_compaction(&self, entry: &Entry) -> bool {
        self.compacted.last().is_some_and(|(at, _)| *at == entry.at)
    }

    fn all(&self) -> impl Iterator<Item = &Entry> {
        self.messages.iter().chain(&self.deferred)
    }
}

/// The request for a summary of these messages, limited to `tokens_max` tokens of them.
fn request(system: &Message, before: Vec<Message>, tokens_max: Option<u64>) -> Vec<Message> {
    let request = Message::new(Role::User, prompt::SUMMARISE);
    // What the pictures showed has been talked about; the text that stands for them stays.
    let without = |message| Message { attachments: Vec::new(), ..message };
    let before: Vec<Message> = before.into_iter().map(without).collect();
    let said = match tokens_max {
        Some(max) if tokens(&before) > max => {
            let told = told::told(&before, in_bytes(max));
            return vec![
                system.clone(),
                Message::new(Role::User, format!("{}\n{told}\n\n{}", prompt::TOLD_HEADER, prompt::SUMMARISE)),
            ];
        }
        _ => before,
    };
    std::iter::once(system.clone()).chain(said).chain([request]).collect()
}

/// For each index of the entries, and for the end: the total bytes from there on.
fn bytes_behind(entries: &[&Entry]) -> Vec<usize> {
    let mut behind = vec![0; entries.len() + 1];
    for (at, entry) in entries.iter().enumerate().rev() {
        behind[at] = behind[at + 1] + bytes(&entry.message);
    }
    behind
}

/// Where the kept part begins: at the earliest message of a person that fits, otherwise at the earliest answer that
/// fits (results stay with their calls), otherwise at the end. `behind`: see [`bytes_behind`].
fn boundary(entries: &[&Entry], behind: &[usize], tokens_max: u64) -> usize {
    let first = behind.partition_point(|bytes| in_tokens(*bytes) > tokens_max);
    let begins = |at: &usize, role: Role| entries[*at].message.role == role && !entries[*at].joins;
    let earliest = |role: Role| (first..entries.len()).find(|at| begins(at, role));
    earliest(Role::User).or_else(|| earliest(Role::Assistant)).unwrap_or(entries.len())
}

/// Where the part begins that no summary can replace: an answer whose calls lack results, or messages without an
/// answer.
fn unsettled(entries: &[&Entry]) -> usize {
    let answered = entries.iter().rposition(|entry| entry.message.role != Role::User).map_or(0, |at| at + 1);
    open_answer(entries.iter().copied()).unwrap_or(answered)
}

/// Where the newest message begins, if it has no answer yet; otherwise like [`unsettled`].
fn newest_unsettled(entries: &[&Entry]) -> usize {
    open_answer(entries.iter().copied()).unwrap_or(match entries.last() {
        Some(newest) if newest.message.role == Role::User => entries.len() - 1,
        _ => entries.len(),
    })
}

fn tokens<'a>(messages: impl IntoIterator<Item = &'a Message>) -> u64 {
    in_tokens(messages.into_iter().map(bytes).sum())
}

/// The estimated tokens of a text of this many bytes.
pub fn in_tokens(bytes: usize) -> u64 {
    (bytes / BYTES_PER_TOKEN) as u64
}

fn in_bytes(tokens: u64) -> usize {
    usize::try_from(tokens).unwrap_or(usize::MAX).saturating_mul(BYTES_PER_TOKEN)
}

fn bytes(message: &Message) -> usize {
    let calls = message.tool_calls.iter().map(|call| call.name.len() + call.arguments.to_string().len());
    let attached: usize = message.attachments.iter().map(attached_bytes).sum();
    message.content.len() + message.reasoning.as_deref().map_or(0, str::len) + calls.sum::<usize>() + attached
}

/// The approximate size of a picture or file in a context, in bytes of text.
fn attached_bytes(Attachment { media_type, bytes, .. }: &Attachment) -> usize {
    let bytes = usize::try_from(*bytes).unwrap_or(usize::MAX);
    match media_type.split('/').next() {
        Some("text") => bytes.min(TEXT_BYTES_MAX),
        Some("image") => PICTURE_TOKENS * BYTES_PER_TOKEN,
        // Documents are compressed: a page takes about as much as a picture.
        _ => bytes.min(TEXT_BYTES_MAX),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definition itself, in quadratic time.
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
