//! Answers as they come, and how often the disk is asked for them.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use pod_store::{Faults, Step, StoreError};
use testkit::scripted_model::{Answer, ScriptedModel};

use crate::bench::Bench;

/// A disk on which a commit takes its time; it counts them.
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
    bench.turn(&pod, "go").await;
    let commits = disk.commits.load(Ordering::Relaxed) - before;
    assert!(commits < DELTAS / 10, "{commits} commits for {DELTAS} deltas");
    let whole: String = (0..DELTAS).map(|number| format!("{number} ")).collect();
    let history = bench.stage.host.history(&pod).await.unwrap().messages;
    assert_eq!(history.last().unwrap().content, whole);
}
