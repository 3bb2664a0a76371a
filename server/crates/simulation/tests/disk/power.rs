//! The power goes, or the process is killed, at each call that changes the disk.

use simulation::disk::{Disk, Failure, Fault, Op, Times};

use crate::{
    day::{Deed, day, morning},
    stage::{Cut, Progress, Stage, calls, calls_of, for_each, numbers, runtime, views_of},
};

/// How many ways a power loss may end are tried at each call.
const SEEDS: u64 = 3;

#[test]
fn what_was_acknowledged_is_there_after_a_power_loss_at_any_call() {
    lose_power(day(), Stage::begun);
}

#[test]
fn a_database_that_was_being_made_opens_after_a_power_loss_at_any_call() {
    lose_power(morning(), Stage::empty);
}

fn lose_power(day: Vec<Vec<Deed>>, make: fn(&'static Disk) -> Stage) {
    let views = views_of(&day);
    let counts = calls_of(&day, make, &views);
    let cases: Vec<(u64, u64)> =
        calls(&counts, Op::Change).flat_map(|nth| (0..SEEDS).map(move |seed| (nth, seed))).collect();
    println!("{counts:?}: {} cases", cases.len());
    for_each(&cases, |(nth, seed), disk| {
        let stage = make(disk);
        let progress = cut_at(&stage, &day, *nth);
        disk.power_off(stage.folder.path(), &mut numbers(nth << 16 | seed)).unwrap();
        stage.found(&views, progress);
    });
}

fn cut_at(stage: &Stage, day: &[Vec<Deed>], nth: u64) -> Progress {
    stage.disk.fault(Fault { op: Op::Change, nth, times: Times::Once, failure: Failure::PowerCut });
    let progress = runtime().block_on(stage.play(day, Cut::ByFault, None));
    stage.disk.cut_power();
    stage.disk.wait_closed(stage.folder.path());
    progress
}

#[test]
fn what_was_seen_after_a_kill_at_any_call_survives_a_power_loss() {
    let day = day();
    let views = views_of(&day);
    let counts = calls_of(&day, Stage::begun, &views);
    let cases: Vec<u64> = calls(&counts, Op::Change).collect();
    for_each(&cases, |nth, disk| {
        let stage = Stage::begun(disk);
        let progress = cut_at(&stage, &day, *nth);
        disk.power_on();
        let seen = runtime().block_on(async {
            let store = stage.open().await.unwrap();
            let seen = crate::day::view(&store).await.unwrap();
            disk.cut_power();
            store.close().await;
            seen
        });
        disk.wait_closed(stage.folder.path());
        disk.power_off(stage.folder.path(), &mut numbers(*nth)).unwrap();
        let found = stage.found(&views, progress);
        assert!(views[found] == seen, "what was seen after the kill is gone");
    });
}

#[test]
fn what_was_acknowledged_after_a_failed_sync_is_there_after_a_power_loss() {
    for (day, make) in [(day(), Stage::begun as fn(&'static Disk) -> Stage), (morning(), Stage::empty)] {
        let views = views_of(&day);
        let counts = calls_of(&day, make, &views);
        let mut cases = Vec::new();
        for nth in calls(&counts, Op::Sync) {
            for times in [Times::Once, Times::Calls(2), Times::Always] {
                cases.extend([0, 1, 3].map(|lines| (nth, times, lines)));
            }
        }
        for_each(&cases, |(nth, times, lines), disk| {
            let stage = make(disk);
            disk.fault(Fault { op: Op::Sync, nth: *nth, times: *times, failure: Failure::Io });
            let progress = runtime().block_on(stage.play(&day, Cut::AfterFailure(*lines), Some(&views)));
            disk.cut_power();
            disk.wait_closed(stage.folder.path());
            disk.power_off(stage.folder.path(), &mut numbers(nth << 16 | *lines as u64)).unwrap();
            stage.found(&views, progress);
        });
    }
}
