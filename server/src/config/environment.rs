//! The environment variables of the process, read once.

use std::{collections::BTreeMap, fmt};

use secrecy::SecretString;

/// Every variable that yoi knows.
const KNOWN: [&str; 15] = [
    "YOI_TOKEN",
    "YOI_DATA",
    "YOI_LISTEN",
    "YOI_SOCKET",
    "YOI_DATABASE",
    "YOI_CONFIG",
    "YOI_LOG",
    "YOI_SERVER",
    "YOI_COMPLETE",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_BASE_URL",
    "GEMINI_API_KEY",
    "OLLAMA_HOST",
];
/// Variables with these prefixes were meant for yoi or for one of its providers.
const FAMILIAR: [&str; 5] = ["YOI_", "OPENAI_", "ANTHROPIC_", "GEMINI_", "OLLAMA_"];
/// Names that other programs use for the same purpose.
const ELSEWHERE: [(&str, &str); 6] = [
    ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    ("OPENAI_API_BASE", "OPENAI_BASE_URL"),
    ("OPENAI_KEY", "OPENAI_API_KEY"),
    ("ANTHROPIC_KEY", "ANTHROPIC_API_KEY"),
    ("CLAUDE_API_KEY", "ANTHROPIC_API_KEY"),
    ("OLLAMA_BASE_URL", "OLLAMA_HOST"),
];
/// A name at least this similar to a known one was probably meant to be that.
const LIKENESS_MIN: f64 = 0.85;

/// Variables by name. Empty ones count as absent; those that are not UTF-8 are left out.
#[derive(Clone)]
pub(crate) struct Environment(BTreeMap<String, String>);

impl Environment {
    pub(crate) fn of_process() -> Self {
        Self(
            std::env::vars_os()
                .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
                .collect(),
        )
    }

    #[cfg(test)]
    pub(crate) fn of(variables: &[(&str, &str)]) -> Self {
        Self(variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.0.get(name).filter(|value| !value.trim().is_empty()).cloned()
    }

    /// Variables that look like ours and have no effect, each with the one that was probably meant. `used` are those
    /// that the configuration names.
    pub(crate) fn ignored(&self, used: &[String]) -> Vec<(&str, Option<&'static str>)> {
        let is_ours = |name: &str| {
            FAMILIAR.iter().any(|start| name.starts_with(start)) || ELSEWHERE.iter().any(|(other, _)| *other == name)
        };
        let names = self.0.keys().map(String::as_str).filter(|name| is_ours(name));
        let ignored = names.filter(|name| !KNOWN.contains(name) && !used.iter().any(|used| used == name));
        ignored.map(|name| (name, meant(name))).collect()
    }

    /// The variables that yoi knows and that are set.
    pub(crate) fn used(&self) -> Vec<&'static str> {
        KNOWN.into_iter().filter(|name| self.text(name).is_some()).collect()
    }

    pub(crate) fn secret(&self, name: &str) -> Option<SecretString> {
        self.text(name).map(SecretString::from)
    }
}

fn meant(name: &str) -> Option<&'static str> {
    if let Some((_, ours)) = ELSEWHERE.iter().find(|(other, _)| *other == name) {
        return Some(ours);
    }
    let likeness = |known: &&str| strsim::jaro_winkler(name, known);
    let nearest = KNOWN.into_iter().max_by(|one, other| likeness(one).total_cmp(&likeness(other)))?;
    (strsim::damerau_levenshtein(name, nearest) <= 3 && likeness(&nearest) >= LIKENESS_MIN).then_some(nearest)
}

// Implemented by hand: many of the values are secrets.
impl fmt::Debug for Environment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Environment").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_that_looks_like_ours_is_named_with_what_was_meant() {
        let environment = Environment::of(&[
            ("YOI_TOKN", "x"),
            ("YOI_DATA", "x"),
            ("GOOGLE_API_KEY", "x"),
            ("OPENAI_ORG", "x"),
            ("OPENAI_WORK_KEY", "x"),
            ("PATH", "x"),
        ]);
        let ignored = environment.ignored(&["OPENAI_WORK_KEY".to_owned()]);
        let expected =
            [("GOOGLE_API_KEY", Some("GEMINI_API_KEY")), ("OPENAI_ORG", None), ("YOI_TOKN", Some("YOI_TOKEN"))];
        assert_eq!(ignored, expected);
        assert_eq!(environment.used(), ["YOI_DATA"]);
    }
}
