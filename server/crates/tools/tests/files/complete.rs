//! Files that a person may mention: those that the Pod can read, and no others.

use std::path::Path;

use pod::Scope;
use protocol::Access;

use crate::place::Desk;

/// Looks several times, and returns the longest answer: a lookup is limited in time, and a delayed one finds less.
fn complete(desk: &Desk, begun: &str) -> Vec<String> {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let look = || {
        let scope = Scope::new(desk.rules.clone(), desk.lent.clone());
        runtime.block_on(tools::files::complete(&desk.path("w"), scope, begun))
    };
    (0..5).map(|_| look()).max_by_key(Vec::len).unwrap()
}

fn project() -> Desk {
    let desk = Desk::new();
    for path in
        ["src/main.rs", "src/deep/er/main.rs", "README.md", "target/main.rs", ".env", ".git/main", "my notes.txt"]
    {
        desk.file(&format!("w/{path}"), "x");
    }
    desk.file("w/.gitignore", "target/\n");
    desk
}

#[test]
fn the_nearest_come_first_and_what_is_ignored_or_hidden_stays_out() {
    let desk = project();
    assert_eq!(complete(&desk, "main"), ["src/main.rs", "src/deep/er/main.rs"]);
    assert_eq!(complete(&desk, "rdme"), ["README.md"]);
    assert_eq!(complete(&desk, "my n"), ["my notes.txt"]);
    assert_eq!(complete(&desk, ""), ["README.md", "my notes.txt", "src/main.rs", "src/deep/er/main.rs"]);
    assert_eq!(complete(&desk, ".env"), [".env"]);
    assert_eq!(complete(&desk, ".git/"), Vec::<String>::new());
    assert_eq!(complete(&desk, "nothing"), Vec::<String>::new());
}

#[test]
fn only_what_the_scope_reads_is_offered_wherever_it_lies() {
    let desk = project().with(Access::Deny, "w/src/deep").with(Access::Read, "lib");
    desk.file("lib/main.c", "x").file("secret/main.key", "x");
    desk.link("w/main-link", &desk.path("secret/main.key"));
    let other = desk.path("lib/main.c");
    assert_eq!(complete(&desk, "main"), ["src/main.rs", other.as_str()]);
    assert_eq!(complete(&desk, &desk.path("secret")), Vec::<String>::new());
    let elsewhere = project().only(Access::Read, "lib");
    elsewhere.file("lib/main.c", "x");
    assert_eq!(complete(&elsewhere, "main"), [elsewhere.path("lib/main.c")]);
}

#[test]
fn a_large_folder_costs_a_bounded_look_and_twenty_lines() {
    let desk = Desk::new();
    for folder in 0..50 {
        for file in 0..20 {
            desk.file(&format!("w/f{folder:02}/file{file:02}.txt"), "");
        }
    }
    let found = complete(&desk, "file");
    assert_eq!(found.len(), 20);
    assert!(found.iter().all(|path| Path::new(&desk.path("w")).join(path).exists()));
}
