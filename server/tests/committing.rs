//! The page of a Pod's changes, in real Chromium: committing, and notes that last until they are sent.

#![allow(clippy::unwrap_used)]

use std::path::PathBuf;

use serde_json::{Value, json};
use testkit::{
    browser::Browser,
    repository::{git, repository},
    until_so,
    yoi::{Launch, YoiProcess, pod_path},
};

const YOI: &str = env!("CARGO_BIN_EXE_yoi");

/// A Pod that has written two files in a repository.
struct Stage {
    yoi: YoiProcess,
    repository: PathBuf,
    pod: Value,
}

impl Stage {
    async fn set() -> Self {
        let launch = Launch::new(YOI);
        let work = launch.work_dir().canonicalize().unwrap();
        let repository = repository(&work, "orchard", &[("old.txt", "old\n")]);
        let yoi = launch.start().await;
        let body = json!({ "name": "ada", "provider": "rehearsal", "model": "rehearsal", "cwd": repository });
        let pod = yoi.post("/api/v1/pods", &body).await.expect(201);
        for (name, content) in [("one.txt", "one\n"), ("two.txt", "two\n")] {
            let call = json!({ "arguments": { "path": name, "content": content } });
            yoi.post(&format!("{}/tools/Write", pod_path(&pod)), &call).await.expect(200);
        }
        Self { yoi, repository, pod }
    }

    /// Opens the page of the changes anew.
    async fn open(&self, browser: &Browser) {
        let worker_id = self.pod["pod"]["worker_id"].as_str().unwrap();
        browser.goto_page(&self.yoi, &format!("/pods/local/{worker_id}/changes")).await;
        browser.wait_text(".changes-counts", "2 files").await;
    }

    async fn drafts(&self) -> Value {
        self.yoi.get(&format!("{}/changes/drafts", pod_path(&self.pod))).await.expect(200)
    }
}

#[tokio::test]
async fn browser_some_of_the_changed_files_are_committed_where_they_are_reviewed() {
    let stage = Stage::set().await;
    let browser = Browser::open(&stage.yoi, 1440, 900).await;
    stage.open(&browser).await;
    browser.wait_text(".changes-commit", "2 files").await;
    browser.wait_text(".changes-commit", "Commit to main").await;
    browser.press(".changes-commit button[type=submit]").await;
    browser.wait_text(".changes-commit", "Write what the commit does").await;
    browser.press("#review-commit").await;
    browser.keys("Add the first file").await;
    browser.press(".changes-commit summary").await;
    browser.press(".changes-choice[title$='two.txt'] input").await;
    browser.wait_text(".changes-commit", "1 of 2 files").await;
    browser.press(".changes-commit button[type=submit]").await;
    browser.wait_text(".notices", "Committed 1 file.").await;
    let said = git(&stage.repository, &["show", "--format=%s", "--name-only", "HEAD"]);
    assert_eq!(said, "Add the first file\n\none.txt\n");
    assert_eq!(git(&stage.repository, &["status", "--porcelain"]), "?? two.txt\n");

    // Nothing is offered that git has already.
    browser.wait_text(".changes-commit h2", "2 files").await;
    let rest = json!({ "message": "Add the second file" });
    stage.yoi.post(&format!("{}/changes/commit", pod_path(&stage.pod)), &rest).await.expect(200);
    let worker_id = stage.pod["pod"]["worker_id"].as_str().unwrap();
    browser.goto_page(&stage.yoi, &format!("/pods/local/{worker_id}/changes?since=start")).await;
    browser.wait_text(".changes-commit", "Nothing to commit to main.").await;
    browser.no_errors().await;
    browser.quit().await;
}

/// The button that begins a comment on the first line of a file.
fn first_line(number: usize) -> String {
    format!("#file-{number} button[aria-label='Comment on line 1']")
}

#[tokio::test(flavor = "multi_thread")]
async fn browser_notes_on_changes_outlive_the_page_and_are_on_the_phone_too() {
    let stage = Stage::set().await;
    let desk = Browser::open(&stage.yoi, 1440, 900).await;
    stage.open(&desk).await;
    let colour = "return getComputedStyle(document.getElementById('review-send')).backgroundColor";
    assert_eq!(desk.eval("return document.getElementById('review-send').disabled").await, json!(true));
    let idle = desk.eval(colour).await;
    desk.press(&first_line(0)).await;
    desk.wait_focus("comment").await;
    desk.keys("Why this one?").await;
    desk.press_button("Add comment").await;
    desk.button("Send 1 comment").await;
    assert_ne!(desk.eval(colour).await, idle, "a button that does nothing looks like it");
    desk.press("#file-1 .change-acts input").await;
    // Not finished, and its page is left.
    desk.press(&first_line(1)).await;
    desk.wait_focus("comment").await;
    desk.keys("And this").await;
    desk.wait_text(".changes-side > h2", "1").await;
    desk.wait_text(".changes-writing", "two.txt:1").await;
    let is_kept = async || {
        let drafts = stage.drafts().await;
        let texts: Vec<_> = drafts["comments"].as_array().unwrap().iter().map(|one| one["text"].clone()).collect();
        texts == ["Why this one?", "And this"] && drafts["seen"].as_array().unwrap().len() == 1
    };
    until_so("the server has all notes", is_kept).await;

    stage.open(&desk).await;
    let phone = Browser::open(&stage.yoi, 360, 780).await;
    stage.open(&phone).await;
    for browser in [&desk, &phone] {
        browser.wait_text(".changes-side > h2", "2").await;
        browser.wait_text(".changes-seen", "1 of 2 seen").await;
        browser.wait_text("#file-1 .comment", "And this").await;
    }

    // The phone sends them; the desk learns of it when it notes something else.
    phone.wait_text("#review-send", "Send 2 comments").await;
    phone.scroll_to("#review-send").await;
    phone.press("#review-send").await;
    phone.wait_text(".changes-side", "Sent.").await;
    phone.wait_text(".changes-side > h2", "0").await;
    assert_eq!(stage.drafts().await["comments"], json!([]));
    desk.press("#file-0 .change-acts input").await;
    desk.wait_text(".changes-side > h2", "0").await;
    desk.wait_text(".changes-seen", "2 of 2 seen").await;
    until_so("what the desk has seen is kept", async || stage.drafts().await["seen"].as_array().unwrap().len() == 2)
        .await;
    let audit = stage.yoi.get("/api/v1/audit?action=drafts").await.expect(200);
    assert_eq!(audit["items"], json!([]), "what is only noted is in no audit");
    // Whoever is told 409 reads what the other has done and goes on; the browser's console keeps the 409 as an error.
    for browser in [desk, phone] {
        browser.quit().await;
    }
}
