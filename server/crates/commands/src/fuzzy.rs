//! Fuzzy matching of typed letters against names, for the palette and for completion.

use sublime_fuzzy::best_match;

/// A candidate that matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fit {
    /// The index of the candidate in the input.
    pub index: usize,
    /// Higher is better.
    pub score: isize,
}

/// The candidates that match all typed words, the best first; ties keep their order. All of them, unchanged, if
/// nothing is typed.
pub fn fit<'a>(typed: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<Fit> {
    let words: Vec<&str> = typed.split_whitespace().collect();
    let mut fits: Vec<Fit> = candidates
        .into_iter()
        .enumerate()
        .filter_map(|(index, candidate)| {
            let scores = words.iter().map(|word| best_match(word, candidate).map(|fit| fit.score()));
            let score = scores.sum::<Option<isize>>()?;
            Some(Fit { index, score })
        })
        .collect();
    fits.sort_by_key(|fit| std::cmp::Reverse(fit.score));
    fits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(typed: &str, candidates: &[&str]) -> Vec<usize> {
        fit(typed, candidates.iter().copied()).into_iter().map(|fit| fit.index).collect()
    }

    #[test]
    fn letters_may_lie_apart_and_beginnings_count_more() {
        assert_eq!(order("apr", &["stop", "approvals"]), [1]);
        assert_eq!(order("re", &["store", "resume"]), [1, 0]);
    }

    #[test]
    fn every_word_has_to_fit_and_nothing_typed_fits_all() {
        assert_eq!(order("ada stop", &["stop ada", "stop bob"]), [0]);
        assert_eq!(order("  ", &["b", "a"]), [0, 1]);
        assert_eq!(order("x", &["b", "a"]), Vec::<usize>::new());
    }
}
