//! Answers as they arrive, and how often they are written to disk.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures_util::StreamExt;
use pod_store::{Faults, Step, StoreError};
use protocol::{Event, TurnEvent};
use runtime::FeedItem;
use testkit::{
    scripted_model::{Answer, ScriptedModel},
    within,
};

use crate::{bench::Bench, stage::read_all};

/// A disk on which a commit takes a while; it counts them.
#[derive(Debug, Default)]
struct SlowDisk {
    commits: AtomicUsize,
}

impl Faults for SlowDisk {
    fn before(&self, step: Step) -> Result<(), StoreError> {
        if step == Step::Commit {
            self.commits.fetch_add(1, Ordering::Relaxed);
            tokio::task::block_in_place(|| std::thread::sleep(Duration::from_millis(20)));
        }
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_comes_while_a_portion_is_being_committed_is_committed_at_once() {
    const DELTAS: usize = 2_000;
    let model = ScriptedModel::start().await;
    let disk = Arc::new(SlowDisk::default());
    let bench = Bench::on_with(&model, disk.clone()).await;
    let pod = bench.stage.create("ada").await;
    let answer = Answer::new();
    model.push((0..DELTAS).fold(answer, |answer, number| answer.text(format!("{number} "))).finish());
    let before = disk.commits.load(Ordering::Relaxed);
    let began = std::time::Instant::now();
    bench.turn(&pod, "go").await;
    let commits = disk.commits.load(Ordering::Relaxed) - before;
    // Each takes its time, and as long as that all that comes is one portion.
    let most = DELTAS / 10 + usize::try_from(began.elapsed().as_millis()).unwrap() / 20;
    assert!(commits < most.min(DELTAS / 2), "{commits} commits for {DELTAS} deltas");
    let whole: String = (0..DELTAS).map(|number| format!("{number} ")).collect();
    let history = bench.stage.host.journals().history(&pod).await.unwrap().messages;
    assert_eq!(history.last().unwrap().content, whole);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_tool_writes_meanwhile_is_committed_at_once() {
    const PIECES: usize = 1_000;
    let model = ScriptedModel::start().await;
    let disk = Arc::new(SlowDisk::default());
    let bench = Bench::on_with(&model, disk.clone()).await;
    let pod = bench.stage.create("ada").await;
    let mut viewer = bench.stage.host.journals().observe(&pod, None, 0).await;
    assert!(matches!(viewer.next().await, Some(FeedItem::Snapshot { .. })));
    let arguments = format!("{{\"pieces\": {PIECES}}}");
    model.push(Answer::new().tool_call("c", "Big", &[arguments.as_str()]).finish());
    model.push(Answer::say("done"));
    let before = disk.commits.load(Ordering::Relaxed);
    bench.turn(&pod, "go").await;
    let commits = disk.commits.load(Ordering::Relaxed) - before;
    assert!(commits < PIECES / 5, "{commits} commits for {PIECES} pieces");

    let mut shown = String::new();
    while let Some(item) = within("the end of the call", viewer.next()).await {
        let FeedItem::Records { records, .. } = item else { continue };
        let records = read_all(&records);
        for record in &records {
            if let Event::Turn(TurnEvent::ToolOutputChunk { text, .. }) = &record.event {
                shown.push_str(text);
            }
        }
        if records.iter().any(|record| record.event.kind() == "tool_finished") {
            break;
        }
    }
    assert_eq!(shown, (0..PIECES).map(|number| format!("{number} ")).collect::<String>());
}
