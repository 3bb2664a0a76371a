//! Completes a few letters to files that a person may mean, for the composer, which refers to files without reading
//! them.

use std::{
    collections::BTreeSet,
    ops::ControlFlow,
    sync::atomic::AtomicUsize,
    time::{Duration, Instant},
};

use pod::Scope;
use protocol::Access;
use tokio::{sync::Semaphore, time::timeout};

use super::{
    open,
    path::beneath,
    walk::{self, Reach, Walk},
    work::{Bounds, Work},
};

/// How long one lookup may take; what was found by then is the answer.
const LOOK_MAX: Duration = Duration::from_millis(300);
/// The most files and folders that one lookup visits.
const ENTRIES_MAX: usize = 20_000;
/// The most paths in one answer.
const PATHS_MAX: usize = 20;
/// Nearby files come first: this many folders down, for this share of the entries.
const NEAR: Reach = Reach { entries: ENTRIES_MAX / 2, depth: Some(3) };

/// How many lookups run at once in this process; further ones wait, as long as they may.
static LOOKS: Semaphore = Semaphore::const_new(4);

/// Files in the scope whose path contains all letters of `begun` in order, best match first. Leaves out what git
/// ignores, and hidden files unless they are asked for. Empty if the disk is too slow.
pub async fn complete(cwd: &str, scope: Scope, begun: &str) -> Vec<String> {
    let (cwd, begun) = (cwd.to_owned(), begun.to_owned());
    let look = async move {
        let permit = LOOKS.acquire().await.ok()?;
        let found = tokio::task::spawn_blocking(move || {
            // Held to the end, even if nobody waits any more.
            let _permit = permit;
            let bounds = Bounds { until: Instant::now() + LOOK_MAX, steps: AtomicUsize::new(ENTRIES_MAX) };
            found(&Work::looking(&cwd, scope, bounds), &begun)
        });
        found.await.ok()
    };
    // A disk that hangs blocks this thread and nothing else.
    timeout(2 * LOOK_MAX, look).await.ok().flatten().unwrap_or_default()
}

fn found(work: &Work, begun: &str) -> Vec<String> {
    let hidden = walk::names_hidden(begun);
    let mut fits = BTreeSet::new();
    for reach in [NEAR, Reach { entries: ENTRIES_MAX, depth: None }] {
        for root in roots(work) {
            // A walk that is cut short still counts for what it has found.
            let _ = Walk { root, hidden }.files_within(reach, work, |path| {
                let shown = work.shown(path);
                if let Some(rank) = rank(begun, &shown) {
                    fits.insert((rank, shown));
                }
                Ok(ControlFlow::Continue(()))
            });
        }
    }
    let is_file = |path: &str| {
        let absolute = work.absolute(path);
        absolute.and_then(|path| open::open(work, &path)).is_ok_and(|file| file.kind().is_file())
    };
    // A link may lead anywhere, so each is opened to make sure that it is a file in the scope.
    fits.into_iter().map(|(_, path)| path).filter(|path| is_file(path)).take(PATHS_MAX).collect()
}

/// The working directory, and what else the scope grants.
fn roots(work: &Work) -> Vec<String> {
    let granted = work.scope.rules().iter().filter(|rule| rule.access != Access::Deny).map(|rule| rule.path.as_str());
    let mut roots: Vec<String> = Vec::new();
    for path in std::iter::once(work.cwd.as_str()).chain(granted) {
        let Ok(opened) = open::open(work, path) else { continue };
        if !roots.iter().any(|root| beneath(root, &opened.path).is_some()) {
            roots.push(opened.path);
        }
    }
    roots
}

/// How well a path matches, lower is better: where the letters are found, how deep it is, how long it is. `None`: no
/// match.
fn rank(begun: &str, path: &str) -> Option<(u8, usize, usize)> {
    let (begun, path) = (begun.to_lowercase(), path.to_lowercase());
    let begun = begun.strip_prefix("./").unwrap_or(&begun);
    let name = path.rsplit('/').next().unwrap_or(&path);
    let fit = match () {
        () if name.starts_with(begun) || path.starts_with(begun) => 0,
        () if name.contains(begun) => 1,
        () if path.contains(begun) => 2,
        () if is_subsequence(begun, name) => 3,
        () if is_subsequence(begun, &path) => 4,
        () => return None,
    };
    Some((fit, path.matches('/').count(), path.len()))
}

fn is_subsequence(letters: &str, text: &str) -> bool {
    let mut text = text.chars();
    letters.chars().all(|letter| text.any(|other| other == letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order<'a>(begun: &str, paths: &[&'a str]) -> Vec<&'a str> {
        let mut fits: Vec<_> = paths.iter().filter_map(|path| Some((rank(begun, path)?, *path))).collect();
        fits.sort_unstable();
        fits.into_iter().map(|(_, path)| path).collect()
    }

    #[test]
    fn names_count_more_than_folders_and_what_is_near_comes_first() {
        let paths = ["deep/in/main.rs", "main.rs", "domain.txt", "main/x.rs", "m/a/i/n.rs", "other.rs"];
        assert_eq!(order("main", &paths), ["main.rs", "main/x.rs", "deep/in/main.rs", "domain.txt", "m/a/i/n.rs"]);
    }

    #[test]
    fn letters_may_lie_apart_but_keep_their_order_whatever_their_case() {
        assert_eq!(order("smr", &["src/main.rs", "rms.txt"]), ["src/main.rs"]);
        assert_eq!(order("READ", &["readme.md", "Bread.txt"]), ["readme.md", "Bread.txt"]);
        assert_eq!(order("./a", &["a.txt"]), ["a.txt"]);
        assert_eq!(order("xyz", &["src/main.rs"]), Vec::<&str>::new());
    }

    #[test]
    fn nothing_typed_fits_all_the_nearest_first() {
        assert_eq!(order("", &["a/b.rs", "zz.rs", "c.rs"]), ["c.rs", "zz.rs", "a/b.rs"]);
    }
}
