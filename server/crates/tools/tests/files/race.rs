//! Names change as fast as possible while the tools run: a folder is swapped for a link to the outside, and back; a
//! file for a link to the outside, and back. Nothing from there is ever shown, and nothing there ever changes.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

use pod::ToolOutcome;
use protocol::Seen;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tools::{Place, Toolbox};

use crate::place::Desk;

/// Rounds of one worker; each round makes every call once.
const ROUNDS: usize = 250;
const WORKERS: usize = 2;

/// A worker: its calls, and their results.
struct Worker {
    toolbox: Toolbox,
    place: Place,
    runtime: Runtime,
    seen: BTreeMap<String, BTreeSet<String>>,
    done: BTreeMap<&'static str, usize>,
    refused: BTreeMap<&'static str, usize>,
}

impl Worker {
    fn new(place: Place) -> Self {
        Self {
            toolbox: Toolbox::new(tools::files::tools()),
            place,
            runtime: tokio::runtime::Builder::new_current_thread().build().unwrap(),
            seen: BTreeMap::new(),
            done: BTreeMap::new(),
            refused: BTreeMap::new(),
        }
    }

    fn call(&mut self, tool: &'static str, arguments: Value) {
        self.place.seen = Arc::new(self.seen.clone());
        let (output, _pieces) = tokio::sync::mpsc::channel(8);
        let call = self.toolbox.get(tool).unwrap();
        let outcome = self.runtime.block_on(call.call(&self.place, arguments, output));
        self.check(tool, &outcome);
        if let Some(Seen::File { path, sha256 }) = outcome.seen {
            self.seen.entry(path).or_default().insert(sha256);
        }
    }

    fn check(&mut self, tool: &'static str, outcome: &ToolOutcome) {
        let said = format!("{outcome:?}");
        assert!(!said.contains("SECRET"), "{tool} let something out: {said}");
        let count = if outcome.is_error { &mut self.refused } else { &mut self.done };
        *count.entry(tool).or_default() += 1;
    }

    fn round(&mut self, number: usize) {
        for path in ["d/f.txt", "f.txt", "deep/er/d/f.txt"] {
            self.call("Read", json!({ "path": path }));
            self.call("Edit", json!({ "path": path, "old": "plain", "new": "plain plain" }));
            self.call("Write", json!({ "path": path, "content": "plain\n" }));
        }
        self.call("Write", json!({ "path": format!("d/new/{}.txt", number % 5), "content": "plain\n" }));
        self.call("Grep", json!({ "pattern": "plain|[S]ECRET" }));
        self.call("Grep", json!({ "pattern": "plain|[S]ECRET", "path": "d" }));
        self.call("Glob", json!({ "pattern": "**" }));
        self.call("Glob", json!({ "pattern": "**", "path": "deep/er/d" }));
    }
}

/// Swaps two names until it is told to stop. Returns how often it did.
fn swap(one: PathBuf, other: PathBuf, stop: &AtomicBool, swaps: &AtomicUsize) {
    while !stop.load(Ordering::Relaxed) {
        renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE).unwrap();
        swaps.fetch_add(1, Ordering::Relaxed);
    }
}

/// Every path beneath `folder`, with its content.
fn everything(folder: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| if path.is_dir() { everything(&path) } else { [(path.clone(), fs::read(path).ok())].into() })
        .collect()
}

#[test]
fn names_that_change_during_a_call_let_nothing_out_and_nothing_be_written_outside() {
    let desk = Desk::new();
    for inside in ["w/d/f.txt", "w/f.txt", "w/deep/er/d/f.txt"] {
        desk.file(inside, "plain\n");
    }
    desk.file("out/f.txt", "plain SECRET\n").file("out/SECRET.txt", "plain SECRET\n").file("out/er/d/f.txt", "SECRET");
    desk.file("out/d/f.txt", "plain SECRET\n").file("out/new/0.txt", "plain SECRET\n");
    fs::create_dir(desk.path("spare")).unwrap();
    let out = desk.path("out");
    desk.link("spare/d", &out).link("spare/f.txt", "../out/f.txt").link("spare/er", "../../out/er");
    let before = everything(&desk.top.join("out"));

    let (stop, swaps) = (AtomicBool::new(false), AtomicUsize::new(0));
    let workers = thread::scope(|scope| {
        for (one, other) in [("w/d", "spare/d"), ("w/f.txt", "spare/f.txt"), ("w/deep/er", "spare/er")] {
            let (one, other) = (desk.top.join(one), desk.top.join(other));
            scope.spawn(|| swap(one, other, &stop, &swaps));
        }
        let workers = [(); WORKERS].map(|()| {
            let mut worker = Worker::new(desk.place());
            scope.spawn(move || {
                (0..ROUNDS).for_each(|number| worker.round(number));
                worker
            })
        });
        let workers = workers.map(|worker| worker.join());
        stop.store(true, Ordering::Relaxed);
        workers.map(|worker| worker.unwrap())
    });

    assert_eq!(everything(&desk.top.join("out")), before);
    assert!(swaps.load(Ordering::Relaxed) > ROUNDS, "the names did change");
    for worker in workers {
        for tool in ["Read", "Write", "Edit", "Grep", "Glob"] {
            let counts = (worker.done.get(tool), worker.refused.get(tool));
            assert!(counts.0.is_some(), "{tool} worked now and then: {counts:?}");
        }
        assert!(worker.refused.len() >= 3, "and met the links: {:?}", worker.refused);
        println!("done {:?} refused {:?}", worker.done, worker.refused);
    }
    println!("swaps {swaps:?}");
}
