//! What servers count while an answer is still arriving, each in its own format. The final count comes from the
//! library, which reads the same figures.

use protocol::Usage;
use serde_json::Value;

/// Reads a `message_start`: the whole request, and the first tokens of the answer.
pub(super) fn anthropic(usage: &Value) -> Usage {
    let count = |key: &str| count(usage, &[key]);
    let (cached, written) = (count("cache_read_input_tokens"), count("cache_creation_input_tokens"));
    of(count("input_tokens").saturating_add(cached).saturating_add(written), cached, written, count("output_tokens"))
}

pub(super) fn gemini(usage: &Value) -> Usage {
    let count = |key: &str| count(usage, &[key]);
    let output = count("candidatesTokenCount").saturating_add(count("thoughtsTokenCount"));
    of(count("promptTokenCount"), count("cachedContentTokenCount"), 0, output)
}

/// Reads the counts that some servers send with each piece.
pub(super) fn chat_completions(usage: &Value) -> Usage {
    let cached = count(usage, &["prompt_tokens_details", "cached_tokens"]);
    of(count(usage, &["prompt_tokens"]), cached, 0, count(usage, &["completion_tokens"]))
}

fn of(input: u64, cached: u64, written: u64, output: u64) -> Usage {
    Usage { input, cached, written, output, context_used: input.saturating_add(output), ..Usage::default() }
}

fn count(usage: &Value, path: &[&str]) -> u64 {
    path.iter().try_fold(usage, |value, key| value.get(key)).and_then(Value::as_u64).unwrap_or(0)
}
