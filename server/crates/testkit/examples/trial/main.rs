//! Long trials of the built binary: `cargo xtask trial kill | disk | fault | size | postgres`.
//!
//! `trial PATH_OF_YOI kill | disk | postgres [--rounds N]` or `trial PATH_OF_YOI fault | size`. Prints one table; exits
//! with 1 if something does not hold. docs/testing.md has the figures of past runs.

#[cfg(target_os = "linux")]
mod disk;
mod fault;
mod kill;
mod postgres;
mod size;
mod witness;
mod work;

use std::process::ExitCode;

const USAGE: &str =
    "usage: trial PATH_OF_YOI kill | disk | postgres [--rounds N]\n       trial PATH_OF_YOI fault | size";
/// Enough to hit most moments of a turn within some minutes.
const ROUNDS: u32 = 50;
/// A power loss each.
#[cfg(target_os = "linux")]
const POWER_ROUNDS: u32 = 20;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let holds = match arguments.as_slice() {
        [binary, "kill"] => kill::run(binary, ROUNDS).await,
        [binary, "kill", "--rounds", rounds] if rounds.parse::<u32>().is_ok_and(|rounds| rounds > 0) => {
            kill::run(binary, rounds.parse().unwrap_or(ROUNDS)).await
        }
        [binary, "postgres"] => postgres::run(binary, postgres::ROUNDS).await,
        [binary, "postgres", "--rounds", rounds] if rounds.parse::<u32>().is_ok_and(|rounds| rounds > 0) => {
            postgres::run(binary, rounds.parse().unwrap_or(postgres::ROUNDS)).await
        }
        #[cfg(target_os = "linux")]
        [binary, "disk"] => disk::run(binary, POWER_ROUNDS).await,
        #[cfg(target_os = "linux")]
        [binary, "disk", "--rounds", rounds] if rounds.parse::<u32>().is_ok_and(|rounds| rounds > 0) => {
            disk::run(binary, rounds.parse().unwrap_or(POWER_ROUNDS)).await
        }
        [binary, "fault"] => fault::run(binary).await,
        [binary, "size"] => size::run(binary).await,
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
