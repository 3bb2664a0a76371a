//! Each call of a day fails once, or for a while: the store goes on by itself, and everything happened once.

use simulation::disk::{Disk, Failure, Fault, Op, Times};

use crate::{
    day::{Deed, day, morning},
    stage::{Cut, Stage, calls, calls_of, for_each, runtime, views_of},
};

/// Which calls fail, and how.
const FAILURES: [(Op, Failure); 10] = [
    (Op::Write, Failure::Io),
    (Op::Write, Failure::Full),
    (Op::Write, Failure::ShortWrite),
    (Op::Sync, Failure::Io),
    (Op::Sync, Failure::Full),
    (Op::Truncate, Failure::Io),
    (Op::Truncate, Failure::Full),
    (Op::Delete, Failure::Io),
    (Op::Open, Failure::Io),
    (Op::Read, Failure::Io),
];

#[test]
fn whichever_call_of_a_day_fails_everything_happens_once() {
    survive(day(), Stage::begun);
}

#[test]
fn whichever_call_fails_while_a_database_is_made_it_is_made_in_the_end() {
    survive(morning(), Stage::empty);
}

fn survive(day: Vec<Vec<Deed>>, make: fn(&'static Disk) -> Stage) {
    let views = views_of(&day);
    let counts = calls_of(&day, make, &views);
    let mut cases = Vec::new();
    for (op, failure) in FAILURES {
        for times in [Times::Once, Times::Always] {
            cases.extend(calls(&counts, op).map(|nth| Fault { op, nth, times, failure }));
        }
    }
    println!("{counts:?}: {} cases", cases.len());
    for_each(&cases, |fault, disk| {
        let stage = make(disk);
        disk.fault(*fault);
        let progress = runtime().block_on(stage.play(&day, Cut::ByFault, Some(&views)));
        assert_eq!(progress.acknowledged, views.len() - 1);
        disk.wait_closed(stage.folder.path());
        disk.heal();
        stage.found(&views, progress);
    });
}
