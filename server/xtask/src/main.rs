//! `cargo xtask test | bench | trial | simulate | real | conformance | …`: fetches what is missing, runs, measures.
//!
//! One command for a fresh clone and for everyday use. It has as few dependencies as possible, because it is compiled
//! first.

mod bench;
mod bench_scale;
mod bench_web;
mod build;
mod conformance;
mod count;
mod dependencies;
mod failures;
mod fuzz;
mod models;
mod programs;
mod real;
mod real_agents;
mod run;
mod shots;
mod simulate;
mod test;
mod tools;
mod trial;
mod watchdog;

use std::process::ExitCode;

use anyhow::Result;

const USAGE: &str = "\
usage: cargo xtask test [--fast]    formatting, lints, all tests, a release build; --fast: no release build, no browser
       cargo xtask bench [--only NAME] [--long]    the benchmarks, and today's figures beside their goals
       cargo xtask bench web [--only TOPIC] [--quick] [--binary PATH]    the console in a real browser
       cargo xtask bench scale [--quick] [--minutes N] [--binary PATH]    10,000 Pods, 1,000 at work, 1,000 viewers, and a soak
       cargo xtask bench lighthouse [--binary PATH]    what Lighthouse says of it, when npm is there
       cargo xtask trial kill [--rounds N] [--binary PATH]    kill -9 at random instants: nothing shown is lost or doubled
       cargo xtask trial disk [--rounds N] [--binary PATH]    disks that are full, cannot sync, are read-only, lose power
       cargo xtask trial fault [--binary PATH]    a database that cannot be written for a while: Pods go on by themselves
       cargo xtask trial size [--binary PATH]    long answers, many Pods, long histories, many sockets
       cargo xtask trial postgres [--rounds N] [--binary PATH]    three servers on Patroni: primaries killed, connections cut
       cargo xtask simulate [--seeds N] [--minutes M] [--from SEED] [--release]    whole servers, decided by one seed each
       cargo xtask simulate --mutations | --mutation NAME    faults put into a copy of the code: each has to be found
       cargo xtask fuzz [NAME…] [--minutes M]    inputs that nobody would write, for the parsers and rules that meet them
       cargo xtask real [--binary PATH]    with a real model on this machine, made by llama.cpp: found, streams, counts, cancels, compacts
       cargo xtask real agents [--binary PATH]    opencode and Codex as Pods, against a scripted model server: talk, ask, cancel, kill, peers
       cargo xtask conformance [server] [client] [acp] [schema] [--binary PATH]    the MCP conformance suite, ACP's official libraries, Schemathesis
       cargo xtask shots [--binary PATH]    pictures for the documents, and of every page and dialog into target/shots
       cargo xtask models    a newer table of models: their context, their prices, what they can do";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if let ["help" | "--help" | "-h"] = arguments.as_slice() {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    match carried_out(&arguments) {
        None => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
        Some(Ok(true)) => ExitCode::SUCCESS,
        Some(Ok(false)) => ExitCode::FAILURE,
        Some(Err(error)) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Whether everything held; `None` if the arguments are not understood.
fn carried_out(arguments: &[&str]) -> Option<Result<bool>> {
    Some(match arguments {
        ["test"] => test::run(test::Extent::Whole),
        ["test", "--fast"] => test::run(test::Extent::Fast),
        ["bench", what @ ("web" | "lighthouse"), rest @ ..] => bench_web::run(&bench_web::Extent::parse(what, rest)?),
        ["bench", "scale", rest @ ..] => bench_scale::run(&bench_scale::Extent::parse(rest)?),
        ["bench", rest @ ..] => bench::run(&bench::Extent::parse(rest)?),
        ["trial", rest @ ..] => trial::run(&trial::Extent::parse(rest)?),
        ["simulate", rest @ ..] => simulate::run(&simulate::Extent::parse(rest)?),
        ["fuzz", rest @ ..] => fuzz::run(&fuzz::Extent::parse(rest)?),
        ["real"] => real::run(None),
        ["real", "--binary", path] => real::run(Some(path)),
        ["real", "agents"] => real_agents::run(None),
        ["real", "agents", "--binary", path] => real_agents::run(Some(path)),
        ["conformance", rest @ ..] => conformance::run(&conformance::Extent::parse(rest)?),
        ["shots"] => shots::run(None),
        ["shots", "--binary", path] => shots::run(Some(path)),
        ["models"] => models::run(),
        _ => return None,
    })
}
