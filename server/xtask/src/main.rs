//! `cargo xtask test | bench | trial | real | conformance | shots | models`: fetches what is missing, runs, measures.
//!
//! One command for a fresh clone and for everyday use. It has as few dependencies as possible, because it is compiled
//! first.

mod bench;
mod bench_web;
mod build;
mod conformance;
mod count;
mod dependencies;
mod models;
mod real;
mod real_agents;
mod run;
mod shots;
mod test;
mod tools;
mod trial;
mod watchdog;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask test [--fast]    formatting, lints, all tests, a release build; --fast: no release build, no browser
       cargo xtask bench [--only NAME] [--long]    the benchmarks, and today's figures beside their goals
       cargo xtask bench web [--only TOPIC] [--quick] [--binary PATH]    the console in a real browser
       cargo xtask bench lighthouse [--binary PATH]    what Lighthouse says of it, when npm is there
       cargo xtask trial kill [--rounds N] [--binary PATH]    kill -9 at random instants: nothing shown is lost or doubled
       cargo xtask trial disk [--rounds N] [--binary PATH]    disks that are full, cannot sync, are read-only, lose power
       cargo xtask trial fault [--binary PATH]    a database that cannot be written for a while: Pods go on by themselves
       cargo xtask trial size [--binary PATH]    long answers, many Pods, long histories, many sockets
       cargo xtask real [--binary PATH]    with a real model on this machine, made by llama.cpp: found, streams, counts, cancels, compacts
       cargo xtask real agents [--binary PATH]    opencode and Codex as Pods, against a scripted model server: talk, ask, cancel, kill, peers
       cargo xtask conformance [server] [client] [acp] [--binary PATH]    the MCP conformance suite and ACP's official libraries
       cargo xtask shots [--binary PATH]    pictures for the documents, and of every page and dialog into target/shots
       cargo xtask models    a newer table of models: their context, their prices, what they can do";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments.as_slice() {
        ["test"] => test::run(test::Extent::Whole),
        ["test", "--fast"] => test::run(test::Extent::Fast),
        ["bench", what @ ("web" | "lighthouse"), rest @ ..] => match bench_web::Extent::parse(what, rest) {
            Some(extent) => bench_web::run(&extent),
            None => {
                eprintln!("{USAGE}");
                return ExitCode::from(2);
            }
        },
        ["bench", rest @ ..] => match bench::Extent::parse(rest) {
            Some(extent) => bench::run(&extent),
            None => {
                eprintln!("{USAGE}");
                return ExitCode::from(2);
            }
        },
        ["trial", rest @ ..] => match trial::Extent::parse(rest) {
            Some(extent) => trial::run(&extent),
            None => {
                eprintln!("{USAGE}");
                return ExitCode::from(2);
            }
        },
        ["real"] => real::run(None),
        ["real", "--binary", path] => real::run(Some(path)),
        ["real", "agents"] => real_agents::run(None),
        ["real", "agents", "--binary", path] => real_agents::run(Some(path)),
        ["conformance", rest @ ..] => match conformance::Extent::parse(rest) {
            Some(extent) => conformance::run(&extent),
            None => {
                eprintln!("{USAGE}");
                return ExitCode::from(2);
            }
        },
        ["shots"] => shots::run(None),
        ["shots", "--binary", path] => shots::run(Some(path)),
        ["models"] => models::run(),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
