//! Committing from the page of a Pod's changes, in real Chromium.

#![allow(clippy::unwrap_used)]

use std::{fs, path::Path, process::Command};

use serde_json::json;
use testkit::{
    browser::Browser,
    yoi::{Launch, pod_path},
};

const YOI: &str = env!("CARGO_BIN_EXE_yoi");

fn git(folder: &Path, words: &[&str]) -> String {
    let done = Command::new("git").current_dir(folder).args(words).output().unwrap();
    assert!(done.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

#[tokio::test]
async fn browser_some_of_the_changed_files_are_committed_where_they_are_reviewed() {
    let launch = Launch::new(YOI);
    let work = launch.work_dir();
    git(&work, &["init", "-q", "-b", "main"]);
    for (name, value) in [("user.name", "Ada"), ("user.email", "ada@example.com")] {
        git(&work, &["config", name, value]);
    }
    fs::write(work.join("old.txt"), "old\n").unwrap();
    git(&work, &["add", "."]);
    git(&work, &["commit", "-qm", "begin"]);
    let yoi = launch.start().await;
    let pod = yoi.new_pod("ada").await;
    for (name, content) in [("one.txt", "one\n"), ("two.txt", "two\n")] {
        let call = json!({ "arguments": { "path": name, "content": content } });
        yoi.post(&format!("{}/tools/Write", pod_path(&pod)), &call).await.expect(200);
    }
    let browser = Browser::open(&yoi, 1440, 900).await;
    let worker_id = pod["pod"]["worker_id"].as_str().unwrap();
    browser.goto_page(&yoi, &format!("/pods/local/{worker_id}/changes")).await;
    browser.wait_text(".changes-commit", "2 files").await;
    browser.wait_text(".changes-commit", "Commit to main").await;
    browser.find(".changes-commit button[type=submit]").await.click().await.unwrap();
    browser.wait_text(".changes-commit", "Write what the commit does").await;
    browser.find("#review-commit").await.click().await.unwrap();
    browser.keys("Add the first file").await;
    browser.find(".changes-commit summary").await.click().await.unwrap();
    browser.find(".changes-choice[title='two.txt'] input").await.click().await.unwrap();
    browser.wait_text(".changes-commit", "1 of 2 files").await;
    browser.find(".changes-commit button[type=submit]").await.click().await.unwrap();
    browser.wait_text(".notices", "Committed 1 file.").await;
    assert_eq!(git(&work, &["show", "--format=%s", "--name-only", "HEAD"]), "Add the first file\n\none.txt\n");
    assert_eq!(git(&work, &["status", "--porcelain"]), "?? two.txt\n");

    // Nothing is offered that git has already.
    browser.wait_text(".changes-commit h2", "Commit 2 files").await;
    let rest = json!({ "message": "Add the second file" });
    yoi.post(&format!("{}/commit", pod_path(&pod)), &rest).await.expect(200);
    browser.goto_page(&yoi, &format!("/pods/local/{worker_id}/changes?since=start")).await;
    browser.wait_text(".changes-commit", "Nothing to commit to main.").await;
    browser.no_errors().await;
    browser.quit().await;
}
