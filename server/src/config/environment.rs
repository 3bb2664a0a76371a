//! The variables of the process, read once.

use std::{collections::BTreeMap, fmt};

use secrecy::SecretString;

/// Variables by name. Those that are empty count as absent; those that are not UTF-8 are left out.
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

    pub(crate) fn secret(&self, name: &str) -> Option<SecretString> {
        self.text(name).map(SecretString::from)
    }
}

// By hand: many of the values are secrets.
impl fmt::Debug for Environment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Environment").finish_non_exhaustive()
    }
}
