//! How servers report that a request is longer than the model's context, and the sizes that they give.
//!
//! There is no standard: a few have a name for it, most only a sentence, and some of those give no size. The
//! sentences in the tests are real ones.

use serde_json::Value;

use crate::ContextSizes;

/// Substrings of the `type` or `code` of such an error.
const NAMES: &[&str] =
    &["context_length", "context_size", "context_window", "prompt_tokens_exceeded", "request_too_large"];

/// Substrings of such a message, in lower case.
const WORDS: &[&str] = &[
    "context length",
    "context window",
    "context size",
    "context limit",
    "n_ctx",
    "prompt is too long",
    "prompt too long",
    "prompt exceeds",
    "prompt token count",
    "maximum prompt length",
    "input is too long",
    "input length should be",
    "input token count",
    "maximum number of tokens",
    "maximum model length",
    "token limit",
    "too large for model with",
    "too many tokens",
    "tokens + `max_new_tokens`",
    "reduce the length of the messages",
    "request exceeds the maximum size",
];

/// Substrings of messages about rate limits, which are not about the size of a single request.
const RATE_WORDS: &[&str] =
    &["rate limit", "rate_limit", "quota", "per minute", "per day", "per hour", "resource_exhausted"];

/// What precedes the limit in such a message, most specific first.
const BEFORE_LIMIT: &[&str] = &[
    "n_ctx",
    ">",
    "context length",
    "context window",
    "context size",
    "maximum prompt length",
    "maximum model length",
    "tokens allowed",
    "too large for model with",
    "token limit",
    "limit of",
    "limit is",
    "cannot exceed",
    "should be [1,",
    "<=",
    // A number in brackets after it would be the error's own.
    "limit ",
];

/// Words that may stand between those and the number.
const LINKS: &[&str] = &["of", "is", "only", "at", "most"];
/// A number more than this many times the limit is something else: a date, an id.
const TIMES_MAX: u64 = 100;

/// Whether an error with these names (lower case) and this message says that the request is too long.
pub(super) fn is_told(names: &[String], message: &str) -> bool {
    let message = message.to_lowercase();
    let is_rate = |text: &str| RATE_WORDS.iter().any(|word| text.contains(word));
    if is_rate(&message) || names.iter().any(|name| is_rate(name)) {
        return false;
    }
    names.iter().any(|name| NAMES.iter().any(|part| name.contains(part)))
        || WORDS.iter().any(|words| message.contains(words))
}

/// The sizes in such an error: from fields of its own, as in llama.cpp, else from its message.
pub(super) fn sizes(error: &Value, message: &str) -> ContextSizes {
    let field = |name: &str| error.get(name).and_then(Value::as_u64).filter(|count| *count > 0);
    let message = message.to_lowercase();
    let numbers = numbers(&message);
    let limit = field("n_ctx").or_else(|| limit(&message, &numbers));
    let beyond = |limit: u64| {
        let others = numbers.iter().map(|(_, number)| *number);
        others.filter(|number| *number > limit && *number / TIMES_MAX <= limit).max()
    };
    ContextSizes { limit, used: field("n_prompt_tokens").or_else(|| limit.and_then(beyond)) }
}

fn limit(message: &str, numbers: &[(usize, u64)]) -> Option<u64> {
    let links = |gap: &str| {
        let mut words = gap.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty());
        words.all(|word| LINKS.contains(&word))
    };
    BEFORE_LIMIT.iter().find_map(|words| {
        message.match_indices(words).find_map(|(at, _)| {
            let end = at + words.len();
            let (begin, number) = numbers.iter().find(|(begin, _)| *begin >= end)?;
            let gap = &message[end..*begin];
            (links(gap) && (gap.is_empty() || !words.ends_with(' '))).then_some(*number)
        })
    })
}

/// The integers in a message, with their positions. Those within a name, a version or an id are skipped.
fn numbers(message: &str) -> Vec<(usize, u64)> {
    let is_of_name = |character: char| character.is_alphanumeric() || "-_./".contains(character);
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(begin) = message[at..].find(|character: char| character.is_ascii_digit()).map(|found| at + found) {
        let rest = &message[begin..];
        let length = rest.find(|character: char| !character.is_ascii_digit() && character != ',').unwrap_or(rest.len());
        let text = rest[..length].trim_end_matches(',');
        let before = message[..begin].chars().next_back();
        // A full stop may end the sentence.
        let after = rest[text.len()..].strip_prefix('.').unwrap_or(&rest[text.len()..]).chars().next();
        if !before.is_some_and(is_of_name) && !after.is_some_and(is_of_name) && is_grouped(text) {
            found.extend(text.replace(',', "").parse().ok().filter(|number| *number > 0).map(|number| (begin, number)));
        }
        at = begin + length;
    }
    found
}

/// Whether any commas are thousands separators: `1,048,576`.
fn is_grouped(text: &str) -> bool {
    let mut groups = text.split(',');
    let first = groups.next().unwrap_or_default().len();
    let mut rest = groups.peekable();
    rest.peek().is_none() || (first <= 3 && rest.all(|group| group.len() == 3))
}

#[cfg(test)]
#[path = "overflow_tests.rs"]
mod tests;
