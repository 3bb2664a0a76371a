//! A search as expressed by its address. Pure.

use leptos_router::params::ParamsMap;
use protocol::{Gathered, PodRef, SearchHit};
use serde::{Deserialize, Serialize};

use crate::console::{encoded, search_href};

/// `/search?q=…&pod=…&after=…`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Asked {
    /// Trimmed; empty when nothing is searched for.
    pub(crate) words: String,
    /// Only this Pod's transcript. Kept as written: the server decides whether such a Pod exists.
    pub(crate) pod: Option<String>,
    /// The `next` cursor of the previous page.
    pub(crate) after: Option<String>,
}

/// One page of results, with the search that it answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Found {
    pub(crate) asked: Asked,
    pub(crate) page: Gathered<SearchHit>,
}

impl Asked {
    pub(crate) fn of(query: &ParamsMap) -> Self {
        let filled = |name: &str| query.get(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        Self { words: filled("q").unwrap_or_default(), pod: filled("pod"), after: filled("after") }
    }

    /// The first page of a search for these words with the same filter.
    pub(crate) fn with_words(&self, words: &str) -> Self {
        Self { words: words.trim().to_owned(), after: None, ..self.clone() }
    }

    /// The same words in all Pods, or in one.
    pub(crate) fn within(&self, pod: Option<&PodRef>) -> Self {
        Self { pod: pod.map(ToString::to_string), after: None, ..self.clone() }
    }

    pub(crate) fn page_after(&self, after: &str) -> Self {
        Self { after: Some(after.to_owned()), ..self.clone() }
    }

    pub(crate) fn href(&self) -> String {
        let mut href = search_href(&self.words);
        for (name, value) in [("pod", &self.pod), ("after", &self.after)] {
            if let Some(value) = value {
                let joint = if href.contains('?') { '&' } else { '?' };
                href.push_str(&format!("{joint}{name}={}", encoded(value)));
            }
        }
        href
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(words: &str, pod: Option<&str>, after: Option<&str>) -> Asked {
        Asked { words: words.to_owned(), pod: pod.map(str::to_owned), after: after.map(str::to_owned) }
    }

    #[test]
    fn an_address_says_all_of_a_search_and_nothing_that_is_empty() {
        assert_eq!(asked("", None, None).href(), "/search");
        assert_eq!(asked("a&b", None, Some("9")).href(), "/search?q=a%26b&after=9");
        assert_eq!(asked("", Some("local/p-1"), None).href(), "/search?pod=local%2Fp-1");
        let query: ParamsMap = [("q", " a  b "), ("pod", ""), ("x", "y")].into_iter().collect();
        assert_eq!(Asked::of(&query), asked("a  b", None, None));
    }

    #[test]
    fn other_words_or_another_place_begin_with_the_first_page() {
        let here = asked("a", Some("local/p-1"), Some("9"));
        assert_eq!(here.with_words(" b "), asked("b", Some("local/p-1"), None));
        assert_eq!(here.within(None), asked("a", None, None));
        assert_eq!(here.within(Some(&"local/p-2".parse().unwrap())), asked("a", Some("local/p-2"), None));
        assert_eq!(here.page_after("5").after.as_deref(), Some("5"));
    }
}
