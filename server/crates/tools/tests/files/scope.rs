//! Nothing outside the scope is reached, by whatever name.

use std::fs;

use protocol::{Access, ScopeRule};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::json;

use crate::place::{Desk, code};

/// Asserts that each tool refuses `path` in the same words, and shows nothing of what is there.
#[track_caller]
fn refused(desk: &mut Desk, path: &str, wanted: &str) {
    let calls = [
        ("Read", json!({ "path": path })),
        ("Write", json!({ "path": path, "content": "mine" })),
        ("Edit", json!({ "path": path, "old": "secret", "new": "mine" })),
        ("Grep", json!({ "pattern": "secret", "path": path })),
        ("Glob", json!({ "pattern": "**", "path": path })),
    ];
    for (tool, arguments) in calls {
        let outcome = desk.call(tool, arguments);
        assert_eq!(code(&outcome), "permission_denied", "{tool} {path}: {}", outcome.summary);
        assert!(outcome.summary.contains(wanted), "{tool} {path}: {}", outcome.summary);
        assert_eq!((outcome.content, outcome.diff, outcome.seen), (None, None, None));
    }
}

const OUTSIDE: &str = "is outside the scope of this Pod";

#[test]
fn what_is_outside_is_refused_whether_it_exists_or_not() {
    let mut desk = Desk::new();
    desk.file("out/secret.txt", "secret").file("w/a.txt", "a");
    let absolute = desk.path("out/secret.txt");
    for path in [absolute.as_str(), "../out/secret.txt", "x/../../out/secret.txt", "../out/none", "/", ".."] {
        refused(&mut desk, path, OUTSIDE);
    }
    let sibling = desk.path("w2");
    refused(&mut desk, &sibling, OUTSIDE);
    assert_eq!(desk.content("out/secret.txt"), "secret");
}

#[test]
fn links_that_lead_out_are_refused_at_their_end_and_on_the_way() {
    let mut desk = Desk::new();
    desk.file("out/secret.txt", "secret");
    let out = desk.path("out");
    desk.link("w/relative", "../out/secret.txt").link("w/folder", "../out").link("w/absolute", &out);
    desk.link("w/twice", "folder").link("w/nowhere", "../out/none").link("w/up", "../../../../../../etc");
    for path in ["relative", "folder/secret.txt", "absolute/secret.txt", "twice/secret.txt", "nowhere", "folder/none"] {
        refused(&mut desk, path, "leads through a symbolic link to something that is outside the scope");
    }
    refused(&mut desk, "up/passwd", OUTSIDE);
    assert_eq!(desk.content("out/secret.txt"), "secret");
    assert_eq!(fs::read_dir(&out).unwrap().count(), 1);
}

#[test]
fn links_within_the_scope_are_followed_and_written_through() {
    let mut desk = Desk::new();
    desk.file("w/real/a.txt", "one\n");
    let absolute = desk.path("w/real");
    desk.link("w/relative", "real/a.txt").link("w/absolute", &absolute).link("w/new", "real/../made/b.txt");

    assert_eq!(desk.read("relative").content.unwrap(), "     1\tone\n");
    assert!(!desk.write("relative", "two\n").is_error);
    assert!(!desk.edit("absolute/a.txt", "two", "three").is_error);
    assert!(!desk.write("new", "b").is_error);
    assert_eq!((desk.content("w/real/a.txt").as_str(), desk.content("w/made/b.txt").as_str()), ("three\n", "b"));
    assert!(fs::symlink_metadata(desk.path("w/relative")).unwrap().is_symlink(), "the link is still one");
}

#[test]
fn a_circle_of_links_ends() {
    let mut desk = Desk::new();
    desk.link("w/a", "b").link("w/b", "a");
    for outcome in [desk.read("a"), desk.write("a", "x"), desk.read("a/b/c")] {
        assert!(outcome.summary.contains("too many symbolic links"), "{}", outcome.summary);
    }
}

#[test]
fn a_denied_part_stays_closed_by_name_and_by_link() {
    let mut desk = Desk::new().with(Access::Deny, "w/keys");
    desk.file("w/keys/k.txt", "secret").file("w/a.txt", "plain").link("w/link", "keys/k.txt").link("w/dir", "keys");
    let denied = "is denied by a rule of this Pod's scope";
    for path in ["keys/k.txt", "keys/none", "keys", "link", "dir/k.txt", "dir/none", "a/../keys/k.txt"] {
        refused(&mut desk, path, denied);
    }
    assert_eq!(desk.lines("Glob", json!({ "pattern": "**" })), ["a.txt"]);
    assert!(desk.lines("Grep", json!({ "pattern": "secret" })).is_empty());
    assert_eq!(desk.content("w/keys/k.txt"), "secret");
}

#[test]
fn a_lent_part_is_read_and_not_written_by_name_or_by_link() {
    let mut desk = Desk::new().with_lent("w/lib");
    desk.file("w/lib/a.rs", "one\n").link("w/link", "lib/a.rs").link("w/dir", "lib");
    for path in ["lib/a.rs", "link", "dir/a.rs"] {
        assert_eq!(desk.read(path).content.unwrap(), "     1\tone\n", "{path}");
        for outcome in [desk.write(path, "x"), desk.edit(path, "one", "two")] {
            assert_eq!(code(&outcome), "permission_denied");
            assert!(outcome.summary.contains("is lent to a child for writing"), "{}", outcome.summary);
        }
    }
    assert_eq!(code(&desk.write("dir/new/b.rs", "x")), "permission_denied");
    assert!(!fs::exists(desk.path("w/lib/new")).unwrap());
    assert!(!desk.write("b.rs", "mine").is_error);
}

#[test]
fn a_rule_for_reading_lets_nothing_be_written() {
    let mut desk = Desk::new().only(Access::Read, "w");
    desk.file("w/a.txt", "one\n");
    assert!(!desk.read("a.txt").is_error);
    for outcome in [desk.edit("a.txt", "one", "two"), desk.write("a.txt", "x"), desk.write("n/b.txt", "x")] {
        assert_eq!(code(&outcome), "permission_denied");
        assert!(outcome.summary.contains("for reading only"), "{}", outcome.summary);
    }
    assert!(!fs::exists(desk.path("w/n")).unwrap());
}

#[test]
fn a_rule_that_is_not_recursive_ends_at_the_folders_own_files() {
    let mut desk = Desk::new();
    desk.rules = vec![ScopeRule { recursive: false, ..desk.rule(Access::Write, "w") }];
    desk.file("w/a.txt", "a needle\n").file("w/sub/b.txt", "b needle\n");
    assert!(!desk.read("a.txt").is_error && !desk.write("new.txt", "x").is_error);
    for outcome in [desk.read("sub/b.txt"), desk.write("sub/c.txt", "x"), desk.write("deep/er/c.txt", "x")] {
        assert_eq!(code(&outcome), "permission_denied", "{}", outcome.summary);
    }
    assert_eq!(desk.lines("Glob", json!({ "pattern": "**" })), ["a.txt", "new.txt"]);
    assert_eq!(desk.lines("Grep", json!({ "pattern": "needle" })), ["a.txt:1: a needle"]);
}

#[test]
fn a_rule_may_be_a_single_file_that_is_there_or_not() {
    let mut desk = Desk::new().only(Access::Write, "w/a.txt").with(Access::Write, "w/n/new.txt");
    desk.file("w/a.txt", "one\n").file("w/b.txt", "two\n");
    assert!(!desk.read("a.txt").is_error);
    assert!(!desk.edit("a.txt", "one", "three").is_error);
    assert_eq!(desk.content("w/a.txt"), "three\n");
    assert_eq!(code(&desk.read("b.txt")), "permission_denied");
    assert_eq!(code(&desk.read(".")), "permission_denied");

    let outcome = desk.write("n/new.txt", "x");
    assert_eq!(code(&outcome), "permission_denied", "the folder around it is not in the scope: {}", outcome.summary);
    fs::create_dir(desk.path("w/n")).unwrap();
    assert!(!desk.write("n/new.txt", "x").is_error);
}

#[test]
fn a_scope_whose_folder_is_not_there_yet_can_be_made() {
    let mut desk = Desk::new().only(Access::Write, "w/made");
    assert_eq!(code(&desk.read("made/a.txt")), "not_found");
    assert!(!desk.write("made/deep/a.txt", "x").is_error);
    assert_eq!(desk.content("w/made/deep/a.txt"), "x");
}

#[test]
fn the_deeper_of_two_rules_does_not_hide_the_wider_one() {
    let mut desk = Desk::new().only(Access::Read, "w").with(Access::Write, "w/out").with(Access::Deny, "w/out/no");
    desk.file("w/a.txt", "a").file("w/out/b.txt", "b").file("w/out/no/c.txt", "c").link("w/out/up", "../a.txt");
    assert!(!desk.read("a.txt").is_error && !desk.read("out/b.txt").is_error && !desk.read("out/up").is_error);
    assert!(!desk.write("out/b.txt", "B").is_error);
    assert_eq!(code(&desk.write("out/up", "A")), "permission_denied");
    assert_eq!(code(&desk.write("out/no/c.txt", "C")), "permission_denied");
}

#[test]
fn what_is_no_regular_file_is_not_opened() {
    let mut desk = Desk::new();
    mknodat(CWD, desk.path("w/pipe"), FileType::Fifo, Mode::from_raw_mode(0o644), 0).unwrap();
    for outcome in [desk.read("pipe"), desk.write("pipe", "x"), desk.edit("pipe", "a", "b")] {
        assert_eq!(code(&outcome), "invalid_input", "{}", outcome.summary);
    }
    assert!(desk.lines("Grep", json!({ "pattern": "." })).is_empty());
    assert!(desk.lines("Glob", json!({ "pattern": "*" })).is_empty());
}

#[test]
fn the_servers_own_process_is_in_no_scope() {
    let mut desk = Desk::new();
    desk.rules = vec![ScopeRule { path: "/".to_owned(), access: Access::Read, recursive: true }];
    desk.link("w/me", "/proc/self/environ");
    let pid = std::process::id();
    for path in ["/proc/self/environ".to_owned(), format!("/proc/{pid}/environ"), "me".to_owned()] {
        assert_eq!(code(&desk.read(&path)), "permission_denied", "{path}");
    }
    assert!(!desk.read("/etc/hostname").is_error || !desk.read("/etc/passwd").is_error);
}

#[test]
fn a_scope_named_through_a_link_says_so() {
    let mut desk = Desk::new().only(Access::Write, "alias");
    desk.file("w/a.txt", "a").link("alias", "w");
    let path = desk.path("alias/a.txt");
    let outcome = desk.read(&path);
    assert_eq!(code(&outcome), "permission_denied");
    assert!(outcome.summary.contains("the scope must name its real path"), "{}", outcome.summary);
}
