//! `cargo xtask test | bench | shots`: fetches what is missing, runs, measures.
//!
//! One command for a fresh clone and for every day. It depends on as little as it can: it is compiled before all else.

mod bench;
mod build;
mod count;
mod run;
mod shots;
mod test;
mod tools;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask test [--fast]    formatting, lints, all tests, a release build; --fast: no release build, no browser
       cargo xtask bench [--only NAME] [--long]    the benchmarks, and today's figures beside their goals
       cargo xtask shots            screenshots of the console into target/shots";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments.as_slice() {
        ["test"] => test::run(test::Extent::Whole),
        ["test", "--fast"] => test::run(test::Extent::Fast),
        ["bench", rest @ ..] => match bench::Extent::parse(rest) {
            Some(extent) => bench::run(&extent),
            None => {
                eprintln!("{USAGE}");
                return ExitCode::from(2);
            }
        },
        ["shots"] => shots::run(),
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
