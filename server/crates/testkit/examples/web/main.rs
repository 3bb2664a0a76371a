//! Measures the console in real Chromium: `cargo xtask bench web`.
//!
//! `web PATH_OF_YOI [--only TOPIC]… [--quick] [--json FILE]`. Nothing here asserts a time, because machines differ.
//! docs/performance.md explains the lines.

mod frames;
mod heap;
mod journal;
mod lighthouse;
mod load;
mod open;
mod options;
mod stage;
mod switch;

use std::{process::ExitCode, time::Instant};

use testkit::report::Report;

use crate::{
    options::{Options, Topic},
    stage::Stage,
};

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let options = match Options::parse(&arguments) {
        Ok(options) => options,
        Err(sentence) => {
            eprintln!("{sentence}");
            return ExitCode::from(2);
        }
    };
    let stage = Stage::set(&options).await;
    let mut report = Report::default();
    for topic in options.topics() {
        let began = Instant::now();
        match topic {
            Topic::Load => load::run(&stage, &mut report).await,
            Topic::Open => open::run(&stage, &mut report).await,
            Topic::Switch => switch::run(&stage, &mut report).await,
            Topic::Frames => frames::run(&stage, &mut report).await,
            Topic::Heap => heap::run(&stage, &mut report).await,
            Topic::Lighthouse => lighthouse::run(&stage, &mut report).await,
        }
        eprintln!("    {}: measured in {:.1} s", topic.name(), began.elapsed().as_secs_f64());
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
