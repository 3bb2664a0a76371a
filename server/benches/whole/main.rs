//! The whole server from outside, against its goals: the release binary over loopback, and bare programs on the same
//! crates as the baseline, in the same run.
//!
//! `cargo bench -p yoi --bench whole -- [--only NAME]… [--long] [--json FILE] [--criterion DIR]`. Nothing here asserts
//! a time: machines differ. docs/performance.md explains the lines.

mod agents;
mod bare;
mod burst;
mod commands;
mod crash;
mod create;
mod criterion;
mod delta;
mod floor;
mod growth;
mod history;
mod house;
mod memory;
mod options;
mod size;
mod start;
mod turns;
mod viewer;

use std::{process::ExitCode, time::Instant};

use testkit::report;

use crate::{options::Options, report::Report};

/// One topic: it measures its lines and adds them to the report.
type Topic = fn(&Options, &mut Report);

/// In the order of the table. Memory and start come first: they need a quiet machine most.
const TOPICS: [(&str, Topic); 12] = [
    ("start", start::run),
    ("crash", crash::run),
    ("memory", memory::run),
    ("create", create::run),
    ("commands", commands::run),
    ("delta", delta::run),
    ("burst", burst::run),
    ("agents", agents::run),
    ("history", history::run),
    ("turns", turns::run),
    ("size", size::run),
    ("growth", growth::run),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(outcome) = bare::run_if_asked(&arguments) {
        return outcome;
    }
    let options = match Options::parse(&arguments) {
        Ok(options) => options,
        Err(sentence) => {
            eprintln!("{sentence}");
            return ExitCode::from(2);
        }
    };
    let mut report = Report::default();
    for (name, topic) in TOPICS.iter().filter(|(name, _)| options.wants(name)) {
        let began = Instant::now();
        topic(&options, &mut report);
        eprintln!("    {name}: measured in {:.1} s", began.elapsed().as_secs_f64());
    }
    if let Some(folder) = &options.criterion {
        criterion::run(folder, &mut report);
    }
    println!("\n{report}");
    if let Some(file) = &options.json {
        let text = serde_json::to_string_pretty(&report.to_json()).expect("a report is JSON");
        if let Err(error) = std::fs::write(file, text + "\n") {
            eprintln!("cannot write {}: {error}", file.display());
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
