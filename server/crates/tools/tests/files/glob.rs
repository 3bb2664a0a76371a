//! Glob: files by pattern, without what is ignored, hidden, or outside the scope.

use protocol::Access;
use serde_json::json;

use crate::place::{Desk, code};

fn project() -> Desk {
    let desk = Desk::new();
    for path in ["src/main.rs", "src/a/b.rs", "README.md", "target/x.rs", ".env", ".git/config", ".github/ci.yml"] {
        desk.file(&format!("w/{path}"), "x");
    }
    desk.file("w/.gitignore", "target/\n*.log\n").file("w/src/debug.log", "x");
    desk
}

#[test]
fn files_are_listed_by_path_from_the_working_directory() {
    let mut desk = project();
    assert_eq!(desk.lines("Glob", json!({ "pattern": "**" })), ["README.md", "src/a/b.rs", "src/main.rs"]);
    assert_eq!(desk.lines("Glob", json!({ "pattern": "**/*.rs" })), ["src/a/b.rs", "src/main.rs"]);
    assert_eq!(desk.lines("Glob", json!({ "pattern": "*.rs", "path": "src" })), ["src/main.rs"]);
    assert_eq!(desk.lines("Glob", json!({ "pattern": "{src,x}/*.rs" })), ["src/main.rs"]);
    assert!(desk.lines("Glob", json!({ "pattern": "*.rs" })).is_empty());
    assert_eq!(desk.call("Glob", json!({ "pattern": "*.md" })).summary, "1 file matches *.md");
}

#[test]
fn hidden_and_ignored_files_are_listed_only_when_they_are_named() {
    let mut desk = project();
    assert_eq!(desk.lines("Glob", json!({ "pattern": ".e*" })), [".env"]);
    assert_eq!(desk.lines("Glob", json!({ "pattern": "**/*.yml" })), Vec::<String>::new());
    assert_eq!(desk.lines("Glob", json!({ "pattern": ".github/**" })), [".github/ci.yml"]);
    assert_eq!(desk.lines("Glob", json!({ "pattern": "*.yml", "path": ".github" })), [".github/ci.yml"]);
    assert_eq!(desk.lines("Glob", json!({ "pattern": "*.rs", "path": "target" })), ["target/x.rs"]);
    assert!(desk.lines("Glob", json!({ "pattern": ".git/**" })).is_empty());
    assert!(desk.lines("Glob", json!({ "pattern": "*.log", "path": "src" })).is_empty(), "ignored from above");
}

#[test]
fn only_what_the_scope_reads_is_listed() {
    let mut desk = project().with(Access::Deny, "w/src/a").with(Access::Read, "other");
    desk.file("other/o.rs", "x").file("out/secret.rs", "x");
    desk.link("w/dir", "../out").link("w/secret.rs", "../out/secret.rs").link("w/good.rs", "../other/o.rs");
    assert_eq!(desk.lines("Glob", json!({ "pattern": "**/*.rs" })), ["good.rs", "src/main.rs"]);
    let other = desk.path("other");
    assert_eq!(desk.lines("Glob", json!({ "pattern": "*", "path": other })), [desk.path("other/o.rs")]);
    assert_eq!(code(&desk.call("Glob", json!({ "pattern": "*", "path": "../out" }))), "permission_denied");
    assert_eq!(code(&desk.call("Glob", json!({ "pattern": "*", "path": "src/main.rs" }))), "invalid_input");
    assert_eq!(code(&desk.call("Glob", json!({ "pattern": "*", "path": "none" }))), "not_found");
}

#[test]
fn five_hundred_files_are_listed_at_most_and_it_is_said() {
    let mut desk = Desk::new();
    for number in 0..501 {
        desk.file(&format!("w/many/{number:03}"), "");
    }
    let outcome = desk.call("Glob", json!({ "pattern": "**" }));
    assert_eq!(outcome.summary, "500 files match **, and there are more: narrow the pattern");
    assert_eq!(outcome.content.unwrap().lines().count(), 500);
    std::fs::remove_file(desk.path("w/many/500")).unwrap();
    assert_eq!(desk.call("Glob", json!({ "pattern": "**" })).summary, "500 files match **");
}
