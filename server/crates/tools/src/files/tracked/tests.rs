use std::os::unix::fs::{PermissionsExt, symlink};

use protocol::ScopeRule;

use super::*;

/// Counts what it is given.
#[derive(Default)]
struct Counting(usize);

impl Keep for Counting {
    fn keep(&mut self, _: &str, _: &[u8]) -> io::Result<Option<u64>> {
        self.0 += 1;
        Ok(Some(self.0 as u64))
    }
}

fn scope_of(folder: &Path) -> Scope {
    let path = folder.to_str().unwrap().to_owned();
    Scope::new([ScopeRule { path, access: Access::Write, recursive: true }], [])
}

fn folder() -> (tempfile::TempDir, String, Scope) {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().canonicalize().unwrap();
    let (cwd, scope) = (at.to_str().unwrap().to_owned(), scope_of(&at));
    (folder, cwd, scope)
}

fn put(cwd: &str, path: &str, content: &str) {
    let path = Path::new(cwd).join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn left_out(found: &Found) -> Vec<(&str, &str)> {
    found.left_out.iter().map(|one| (one.path.as_str(), one.why.as_str())).collect()
}

fn paths(found: &Found) -> Vec<&str> {
    found.tree.keys().map(String::as_str).collect()
}

#[test]
fn without_git_everything_is_looked_at_and_in_a_repository_what_git_ignores_is_not() {
    let (_kept, cwd, scope) = folder();
    for path in ["a.txt", ".env", "src/b.rs", "dist/made.js", "node_modules/x/index.js", ".gitignore"] {
        put(&cwd, path, if path == ".gitignore" { "dist/\n" } else { path });
    }
    let found = look(&cwd, &scope, (&Tree::new(), &[]), &mut Counting::default()).unwrap();
    assert_eq!(paths(&found), [".env", ".gitignore", "a.txt", "dist/made.js", "src/b.rs"]);
    assert_eq!(found.left_out[0].path, "node_modules");
    put(&cwd, ".git/HEAD", "ref: refs/heads/main\n");
    let found = look(&cwd, &scope, (&Tree::new(), &[]), &mut Counting::default()).unwrap();
    assert_eq!(paths(&found), [".env", ".gitignore", "a.txt", "src/b.rs"]);
    assert_eq!(left_out(&found), [("node_modules", "such a folder is filled by a program"), ("dist", IGNORED)]);
}

#[test]
fn who_makes_git_ignore_everything_is_seen_and_what_is_ignored_is_named_within_bounds() {
    let (_kept, cwd, scope) = folder();
    put(&cwd, ".git/HEAD", "ref: refs/heads/main\n");
    put(&cwd, ".gitignore", "*\n");
    put(&cwd, "evil.sh", "x");
    put(&cwd, "src/a", "x");
    let found = look(&cwd, &scope, (&Tree::new(), &[]), &mut Counting::default()).unwrap();
    assert_eq!(paths(&found), [".gitignore"]);
    assert_eq!(left_out(&found), [("evil.sh", IGNORED), ("src", IGNORED)]);
    (0..IGNORED_MAX).for_each(|number| put(&cwd, &format!("a{number}"), "x"));
    let found = look(&cwd, &scope, (&Tree::new(), &[]), &mut Counting::default()).unwrap();
    assert_eq!(found.left_out.len(), IGNORED_MAX);
    assert!(found.left_out.last().unwrap().why.ends_with(", and 2 more that are not named here"), "{found:?}");
}

#[test]
fn an_ignored_file_that_somebody_wants_looked_at_is_and_stays_so() {
    let (_kept, cwd, scope) = folder();
    put(&cwd, ".git/HEAD", "ref: refs/heads/main\n");
    put(&cwd, ".git/info/exclude", ".env\n");
    put(&cwd, ".env", "1");
    let also = [format!("{cwd}/.env"), "missing".to_owned(), "../outside".to_owned()];
    let found = look(&cwd, &scope, (&Tree::new(), &also), &mut Counting::default()).unwrap();
    assert_eq!((paths(&found), found.left_out.len()), (vec![".env"], 0));
    let again = look(&cwd, &scope, (&found.tree, &[]), &mut Counting::default()).unwrap();
    assert_eq!((paths(&again), again.left_out.len()), (vec![".env"], 0));
}

#[test]
fn a_name_that_is_not_utf_8_is_told_as_far_as_it_is_text() {
    use std::os::unix::ffi::OsStrExt;
    let (_kept, cwd, scope) = folder();
    fs::write(Path::new(&cwd).join(OsStr::from_bytes(b"caf\xe9")), "x").unwrap();
    fs::create_dir(Path::new(&cwd).join(OsStr::from_bytes(b"d\xff"))).unwrap();
    let found = look(&cwd, &scope, (&Tree::new(), &[]), &mut Counting::default()).unwrap();
    assert_eq!(left_out(&found), [("caf\u{fffd}", NOT_TEXT), ("d\u{fffd}", NOT_TEXT)]);
}

#[test]
fn a_file_that_is_gone_comes_back_with_the_mode_that_it_had() {
    let (_kept, cwd, scope) = folder();
    put(&cwd, "secret", "x");
    let path = Path::new(&cwd).join("secret");
    let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let found = look(&cwd, &scope, (&Tree::new(), &[]), &mut Counting::default()).unwrap();
    assert_eq!(found.tree["secret"].mode, Some(0o600));
    let content = read_file(&cwd, &scope, "secret").unwrap().unwrap();
    fs::remove_file(&path).unwrap();
    replace_file(&cwd, &scope, "secret", (None, Some(&content))).unwrap();
    assert_eq!(mode(), 0o600);
    // One that is there keeps its own.
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let other = Content { bytes: b"y".to_vec(), ..content.clone() };
    replace_file(&cwd, &scope, "secret", (Some(&content), Some(&other))).unwrap();
    assert_eq!(mode(), 0o640);
}

#[test]
fn a_file_takes_the_place_of_a_folder_only_if_no_file_is_in_it() {
    let (_kept, cwd, scope) = folder();
    put(&cwd, "f/deep/y", "in");
    put(&cwd, "d", "now");
    let new = Content { bytes: b"former".to_vec(), is_executable: false, mode: None };
    assert_eq!(read_file(&cwd, &scope, "f").unwrap(), None);
    assert_eq!(read_file(&cwd, &scope, "d/x").unwrap(), None);
    for path in ["f", "d/x"] {
        let refused = replace_file(&cwd, &scope, path, (None, Some(&new))).unwrap_err();
        assert!(refused.code == "invalid_input" && refused.detail.contains("first"), "{refused:?}");
    }
    let room = |path: &str, going: &[&str]| has_room(&cwd, path, &|path| going.contains(&path));
    assert!(room("f", &["f/deep/y"]) && room("d/x", &["d"]) && room("d", &[]) && room("new/er", &[]));
    assert!(!room("f", &[]) && !room("d/x", &[]));
    fs::remove_file(Path::new(&cwd).join("f/deep/y")).unwrap();
    fs::remove_file(Path::new(&cwd).join("d")).unwrap();
    for path in ["f", "d/x"] {
        replace_file(&cwd, &scope, path, (None, Some(&new))).unwrap();
        assert_eq!(fs::read_to_string(Path::new(&cwd).join(path)).unwrap(), "former");
    }
}

#[test]
fn what_was_seen_is_seen_again_even_if_it_is_ignored_now() {
    let (_kept, cwd, scope) = folder();
    put(&cwd, ".git/HEAD", "ref: refs/heads/main\n");
    put(&cwd, "a.txt", "1");
    let before = look(&cwd, &scope, (&Tree::new(), &[]), &mut Counting::default()).unwrap();
    put(&cwd, ".gitignore", "a.txt\nnew.txt\n");
    put(&cwd, "a.txt", "changed");
    put(&cwd, "new.txt", "x");
    let after = look(&cwd, &scope, (&before.tree, &[]), &mut Counting::default()).unwrap();
    assert_eq!(paths(&after), [".gitignore", "a.txt"]);
    assert!(!after.tree["a.txt"].is_same(&before.tree["a.txt"]));
}

#[test]
fn a_file_whose_stamp_is_the_same_is_not_read_again_and_one_just_written_is() {
    let (_kept, cwd, scope) = folder();
    put(&cwd, "a.txt", "1");
    let first = look(&cwd, &scope, (&Tree::new(), &[]), &mut Counting::default()).unwrap();
    assert_eq!(first.tree["a.txt"].stamp.changed, 0, "it was written a moment ago");
    put(&cwd, "a.txt", "2");
    let mut keep = Counting::default();
    let second = look(&cwd, &scope, (&first.tree, &[]), &mut keep).unwrap();
    assert_eq!((keep.0, second.tree["a.txt"].is_same(&first.tree["a.txt"])), (1, false));
    // As if it were a second later.
    let later = now_ns() + 1_000_000_000;
    let mut settled = look_at(&cwd, &scope, (&second.tree, &[]), &mut keep, later).unwrap().tree;
    assert_eq!(keep.0, 1, "its content is known");
    // A lie that only reading would find out.
    settled.get_mut("a.txt").unwrap().hash = Some("0".repeat(64));
    let third = look_at(&cwd, &scope, (&settled, &[]), &mut keep, later).unwrap();
    assert_eq!((keep.0, third.tree), (1, settled));
}

#[test]
fn links_are_told_and_never_followed() {
    let (_other, elsewhere, _) = folder();
    put(&elsewhere, "secret", "hunter2");
    let (_kept, cwd, scope) = folder();
    symlink(Path::new(&elsewhere).join("secret"), Path::new(&cwd).join("link")).unwrap();
    symlink(&elsewhere, Path::new(&cwd).join("folder")).unwrap();
    let found = look(&cwd, &scope, (&Tree::new(), &[]), &mut Counting::default()).unwrap();
    assert!(found.tree.len() == 2 && found.tree.values().all(|entry| entry.is_link), "{found:?}");
    for path in ["link", "folder/secret", "../x", "/etc/passwd", "a\0b", ""] {
        assert!(read_file(&cwd, &scope, path).is_err(), "{path:?}");
        let new = Content { bytes: b"x".to_vec(), is_executable: false, mode: None };
        assert!(replace_file(&cwd, &scope, path, (None, Some(&new))).is_err(), "{path:?}");
    }
    assert_eq!(fs::read_to_string(Path::new(&elsewhere).join("secret")).unwrap(), "hunter2");
}

#[test]
fn a_file_is_replaced_only_if_it_is_what_was_seen() {
    let (_kept, cwd, scope) = folder();
    let content = |text: &str, is_executable| Content { bytes: text.as_bytes().to_vec(), is_executable, mode: None };
    let (old, new) = (content("old", false), content("new", true));
    replace_file(&cwd, &scope, "deep/er/run", (None, Some(&new))).unwrap();
    assert_eq!(read_file(&cwd, &scope, "deep/er/run").unwrap(), Some(new.clone()));
    let mode = fs::metadata(Path::new(&cwd).join("deep/er/run")).unwrap().permissions().mode();
    assert_ne!(mode & 0o100, 0);
    let refused = replace_file(&cwd, &scope, "deep/er/run", (Some(&old), None)).unwrap_err();
    assert_eq!(refused.code, "read_first");
    assert_eq!(replace_file(&cwd, &scope, "deep/er/run", (None, Some(&old))).unwrap_err().code, "read_first");
    replace_file(&cwd, &scope, "deep/er/run", (Some(&new), None)).unwrap();
    assert_eq!(read_file(&cwd, &scope, "deep/er/run").unwrap(), None);
}

#[test]
fn what_is_denied_is_not_looked_at_and_what_is_only_read_is_neither() {
    let (_kept, cwd, _) = folder();
    for path in ["a", "no/b", "read/c"] {
        put(&cwd, path, path);
    }
    let rule = |path: &str, access| ScopeRule { path: path.to_owned(), access, recursive: true };
    let scope = Scope::new([rule(&cwd, Access::Write), rule(&format!("{cwd}/no"), Access::Deny)], []);
    assert_eq!(paths(&look(&cwd, &scope, (&Tree::new(), &[]), &mut Counting::default()).unwrap()), ["a", "read/c"]);
    let scope = Scope::new([rule(&cwd, Access::Read), rule(&format!("{cwd}/no"), Access::Write)], []);
    assert_eq!(paths(&look(&cwd, &scope, (&Tree::new(), &[]), &mut Counting::default()).unwrap()), ["no/b"]);
}
