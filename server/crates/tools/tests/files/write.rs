//! Write: new files at once, existing ones only if they were read.

use std::{fs, os::unix::fs::PermissionsExt};

use crate::place::{Desk, code};

#[test]
fn a_new_file_needs_nothing_and_its_folders_are_made() {
    let mut desk = Desk::new();
    let outcome = desk.write("notes/a/b.md", "one\ntwo\n");
    assert_eq!(outcome.summary, "wrote notes/a/b.md, 2 lines (new)");
    assert_eq!(outcome.diff.unwrap(), "--- /dev/null\n+++ b/notes/a/b.md\n@@ -0,0 +1,2 @@\n+one\n+two\n");
    assert_eq!(desk.content("w/notes/a/b.md"), "one\ntwo\n");
    assert_eq!(desk.write("notes/a/b.md", "three").summary, "wrote notes/a/b.md, 1 line (+1 −2)");
}

#[test]
fn an_existing_file_is_replaced_only_when_its_present_content_was_seen() {
    let mut desk = Desk::new();
    desk.file("w/a.txt", "one\n");
    let outcome = desk.write("a.txt", "mine\n");
    assert_eq!(code(&outcome), "read_first");
    assert!(outcome.summary.contains("Read it first"), "{}", outcome.summary);

    desk.read("a.txt");
    desk.file("w/a.txt", "changed by another\n");
    let outcome = desk.write("a.txt", "mine\n");
    assert_eq!((code(&outcome), desk.content("w/a.txt").as_str()), ("read_first", "changed by another\n"));
    assert!(outcome.summary.contains("has changed since you read it"), "{}", outcome.summary);

    desk.read("a.txt");
    assert!(!desk.write("a.txt", "mine\n").is_error);
    assert!(!desk.write("a.txt", "mine again\n").is_error, "what was written is seen");
    assert_eq!(desk.content("w/a.txt"), "mine again\n");
}

#[test]
fn a_file_that_cannot_be_read_as_text_is_not_replaced() {
    let mut desk = Desk::new();
    desk.file("w/a.png", b"\x89PNG\0");
    let outcome = desk.write("a.png", "text");
    assert_eq!(code(&outcome), "invalid_input");
    assert!(outcome.summary.starts_with("a.png is a PNG picture"), "{}", outcome.summary);
}

#[test]
fn the_mode_stays_and_nothing_is_left_beside_the_file() {
    let mut desk = Desk::new();
    desk.file("w/run.sh", "one\n");
    fs::set_permissions(desk.path("w/run.sh"), fs::Permissions::from_mode(0o4750)).unwrap();
    desk.read("run.sh");
    assert!(!desk.write("run.sh", "two\n").is_error);
    let mode = fs::metadata(desk.path("w/run.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o750, "set-id bits do not survive");
    let names = fs::read_dir(desk.path("w")).unwrap().map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>();
    assert_eq!(names, ["run.sh"]);
}

#[test]
fn a_reader_of_the_old_file_keeps_it_whole() {
    use std::io::Read;
    let mut desk = Desk::new();
    desk.file("w/a.txt", "old content\n");
    desk.read("a.txt");
    let mut reader = fs::File::open(desk.path("w/a.txt")).unwrap();
    assert!(!desk.write("a.txt", "new").is_error);
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    assert_eq!(text, "old content\n");
}

#[test]
fn too_much_content_and_folders_are_refused() {
    let mut desk = Desk::new();
    desk.file("w/sub/a.txt", "a");
    assert_eq!(code(&desk.write("big.txt", &"x".repeat(4 * 1024 * 1024 + 1))), "invalid_input");
    assert!(!desk.write("fits.txt", &"x".repeat(4 * 1024 * 1024)).is_error);
    for path in ["sub", "sub/", "."] {
        let outcome = desk.write(path, "x");
        assert!(outcome.summary.contains("is a folder"), "{path}: {}", outcome.summary);
    }
    assert_eq!(code(&desk.write("sub/a.txt/b", "x")), "not_found");
}
