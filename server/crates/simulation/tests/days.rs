//! Days that are played: the same seed twice, and many seeds once.
//!
//! Each day is a process of its own, as `cargo xtask simulate` plays it, so nothing of one day is left in another.

#![allow(clippy::unwrap_used)]

use std::process::Command;

/// The last line that a day prints: its figures, and the hash of its log.
fn played(seed: u64) -> String {
    let day = Command::new(env!("CARGO_BIN_EXE_simulation")).args(["play", &seed.to_string()]).output().unwrap();
    let text = String::from_utf8(day.stdout).unwrap();
    assert!(day.status.success(), "seed {seed}: {text}{}", String::from_utf8_lossy(&day.stderr));
    text.lines().last().unwrap().to_owned()
}

#[test]
fn the_same_seed_twice_gives_the_same_log_byte_for_byte() {
    for seed in [1, 2, 3, 5, 8, 13] {
        let (once, twice) = (played(seed), played(seed));
        assert_eq!(once, twice);
    }
    assert_ne!(played(1), played(2));
}

#[test]
fn a_viewer_goes_on_at_a_host_that_does_not_know_yet_what_it_has_written() {
    played(15);
}

#[test]
fn a_child_begins_its_task_although_the_database_was_away_when_it_was_to_be_woken() {
    played(303);
}

#[test]
fn the_faults_that_the_simulation_has_to_find_can_still_be_put_into_the_code() {
    let crate_folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let patches = std::fs::read_dir(crate_folder.join("mutations")).unwrap();
    let patches: Vec<_> = patches.map(|patch| patch.unwrap().path()).collect();
    assert!(!patches.is_empty());
    for patch in patches {
        let root = crate_folder.ancestors().nth(3).unwrap();
        let applies = Command::new("git").args(["apply", "--check"]).arg(&patch).current_dir(root).output().unwrap();
        assert!(applies.status.success(), "{}: {}", patch.display(), String::from_utf8_lossy(&applies.stderr));
    }
}

#[test]
fn nothing_that_must_hold_breaks_on_two_hundred_days() {
    let days = Command::new(env!("CARGO_BIN_EXE_simulation")).args(["run", "--seeds", "200"]).output().unwrap();
    let text = String::from_utf8_lossy(&days.stdout);
    assert!(days.status.success(), "{text}{}", String::from_utf8_lossy(&days.stderr));
    assert!(text.starts_with("200 seeds"), "{text}");
}
