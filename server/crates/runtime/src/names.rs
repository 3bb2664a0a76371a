//! Suggests existing names that are similar to an unknown one: what a person may have meant.
//!
//! The names of all Pods are cached until the list of Pods changes, and are then read again in one query. Comparing two
//! names exactly is expensive and a lower bound for their distance is cheap, so the best candidates are compared first,
//! and most names never are.

use std::sync::{Arc, Mutex, PoisonError};

use protocol::{ApiError, Candidate, PodName};

use crate::{ground::Ground, view};

/// The most names that are suggested.
const NEAR_MAX: usize = 5;
/// A name within this edit distance always counts as near, however short the names are.
const DISTANCE_ALWAYS: usize = 2;

/// The names as of one revision of the list of Pods.
#[derive(Debug, Default)]
pub(crate) struct Names {
    known: Mutex<Option<(u64, Arc<[Known]>)>>,
}

#[derive(Debug, PartialEq, Eq)]
struct Known {
    name: PodName,
    folded: String,
    letters: u64,
}

/// Names within a small edit distance of this one, or that contain it, nearest first; at most 5.
pub(crate) async fn near(ground: &Ground, names: &Names, name: &str) -> Result<Vec<Candidate>, ApiError> {
    let known = names.now(ground).await?;
    let mut near = Vec::new();
    for name in nearest(&known, name) {
        // A Pod that was deleted in between is no candidate any more.
        let row = ground.store.pods().find_by_name(name).await?;
        near.extend(row.map(|row| Candidate { pod: view::pod_ref(&row), name: row.name }));
    }
    Ok(near)
}

impl Names {
    async fn now(&self, ground: &Ground) -> Result<Arc<[Known]>, ApiError> {
        // Taken before the names are read, so that changes meanwhile belong to a later revision.
        let revision = ground.list.revision();
        if let Some(known) = self.of(revision) {
            return Ok(known);
        }
        let names = ground.store.pods().names().await?;
        let known: Arc<[Known]> = names.into_iter().map(Known::of).collect();
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some((revision, known.clone()));
        Ok(known)
    }

    fn of(&self, revision: u64) -> Option<Arc<[Known]>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.as_ref().filter(|(of, _)| *of == revision).map(|(_, known)| known.clone())
    }
}

impl Known {
    fn of(name: PodName) -> Self {
        let folded = name.as_str().to_ascii_lowercase();
        Self { letters: letters(&folded), folded, name }
    }
}

/// The set of characters as a bit mask: names use only about forty different ones.
fn letters(folded: &str) -> u64 {
    let place = |byte| match byte {
        b'a'..=b'z' => byte - b'a',
        b'0'..=b'9' => 26 + byte - b'0',
        other => 36 + other % 28,
    };
    folded.bytes().fold(0, |letters, byte| letters | 1 << place(byte))
}

fn nearest<'a>(known: &'a [Known], wanted: &str) -> Vec<&'a PodName> {
    let wanted = wanted.to_lowercase();
    let wanted_letters = letters(&wanted);
    let distance_max = DISTANCE_ALWAYS.max(wanted.len() / 3);
    let mut possible: Vec<(usize, &Known)> = Vec::new();
    for name in known {
        let (missing, foreign) = (wanted_letters & !name.letters, name.letters & !wanted_letters);
        let bound = missing.count_ones().max(foreign.count_ones()) as usize;
        let bound = bound.max(wanted.len().abs_diff(name.folded.len()));
        if bound <= distance_max || (missing == 0 && holds(name, &wanted)) {
            possible.push((bound, name));
        }
    }
    possible.sort_unstable_by_key(|(bound, _)| *bound);
    let mut near: Vec<(usize, &PodName)> = Vec::new();
    for (bound, name) in possible {
        // The remaining names are farther away than everything in the full list.
        if near.len() == NEAR_MAX && near.last().is_some_and(|(farthest, _)| bound > *farthest) {
            break;
        }
        if let Some(distance) = distance(name, &wanted, distance_max) {
            let place = near.partition_point(|one| *one < (distance, &name.name));
            near.insert(place, (distance, &name.name));
            near.truncate(NEAR_MAX);
        }
    }
    near.into_iter().map(|(_, name)| name).collect()
}

/// The distance of a name, or `None` if it is too far away.
fn distance(name: &Known, wanted: &str, distance_max: usize) -> Option<usize> {
    if holds(name, wanted) {
        // If the name contains the wanted one, only the surrounding characters have to be inserted.
        return Some(name.folded.len() - wanted.len());
    }
    let distance = strsim::damerau_levenshtein(wanted, &name.folded);
    (distance <= distance_max).then_some(distance)
}

fn holds(name: &Known, wanted: &str) -> bool {
    wanted.len() >= 2 && name.folded.contains(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(names: &[&str]) -> Vec<Known> {
        names.iter().map(|name| Known::of(PodName::parse(name).unwrap())).collect()
    }

    fn near(names: &[&str], wanted: &str) -> Vec<String> {
        nearest(&known(names), wanted).into_iter().map(ToString::to_string).collect()
    }

    /// Compares every name exactly.
    fn simply(names: &[Known], wanted: &str) -> Vec<String> {
        let wanted = wanted.to_lowercase();
        let mut near: Vec<_> = names
            .iter()
            .filter_map(|known| {
                let distance = strsim::damerau_levenshtein(&wanted, &known.folded);
                let is_near = distance <= 2.max(wanted.len() / 3)
                    || (wanted.len() >= 2 && known.folded.contains(wanted.as_str()));
                is_near.then(|| (distance, known.name.clone()))
            })
            .collect();
        near.sort();
        near.into_iter().take(5).map(|(_, name)| name.to_string()).collect()
    }

    #[test]
    fn what_is_spelled_alike_and_what_has_the_name_as_a_part_is_near() {
        let names = ["ada", "Adam", "bob", "the-ada-of-old", "eve", "da"];
        assert_eq!(near(&names, "adda"), ["ada", "Adam", "da"]);
        assert_eq!(near(&names, "ADA"), ["ada", "Adam", "da", "the-ada-of-old"]);
        assert_eq!(near(&names, "a-name-like-nothing"), Vec::<String>::new());
        assert_eq!(near(&[], "ada"), Vec::<String>::new());
    }

    #[test]
    fn what_is_left_out_of_the_comparison_would_not_have_been_named() {
        let mut names = Vec::new();
        for number in 0..700 {
            names.push(format!("pod-{number:04}"));
            names.push(format!("Worker.{number}_{}", ["red", "green", "blue"][number % 3]));
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let known = known(&names);
        let wanted = [
            "pod-012x",
            "pod",
            "worker",
            "odp-0123",
            "pod-01234",
            "p",
            "Worker.1_rde",
            "green",
            "zzzz",
            "worker.69_gren",
            "-0",
            "pod-9999",
            "0123456789",
            "WORKER.12_BLU",
            "x",
            "worker-12-blue",
        ];
        for wanted in wanted {
            let found: Vec<String> = nearest(&known, wanted).into_iter().map(ToString::to_string).collect();
            assert_eq!(found, simply(&known, wanted), "{wanted}");
        }
    }
}
