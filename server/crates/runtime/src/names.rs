//! Names that are spelled much like one that nobody has: what a person may have meant.
//!
//! The names of all Pods are kept while the list of Pods stays as it is, and are read again, names alone and in one
//! piece, when it has changed. To compare two names exactly is dear, and a lower bound of what they differ by is
//! cheap: those that can be the nearest are compared first, and most of them never.

use std::sync::{Arc, Mutex, PoisonError};

use protocol::{ApiError, Candidate, PodName};

use crate::{ground::Ground, view};

/// So many are named.
const NEAR_MAX: usize = 5;
/// Names of this length or less are near another one that differs by so many letters.
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

/// Names within a small edit distance, or with this one as a part, nearest first; at most 5.
pub(crate) async fn near(ground: &Ground, names: &Names, name: &str) -> Result<Vec<Candidate>, ApiError> {
    let known = names.now(ground).await?;
    let mut near = Vec::new();
    for name in nearest(&known, name) {
        // One that went in between is no candidate any more.
        let row = ground.store.pods().find_by_name(name).await?;
        near.extend(row.map(|row| Candidate { pod: view::pod_ref(&row), name: row.name }));
    }
    Ok(near)
}

impl Names {
    async fn now(&self, ground: &Ground) -> Result<Arc<[Known]>, ApiError> {
        // Taken before the names are read: what changes meanwhile is a later revision.
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

/// Which letters there are, as bits: a name has only some forty different ones.
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
        // Whoever comes now is farther off than all that there is room for.
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

/// How far a name is off; none when that is too far.
fn distance(name: &Known, wanted: &str, distance_max: usize) -> Option<usize> {
    if holds(name, wanted) {
        // What is around a part of a name is all that has to be put in.
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

    /// Every name compared exactly.
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
