//! Detects a database that is gone: where something of it is left, no new one is created in its place.
//!
//! Each database has a small file beside it, its mark, which contains its id. So a database that was deleted or emptied
//! can be told from one that never existed, even if no log is left. The mark has no other use.

use std::{
    fs,
    io::{self, ErrorKind, Write},
    path::{Path, PathBuf},
};

use crate::StoreError;

/// For a person who opens the mark.
const EXPLANATION: &str = "\
This is the id of the database beside this file. While this file is here, yoi begins no new database in place of
one that is gone. See docs/operations.md, \"When the database is gone or damaged\".
";

/// What is found in place of a database that holds nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Absence {
    Missing,
    Empty,
    /// An SQLite file without tables.
    WithoutTables,
}

/// Refuses to create a database where there was one.
///
/// # Errors
/// [`StoreError::Lost`]: the file is missing or empty, while something of a database is left. This has to be checked
/// before SQLite opens the file, because it would delete the log of an empty one.
pub(super) fn refuse_beginning_beside_remains(path: &Path, others: &[PathBuf]) -> Result<(), StoreError> {
    let absence = match fs::metadata(path) {
        Ok(file) if file.len() == 0 => Absence::Empty,
        Err(error) if error.kind() == ErrorKind::NotFound => Absence::Missing,
        // Any problem with it is reported when it is opened.
        Ok(_) | Err(_) => return Ok(()),
    };
    let mut remains: Vec<PathBuf> = ["-wal", "-journal"].iter().map(|end| beside(path, end)).collect();
    remains.retain(|file| fs::metadata(file).is_ok_and(|file| file.len() > 0));
    if absence == Absence::Empty {
        remains.retain(|file| *file != beside(path, "-journal") || !is_of_a_beginning(file));
    }
    remains.extend(Some(mark_of(path)).filter(|mark| mark.exists()));
    remains.extend(others.iter().filter(|other| other.exists()).cloned());
    if remains.is_empty() { Ok(()) } else { Err(lost(path, absence, &remains)) }
}

/// Whether a rollback journal belongs to the very first transaction of a database: a kill during that leaves an empty
/// file and this journal, and nothing was lost. The header contains the previous number of pages, in four bytes at
/// offset 16. See <https://www.sqlite.org/fileformat2.html#the_rollback_journal>.
fn is_of_a_beginning(journal: &Path) -> bool {
    const PAGES_BEFORE: std::ops::Range<usize> = 16..20;
    fs::read(journal).is_ok_and(|bytes| bytes.get(PAGES_BEFORE).is_none_or(|pages| pages == [0; 4]))
}

/// Like [`refuse_beginning_beside_remains`], for an SQLite file that has no tables yet.
pub(super) fn refuse_first_tables_beside_mark(path: &Path) -> Result<(), StoreError> {
    let mark = mark_of(path);
    if mark.exists() { Err(lost(path, Absence::WithoutTables, &[mark])) } else { Ok(()) }
}

/// Marks an existing database. A failure is harmless: the database works without a mark.
pub(super) fn put(path: &Path, store_id: &str) {
    let mark = mark_of(path);
    let known = fs::read_to_string(&mark).ok();
    let known = known.as_deref().and_then(|text| text.lines().next());
    if known == Some(store_id) {
        return;
    }
    if let Some(known) = known {
        tracing::warn!(known, found = store_id, database = %path.display(), "the database is another one than before");
    }
    if let Err(error) = write(&mark, &format!("{store_id}\n\n{EXPLANATION}")) {
        tracing::warn!(%error, mark = %mark.display(), "the database cannot be marked; if it is deleted, that is not noticed");
    }
}

/// A file that belongs to the database, by the suffix of its name.
pub(super) fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

fn mark_of(path: &Path) -> PathBuf {
    beside(path, ".id")
}

/// Written atomically, accessible only to its owner.
fn write(mark: &Path, text: &str) -> io::Result<()> {
    let new = beside(mark, ".new");
    let mut options = fs::OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.write(true).create(true).truncate(true).open(&new)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&new, mark)
}

fn lost(path: &Path, absence: Absence, remains: &[PathBuf]) -> StoreError {
    let absence = match absence {
        Absence::Missing => "is gone",
        Absence::Empty => "is empty",
        Absence::WithoutTables => "holds no tables",
    };
    let size = |file: &Path| match fs::metadata(file) {
        Ok(file) if file.is_file() => format!(" ({} kB)", file.len().div_ceil(1024)),
        _ => String::new(),
    };
    let named: Vec<String> = remains.iter().map(|file| format!("{}{}", file.display(), size(file))).collect();
    StoreError::Lost(format!(
        "the database {} {absence}, but there was one, and this is left of it: {}. Nothing is begun in its place, and nothing \
         was changed. Put the database back (a -wal file belongs to the database that it was written with; put a backup back without it), \
         or move what is left away to start over; docs/operations.md says more",
        path.display(),
        named.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(path: &Path, others: &[PathBuf]) -> Option<String> {
        refuse_beginning_beside_remains(path, others).err().map(|error| match error {
            StoreError::Lost(sentence) => sentence,
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn a_database_is_begun_where_nothing_is_left_of_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("yoi.db");
        let others = [folder.path().join("outputs")];
        assert_eq!(refusal(&path, &others), None);
        fs::write(&path, "").unwrap();
        fs::write(beside(&path, "-wal"), "").unwrap();
        assert_eq!(refusal(&path, &others), None, "it was made a moment ago, and nothing came into it");
    }

    #[test]
    fn a_beginning_that_was_killed_leaves_nothing_to_be_missed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("yoi.db");
        let journal = beside(&path, "-journal");
        fs::write(&path, "").unwrap();
        let header = |pages: u32| [&[0; 16][..], &pages.to_be_bytes(), &[7; 492]].concat();
        fs::write(&journal, header(0)).unwrap();
        assert_eq!(refusal(&path, &[]), None);
        fs::write(&journal, header(3)).unwrap();
        assert!(refusal(&path, &[]).unwrap().contains("-journal (1 kB)"), "a database of three pages was there");
        fs::write(&journal, header(0)).unwrap();
        fs::remove_file(&path).unwrap();
        assert!(refusal(&path, &[]).unwrap().contains("is gone"));
    }

    #[test]
    fn anything_that_is_left_is_named_with_its_size() {
        for absence in ["is gone", "is empty"] {
            for (left, text) in
                [("yoi.db-wal", "-wal (3 kB)"), ("yoi.db.id", ".id (3 kB)"), ("outputs", "outputs (3 kB)")]
            {
                let folder = tempfile::tempdir().unwrap();
                let path = folder.path().join("yoi.db");
                if absence == "is empty" {
                    fs::write(&path, "").unwrap();
                }
                fs::write(folder.path().join(left), [7; 3000]).unwrap();
                let sentence = refusal(&path, &[folder.path().join("outputs")]).unwrap();
                assert!(sentence.contains(absence) && sentence.contains(text), "{sentence}");
                assert!(sentence.contains(&*path.to_string_lossy()), "{sentence}");
            }
        }
    }

    #[test]
    fn a_mark_is_written_once_and_anew_for_another_database() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("yoi.db");
        let first_line = || fs::read_to_string(mark_of(&path)).unwrap().lines().next().unwrap().to_owned();
        for id in ["one", "one", "two"] {
            put(&path, id);
            assert_eq!(first_line(), id);
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(refuse_first_tables_beside_mark(&path).unwrap_err().to_string().contains("holds no tables"));
    }
}
