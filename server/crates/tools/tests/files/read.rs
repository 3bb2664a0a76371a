//! Read: numbered text, what it records about the file, and stored outputs.

use protocol::Seen;
use serde_json::json;

use crate::place::{Desk, code};

#[test]
fn text_is_shown_with_numbers_and_its_whole_content_counts_as_seen() {
    let mut desk = Desk::new();
    desk.file("w/src/main.rs", "one\r\ntwo\nthree\n");
    let outcome = desk.call("Read", json!({ "path": "./src/../src/main.rs", "offset": 2, "limit": 1 }));
    assert_eq!(outcome.summary, "read src/main.rs, lines 2–2 of 3");
    assert_eq!(outcome.content.unwrap(), "     2\ttwo\n… 1 more line: Read again with offset 3");
    let sha256 = "737cacfd55bc153855c76808d5ca28da6a8e36118f5b48bb7b6105a457cca25c".to_owned();
    assert_eq!(outcome.seen, Some(Seen::File { path: desk.path("w/src/main.rs"), sha256 }));
}

#[test]
fn a_hundred_kibibytes_are_shown_at_most_and_the_rest_can_be_had() {
    let mut desk = Desk::new();
    desk.file("w/long.txt", "0123456789 and so on, a line of fifty characters..\n".repeat(6000));
    let (mut offset, mut shown, mut calls) = (1, 0, 0);
    while offset <= 6000 {
        let outcome = desk.call("Read", json!({ "path": "long.txt", "offset": offset, "limit": 100_000 }));
        let content = outcome.content.unwrap();
        assert!(content.len() <= 100 * 1024 + 100);
        let lines = content.lines().filter(|line| line.contains('\t')).count();
        (offset, shown, calls) = (offset + lines, shown + lines, calls + 1);
    }
    assert_eq!((shown, calls), (6000, 4));
}

#[test]
fn what_is_not_text_is_named_and_not_shown() {
    let mut desk = Desk::new();
    desk.file("w/a.png", b"\x89PNG\r\n\x1a\n\0\0").file("w/latin.txt", b"gr\xfc\xdfe").file("w/nul", b"a\0b");
    for (path, kind) in [
        ("a.png", "a.png begins like a PNG picture but is not a valid one (10 bytes)"),
        ("latin.txt", "latin.txt is text that is not UTF-8 (5 bytes)"),
        ("nul", "nul is binary data (3 bytes)"),
    ] {
        let outcome = desk.read(path);
        assert_eq!(code(&outcome), "invalid_input");
        assert!(outcome.summary.starts_with(kind), "{}", outcome.summary);
        assert_eq!((outcome.content, outcome.seen), (None, None));
    }
}

#[test]
fn folders_missing_files_and_huge_files_have_answers_of_their_own() {
    let mut desk = Desk::new();
    desk.file("w/huge.txt", vec![b'a'; 10 * 1024 * 1024 + 1]).file("w/empty.txt", "");
    assert!(desk.read(".").summary.contains("use Glob"), "folder");
    assert_eq!(code(&desk.read("none.txt")), "not_found");
    assert_eq!(code(&desk.read("empty.txt/x")), "not_found");
    assert!(desk.read("huge.txt").summary.contains("at most 10485760 are read"));
    assert_eq!(desk.read("empty.txt").summary, "read empty.txt, which is empty");
    let outcome = desk.call("Read", json!({ "path": "empty.txt", "offset": 0 }));
    assert_eq!(code(&outcome), "invalid_input");
}

#[test]
fn kept_output_is_read_by_the_id_of_its_call_and_its_folder_is_never_named() {
    let mut desk = Desk::new();
    desk.file("outputs/call-7", b"one\ntwo \xff\nthree\n").file("secret.txt", "secret");
    desk.link("outputs/link", "../secret.txt");
    std::fs::create_dir(desk.path("outputs/folder")).unwrap();

    let outcome = desk.call("Read", json!({ "path": "output:call-7", "offset": 2, "limit": 1 }));
    assert_eq!(outcome.summary, "read output:call-7, lines 2–2 of 3");
    assert_eq!(outcome.content.unwrap(), "     2\ttwo \u{fffd}\n… 1 more line: Read again with offset 3");
    assert_eq!(outcome.seen, None);
    for (path, wanted) in [
        ("output:none", "not_found"),
        ("output:link", "not_found"),
        ("output:folder", "not_found"),
        ("output:../secret.txt", "invalid_input"),
        ("output:", "invalid_input"),
        ("output:.", "invalid_input"),
    ] {
        let outcome = desk.read(path);
        assert_eq!(code(&outcome), wanted, "{path}: {}", outcome.summary);
        assert!(!outcome.summary.contains(&desk.path("outputs")), "{}", outcome.summary);
    }
}
