//! Grep: matching lines, within limits and within the scope.

use protocol::Access;
use serde_json::json;

use crate::place::{Desk, code};

fn project() -> Desk {
    let desk = Desk::new();
    desk.file("w/src/a.rs", "fn one() {}\nlet x;\nfn two() {}\n").file("w/src/b.txt", "a fn\r\nend fn\r\n");
    desk.file("w/.gitignore", "target\n").file("w/target/t.rs", "fn hidden() {}\n").file("w/.h/h.rs", "fn h() {}\n");
    desk.file("w/bin", b"fn\n\0\0\n");
    desk
}

#[test]
fn matching_lines_are_shown_with_their_place() {
    let mut desk = project();
    let outcome = desk.call("Grep", json!({ "pattern": "^fn" }));
    assert_eq!(outcome.content.unwrap(), "src/a.rs:1: fn one() {}\nsrc/a.rs:3: fn two() {}\n");
    assert_eq!(outcome.summary, "2 lines match ^fn in 1 file");
    let outcome = desk.call("Grep", json!({ "pattern": "fn$|two" }));
    assert_eq!(outcome.content.unwrap(), "src/a.rs:3: fn two() {}\n\nsrc/b.txt:1: a fn\nsrc/b.txt:2: end fn\n");
    assert_eq!(desk.call("Grep", json!({ "pattern": "nothing" })).summary, "0 lines match nothing in 0 files");
    assert_eq!(desk.lines("Grep", json!({ "pattern": "(?i)ONE" })), ["src/a.rs:1: fn one() {}"]);
}

#[test]
fn a_search_is_narrowed_by_path_and_glob() {
    let mut desk = project();
    assert_eq!(desk.lines("Grep", json!({ "pattern": "fn", "glob": "*.txt" })).len(), 2);
    assert_eq!(desk.lines("Grep", json!({ "pattern": "fn", "glob": "src/*.txt" })).len(), 2);
    assert_eq!(desk.lines("Grep", json!({ "pattern": "fn", "glob": "*/b.rs" })).len(), 0);
    assert_eq!(desk.lines("Grep", json!({ "pattern": "fn", "path": "src/a.rs" })).len(), 2);
    assert_eq!(desk.lines("Grep", json!({ "pattern": "fn", "path": "target" })), ["target/t.rs:1: fn hidden() {}"]);
    assert_eq!(desk.lines("Grep", json!({ "pattern": "fn", "glob": ".h/**" })), [".h/h.rs:1: fn h() {}"]);
    assert_eq!(desk.lines("Grep", json!({ "pattern": "fn", "path": ".h/h.rs" })), [".h/h.rs:1: fn h() {}"]);
    assert_eq!(code(&desk.call("Grep", json!({ "pattern": "fn", "path": "none" }))), "not_found");
}

#[test]
fn lines_around_are_shown_and_gaps_are_marked() {
    let mut desk = Desk::new();
    desk.file("w/a.txt", "1\n2 hit\n3\n4\n5\n6\n7 hit\n8\n");
    let lines = desk.lines("Grep", json!({ "pattern": "hit", "context": 1 }));
    let wanted = ["a.txt-1- 1", "a.txt:2: 2 hit", "a.txt-3- 3", "--", "a.txt-6- 6", "a.txt:7: 7 hit", "a.txt-8- 8"];
    assert_eq!(lines, wanted);
}

#[test]
fn output_is_bounded_by_matches_bytes_and_line_length() {
    let mut desk = Desk::new();
    desk.file("w/a.txt", "hit\n".repeat(100)).file("w/b.txt", "hit\n".repeat(1000));
    let outcome = desk.call("Grep", json!({ "pattern": "hit" }));
    assert_eq!(
        outcome.summary,
        "100 lines match hit in 1 file, and there are more: narrow the pattern or raise `limit`"
    );
    assert_eq!(outcome.content.unwrap().lines().count(), 100);
    let exact = desk.call("Grep", json!({ "pattern": "hit", "path": "a.txt" }));
    assert_eq!(exact.summary, "100 lines match hit in 1 file");

    desk.file("w/a.txt", format!("{}\n", "x".repeat(9000)).repeat(1000));
    let outcome = desk.call("Grep", json!({ "pattern": "x", "limit": 1000 }));
    assert!(outcome.summary.ends_with("there is more than fits: narrow the pattern"), "{}", outcome.summary);
    let content = outcome.content.unwrap();
    assert!(content.len() <= 100 * 1024 && content.contains("… [8500 more characters]"));
}

#[test]
fn what_the_scope_does_not_read_is_not_searched() {
    let mut desk = project().with(Access::Deny, "w/src/a.rs");
    desk.file("out/secret.rs", "fn secret() {}\n").link("w/link.rs", "../out/secret.rs").link("w/dir", "../out");
    let lines = desk.lines("Grep", json!({ "pattern": "fn" }));
    assert_eq!(lines, ["src/b.txt:1: a fn", "src/b.txt:2: end fn"]);
}

#[test]
fn files_that_are_binary_or_too_large_are_left_out() {
    let mut desk = project();
    let late = [vec![b'f', b'n', b'\n'], vec![b'x'; 300_000], vec![0]].concat();
    desk.file("w/late", late).file("w/large.txt", "fn\n".repeat(4 * 1024 * 1024));
    let lines = desk.lines("Grep", json!({ "pattern": "fn", "limit": 1000 }));
    assert!(lines.iter().all(|line| line.starts_with("src/") || line.is_empty()), "{lines:?}");
}
