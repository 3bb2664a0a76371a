//! Pictures of the console, wide and narrow, light and dark: `cargo xtask shots`.
//!
//! Takes the path of a built yoi and a folder; starts it on data of its own, with Pods that a rehearsal fills.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::{Value, json};
use testkit::{
    browser::Browser,
    yoi::{YoiProcess, pod_path},
};

/// Width, height and a word for the file's name.
const VIEWPORTS: [(u32, u32, &str); 2] = [(1440, 900, "wide"), (360, 780, "narrow")];

/// What each Pod is told: some of everything that a transcript can show.
const PODS: [(&str, &[&str]); 3] = [
    (
        "planner",
        &[
            "think The question is what to look at first.\nsay Here is the plan: read the **notes**, then write `plan.md`.",
            "call ListPods {}",
        ],
    ),
    ("reviewer", &["say I am ready to read what the planner writes.", "fail 500"]),
    ("builder", &["call Bash {\"command\": \"echo built\"}"]),
];

#[tokio::main]
async fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let usage = "usage: shots PATH_OF_YOI FOLDER";
    let binary = arguments.next().context(usage)?;
    let folder = PathBuf::from(arguments.next().context(usage)?);
    std::fs::create_dir_all(&folder).with_context(|| format!("could not create {}", folder.display()))?;

    let yoi = YoiProcess::start(&binary).await;
    let pods = fill(&yoi).await;
    for (width, height, word) in VIEWPORTS {
        for is_dark in [false, true] {
            let theme = if is_dark { "dark" } else { "light" };
            shoot(&yoi, &pods, &folder, (width, height), is_dark, &format!("{word}-{theme}")).await;
        }
    }
    Ok(())
}

/// Makes the Pods, links two of them, and waits until each has done what it was told.
async fn fill(yoi: &YoiProcess) -> Vec<(String, Value)> {
    let mut pods = Vec::new();
    for (name, lines) in PODS {
        let pod = yoi.new_pod(name).await;
        for line in lines {
            yoi.say(&pod, line).await;
        }
        pods.push((name.to_owned(), pod));
    }
    let link = yoi.post(&format!("{}/peers", pod_path(&pods[0].1)), &json!({ "target": PODS[1].0 })).await;
    println!("    planner and reviewer: answered {}", link.status);

    let mut events = yoi.events().await;
    for (name, pod) in &pods {
        let expected = PODS.iter().find(|(listed, _)| listed == name).map_or(0, |(_, lines)| lines.len());
        events.subscribe(name, pod, None).await;
        let mut settled = 0;
        // A run is settled when it has finished, or when it waits for the person who looks at the picture.
        events
            .records_until(name, |record| {
                let kind = &record["event"]["kind"];
                settled += usize::from(kind == "run_finished" || kind == "approval_asked");
                settled == expected
            })
            .await;
    }
    pods
}

async fn shoot(
    yoi: &YoiProcess,
    pods: &[(String, Value)],
    folder: &Path,
    (width, height): (u32, u32),
    is_dark: bool,
    suffix: &str,
) {
    let browser = Browser::start(width, height).await;
    browser.emulate_dark(is_dark).await;
    browser.goto(&yoi.login_url()).await;
    let mut pages = vec![("dashboard".to_owned(), browser.url().await)];
    for (name, pod) in pods {
        let reference = &pod["pod"];
        let path = format!(
            "{}/pods/{}/{}",
            yoi.base_url(),
            reference["runtime_id"].as_str().unwrap_or_default(),
            reference["worker_id"].as_str().unwrap_or_default()
        );
        pages.push((format!("pod-{name}"), path));
    }
    for page in ["map", "search", "approvals", "audit", "settings"] {
        pages.push((page.to_owned(), format!("{}/{page}", yoi.base_url())));
    }
    for (name, url) in pages {
        browser.goto(&url).await;
        browser.find("main").await;
        let path = folder.join(format!("{name}-{suffix}.png"));
        browser.screenshot(&path).await;
        println!("    {}", path.display());
    }
    browser.quit().await;
}
