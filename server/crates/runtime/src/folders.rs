//! Completes the beginning of a path to folders, for a person who creates a Pod and may name any folder for it.
//!
//! Reads only the names in one folder, as the server's user sees it; opens nothing in it.

use std::{
    fs::{self, DirEntry},
    path::Path,
    time::{Duration, Instant},
};

use protocol::ApiError;
use tokio::{sync::Semaphore, time::timeout};

/// How long one lookup may take; what was found by then is the answer.
const LOOK_MAX: Duration = Duration::from_millis(300);
/// The most names that one lookup reads.
const ENTRIES_MAX: usize = 20_000;
/// The most folders in one answer.
const FOLDERS_MAX: usize = 50;
/// Linux has no longer paths.
const PREFIX_BYTES_MAX: usize = 4_096;

/// How many lookups run at once in this process; further ones wait, as long as they may.
static LOOKS: Semaphore = Semaphore::const_new(4);

/// The result of a lookup.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) items: Vec<String>,
    /// There are more, or there was no time to look at all.
    pub(crate) is_cut: bool,
}

/// Folders whose path begins with `prefix`, sorted by name. Empty if the containing folder cannot be read.
///
/// # Errors
/// `invalid_input`: `prefix` is not the beginning of an absolute path.
pub(crate) async fn beginning_with(prefix: &str) -> Result<Found, ApiError> {
    if !prefix.starts_with('/') || prefix.contains('\0') {
        return Err(ApiError::invalid("`prefix` is the beginning of an absolute path, such as /srv/ap"));
    }
    if prefix.len() > PREFIX_BYTES_MAX {
        return Err(ApiError::invalid(format!("`prefix` has at most {PREFIX_BYTES_MAX} bytes")));
    }
    let prefix = prefix.to_owned();
    let look = async move {
        let permit = LOOKS.acquire().await.ok()?;
        let found = crate::heavy::blocking(move || {
            // Held to the end, even if nobody waits any more.
            let _permit = permit;
            found(&prefix, Instant::now() + LOOK_MAX)
        });
        found.await.ok()
    };
    // A disk that hangs blocks this thread and nothing else.
    let late = Found { items: Vec::new(), is_cut: true };
    Ok(timeout(2 * LOOK_MAX, look).await.ok().flatten().unwrap_or(late))
}

fn found(prefix: &str, until: Instant) -> Found {
    let (above, begun) = prefix.rsplit_once('/').unwrap_or(("", prefix));
    let above = above.trim_end_matches('/');
    let Ok(entries) = fs::read_dir(Path::new(if above.is_empty() { "/" } else { above })) else {
        return Found::default();
    };
    let (mut names, mut is_cut) = (Vec::new(), false);
    for (met, entry) in entries.map_while(Result::ok).enumerate() {
        is_cut = met >= ENTRIES_MAX || Instant::now() > until;
        if is_cut {
            break;
        }
        let name = entry.file_name();
        // A name that is not UTF-8 cannot be represented in JSON.
        if let Some(name) = name.to_str().filter(|name| fits(name, begun))
            && is_folder(&entry)
        {
            names.push(name.to_owned());
        }
    }
    // Exact prefix matches come first, then those that differ in case.
    names.sort_unstable_by(|a, b| (!a.starts_with(begun), a).cmp(&(!b.starts_with(begun), b)));
    is_cut |= names.len() > FOLDERS_MAX;
    names.truncate(FOLDERS_MAX);
    Found { items: names.into_iter().map(|name| format!("{above}/{name}")).collect(), is_cut }
}

/// Whether the name begins with `begun`, ignoring case. Hidden folders match only if `begun` starts with a dot.
fn fits(name: &str, begun: &str) -> bool {
    let is_shown = !name.starts_with('.') || begun.starts_with('.');
    is_shown && name.to_lowercase().starts_with(&begun.to_lowercase())
}

/// A folder or a link to one. A link to what this user cannot reach does not count.
fn is_folder(entry: &DirEntry) -> bool {
    match entry.file_type() {
        Ok(kind) if kind.is_symlink() => fs::metadata(entry.path()).is_ok_and(|target| target.is_dir()),
        Ok(kind) => kind.is_dir(),
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn names(root: &Path, begun: &str) -> Vec<String> {
        let root = root.to_str().unwrap();
        let found = beginning_with(&format!("{root}/{begun}")).await.unwrap();
        let name = |path: &String| path.strip_prefix(root).unwrap().to_owned();
        found.items.iter().map(name).collect()
    }

    #[tokio::test]
    async fn folders_alone_are_listed_and_hidden_ones_only_when_they_are_named() {
        let root = tempfile::tempdir().unwrap();
        for name in ["api", "app/src", "Apple", ".config"] {
            fs::create_dir_all(root.path().join(name)).unwrap();
        }
        fs::write(root.path().join("apple.txt"), "").unwrap();
        std::os::unix::fs::symlink(root.path().join("api"), root.path().join("apt")).unwrap();
        std::os::unix::fs::symlink(root.path().join("nowhere"), root.path().join("ape")).unwrap();
        assert_eq!(names(root.path(), "ap").await, ["/api", "/app", "/apt", "/Apple"]);
        assert_eq!(names(root.path(), "APP").await, ["/Apple", "/app"]);
        assert_eq!(names(root.path(), ".c").await, ["/.config"]);
        assert_eq!(names(root.path(), "app/").await, ["/app/src"]);
        assert_eq!(names(root.path(), "").await, ["/Apple", "/api", "/app", "/apt"]);
        assert_eq!(names(root.path(), "apple.txt/").await, Vec::<String>::new(), "a file holds no folder");
    }

    #[tokio::test]
    async fn what_is_no_path_is_refused_and_more_than_a_list_shows_is_said_to_be_cut() {
        for prefix in ["", "src", "~/src", "/a\0b", &format!("/{}", "x".repeat(5_000))] {
            assert!(beginning_with(prefix).await.is_err(), "{prefix:?}");
        }
        let root = tempfile::tempdir().unwrap();
        for number in 0..60 {
            fs::create_dir(root.path().join(format!("f{number:02}"))).unwrap();
        }
        let found = beginning_with(&format!("{}/f", root.path().display())).await.unwrap();
        assert_eq!((found.items.len(), found.is_cut), (FOLDERS_MAX, true));
        assert!(found.items[49].ends_with("/f49"), "the first by name: {:?}", found.items);
        assert_eq!(beginning_with("/no/such/folder/").await.unwrap(), Found::default());
    }
}
