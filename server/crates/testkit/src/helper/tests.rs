//! Tests with scripts in place of the programs.

use std::path::{Path, PathBuf};

use super::Helper;

/// Writes a script that stands in for a program.
pub(crate) fn stand_in(folder: &Path, name: &str, body: &str) -> PathBuf {
    let draft = folder.join(format!("{name}.draft"));
    std::fs::write(&draft, format!("#!/bin/sh\n{body}\n")).unwrap();
    let path = folder.join(name);
    // Written by another process: a file that this one has written may still be open in a process that another test
    // is just starting, and then it cannot be executed.
    let install = std::process::Command::new("install").args(["-m", "755"]).args([&draft, &path]).status();
    assert!(install.unwrap().success());
    path
}

fn port(line: &str) -> Option<u16> {
    line.strip_prefix("ready on ")?.parse().ok()
}

#[tokio::test]
async fn a_helper_that_ends_at_once_is_told_with_its_status_and_its_own_words() {
    let folder = tempfile::tempdir().unwrap();
    let program = stand_in(folder.path(), "driver", "echo starting; echo 'no display was found' >&2; exit 3");
    let said = Helper::start(&program, &[], port).await.unwrap_err().to_string();
    assert!(said.starts_with("driver ended before it was ready (exit status: 3); the end of its output:\n"), "{said}");
    assert!(said.contains("starting") && said.contains("no display was found"), "{said}");
}

#[tokio::test]
async fn a_helper_that_lost_its_port_is_started_again() {
    let folder = tempfile::tempdir().unwrap();
    let once = folder.path().join("once").display().to_string();
    let body = "[ -e \"$1\" ] && { echo 'ready on 4711'; while :; do sleep 0.05; done; }\n\
                touch \"$1\"; echo 'IPv4 port not available. Exiting...'; exit 1";
    let program = stand_in(folder.path(), "driver", body);
    let (_helper, found) = Helper::start(&program, &[&once], port).await.unwrap();
    assert_eq!(found, 4711);
}

#[tokio::test]
async fn a_helper_that_never_gets_its_port_is_given_up_with_its_words() {
    let folder = tempfile::tempdir().unwrap();
    let starts = folder.path().join("starts").display().to_string();
    let body = "echo >>\"$1\"; echo 'bind() failed: Address already in use (98)' >&2; exit 1";
    let program = stand_in(folder.path(), "driver", body);
    let said = Helper::start(&program, &[&starts], port).await.unwrap_err().to_string();
    assert!(said.contains("(exit status: 1)") && said.contains("Address already in use"), "{said}");
    assert_eq!(std::fs::read_to_string(starts).unwrap().lines().count(), super::STARTS_MAX);
}

#[tokio::test]
async fn a_helper_is_ready_by_its_sign_and_keeps_only_the_end_of_its_words() {
    let folder = tempfile::tempdir().unwrap();
    let body = "for i in $(seq 100); do echo line $i; done; echo 'ready on 1'; while :; do sleep 0.05; done";
    let program = stand_in(folder.path(), "driver", body);
    let (helper, _) = Helper::start(&program, &[], port).await.unwrap();
    let words = helper.last_words();
    assert!(words.contains("line 99") && !words.contains("line 9\n"), "{words}");
}

#[tokio::test]
async fn a_program_that_is_not_there_is_missing() {
    let failed = Helper::start(Path::new("/nowhere/driver"), &[], port).await.unwrap_err();
    assert!(failed.is_missing() && failed.to_string().starts_with("driver could not be started"), "{failed}");
}
