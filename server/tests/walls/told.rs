//! Checks the threat model's statements about its walls: each test that it names exists.

use std::path::{Path, PathBuf};

#[test]
fn the_threat_model_names_tests_that_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let text = std::fs::read_to_string(root.join("docs/security.md")).unwrap();
    let sources = sources(&root.join("server"));
    let tests: String = sources.iter().filter_map(|path| std::fs::read_to_string(path).ok()).collect();
    let is_file = |word: &str| sources.iter().any(|path| path.ends_with(word));
    let (mut named, mut missing) = (0, Vec::new());
    for word in text.split('`').skip(1).step_by(2).map(|word| word.split(' ').next().unwrap_or_default()) {
        let is_sentence = word.matches('_').count() >= 3
            && word.chars().all(|letter| letter.is_ascii_lowercase() || "_0123456789".contains(letter));
        let is_there = match () {
            () if word.ends_with(".rs") => is_file(word),
            () if is_sentence => tests.contains(&format!("fn {word}(")),
            () => continue,
        };
        named += 1;
        if !is_there {
            missing.push(word);
        }
    }
    assert!(missing.is_empty(), "docs/security.md names what is not there: {missing:?}");
    assert!(named >= 20, "docs/security.md names {named} files and tests");
}

/// All Rust files beneath `folder`.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let own = files.into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    own.chain(folders.iter().flat_map(|folder| sources(folder))).collect()
}
