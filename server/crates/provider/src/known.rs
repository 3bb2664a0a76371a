//! What is known of models without asking: room for context and a sensible first choice.

use crate::ProviderKind;

/// Prefixes of model names and their tokens of context; the first that fits decides.
const CONTEXT_LIMITS: &[(&str, u64)] = &[
    ("rehearsal", 200_000),
    ("gpt-5", 400_000),
    ("gpt-4.1", 1_047_576),
    ("gpt-4o", 128_000),
    ("gpt-4-turbo", 128_000),
    ("gpt-oss", 131_072),
    ("o1", 200_000),
    ("o3", 200_000),
    ("o4-mini", 200_000),
    ("claude-", 200_000),
    ("gemini-1.5-pro", 2_097_152),
    ("gemini-", 1_048_576),
    ("deepseek-", 128_000),
    ("mistral-large", 131_072),
];

/// Tokens of context of `model`, when its family is known. A path before the name (`vendor/model`) is skipped.
pub(crate) fn context_limit(model: &str) -> Option<u64> {
    let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
    CONTEXT_LIMITS.iter().find(|(prefix, _)| name.starts_with(prefix)).map(|(_, limit)| *limit)
}

/// The model of a Pod that names none, where none is configured.
pub(crate) fn default_model(kind: ProviderKind) -> &'static str {
    match kind {
        ProviderKind::OpenAi => "gpt-5.1",
        ProviderKind::Anthropic => "claude-sonnet-4-5",
        ProviderKind::Gemini => "gemini-2.5-pro",
        ProviderKind::Ollama => "llama3.2",
        ProviderKind::DeepSeek => "deepseek-chat",
        ProviderKind::Rehearsal => "rehearsal",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_family_decides_the_room_for_context() {
        assert_eq!(context_limit("gpt-5.1-codex"), Some(400_000));
        assert_eq!(context_limit("anthropic/claude-sonnet-4-5"), Some(200_000));
        assert_eq!(context_limit("Gemini-2.5-Flash"), Some(1_048_576));
        assert_eq!(context_limit("my-own-model"), None);
    }
}
