//! Edit: exactly one passage, seen before, with the line endings of the file.

use serde_json::json;

use crate::place::{Desk, code};

#[test]
fn a_passage_is_replaced_and_the_change_is_shown() {
    let mut desk = Desk::new();
    desk.file("w/a.rs", "fn a() {}\nfn b() {}\n");
    assert_eq!(code(&desk.edit("a.rs", "fn b", "fn c")), "read_first");
    desk.read("a.rs");
    let outcome = desk.edit("a.rs", "fn b() {}\n", "fn c() {}\nfn d() {}\n");
    assert_eq!(outcome.summary, "edited a.rs: +2 −1");
    let diff = "--- a/a.rs\n+++ b/a.rs\n@@ -1,2 +1,3 @@\n fn a() {}\n-fn b() {}\n+fn c() {}\n+fn d() {}\n";
    assert_eq!(outcome.diff.unwrap(), diff);
    assert!(!desk.edit("a.rs", "fn d() {}\n", "").is_error, "what was edited is seen");
    assert_eq!(desk.content("w/a.rs"), "fn a() {}\nfn c() {}\n");
}

#[test]
fn a_passage_must_be_there_and_be_the_only_one() {
    let mut desk = Desk::new();
    desk.file("w/a.txt", "x = 1\ny = 1\nz = 1\n");
    desk.read("a.txt");
    let outcome = desk.edit("a.txt", "= 1", "= 2");
    assert_eq!(code(&outcome), "not_unique");
    assert!(outcome.summary.contains("3 times") && outcome.summary.contains("replace_all"), "{}", outcome.summary);
    assert_eq!(code(&desk.edit("a.txt", "= 3", "= 2")), "no_match");
    assert_eq!(code(&desk.edit("a.txt", "", "= 2")), "invalid_input");
    assert_eq!(code(&desk.edit("a.txt", "= 1", "= 1")), "invalid_input");
    assert_eq!(code(&desk.edit("none.txt", "a", "b")), "not_found");
    assert_eq!(desk.content("w/a.txt"), "x = 1\ny = 1\nz = 1\n");

    let all = json!({ "path": "a.txt", "old": "= 1", "new": "= 2", "replace_all": true });
    assert_eq!(desk.call("Edit", all).summary, "edited a.txt: +3 −3");
    assert_eq!(desk.content("w/a.txt"), "x = 2\ny = 2\nz = 2\n");
}

#[test]
fn line_endings_stay_what_they_are() {
    let mut desk = Desk::new();
    desk.file("w/dos.txt", "one\r\ntwo\r\nthree\r\n").file("w/mixed.txt", "one\r\ntwo\nthree\r\n");
    desk.read("dos.txt");
    assert!(!desk.edit("dos.txt", "one\ntwo", "1\n2\n2½").is_error);
    assert_eq!(desk.content("w/dos.txt"), "1\r\n2\r\n2½\r\nthree\r\n");
    desk.read("mixed.txt");
    assert!(!desk.edit("mixed.txt", "two\nthree", "2\n3").is_error);
    assert_eq!(desk.content("w/mixed.txt"), "one\r\n2\n3\r\n");
}

#[test]
fn another_change_between_read_and_edit_is_noticed() {
    let mut desk = Desk::new();
    desk.file("w/a.txt", "one\n");
    desk.read("a.txt");
    desk.file("w/a.txt", "one\ntwo\n");
    assert_eq!(code(&desk.edit("a.txt", "one", "1")), "read_first");
    assert_eq!(desk.content("w/a.txt"), "one\ntwo\n");
}
