//! `simulation play SEED [--log FILE]`: one day. `simulation run [--from SEED] [--seeds N] [--minutes M]`: many, each in a
//! process of its own, so that nothing of one is left in another. `RUST_LOG=info` shows what the servers log.

mod many;

use std::{path::PathBuf, process::ExitCode};

use simulation::day;
use tracing_subscriber::EnvFilter;

const USAGE: &str = "\
usage: simulation play SEED [--log FILE]
       simulation run [--from SEED] [--seeds N] [--minutes M]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    // What the servers say, by their own clocks.
    if std::env::var_os("RUST_LOG").is_some() {
        tracing_subscriber::fmt().with_env_filter(EnvFilter::from_default_env()).with_writer(std::io::stderr).init();
    }
    match arguments.as_slice() {
        ["play", seed] => play(seed, None),
        ["play", seed, "--log", path] => play(seed, Some(path.into())),
        ["run", rest @ ..] => match many::Extent::parse(rest) {
            Some(extent) => many::run(&extent),
            None => usage(),
        },
        _ => usage(),
    }
}

fn usage() -> ExitCode {
    eprintln!("{USAGE}");
    ExitCode::from(2)
}

/// Plays a day and prints what became of it: one line of figures; a failing day's last lines before it.
fn play(seed: &str, log: Option<PathBuf>) -> ExitCode {
    let Ok(seed) = seed.parse::<u64>() else { return usage() };
    let played = std::thread::spawn(move || {
        let folder = tempfile::Builder::new().prefix("yoi-simulation-").tempdir_in(memory())?;
        let path = std::fs::canonicalize(folder.path())?;
        day::play(seed, &path, log.as_deref())
    });
    match played.join() {
        Ok(Ok(outcome)) => {
            if let Some(broken) = &outcome.broken {
                println!("{broken}\n");
            }
            let day::Figures { steps, deaths, power_losses, troubles, cuts, reads, lines } = outcome.figures;
            println!(
                "seed {seed} log {} steps {steps} deaths {deaths} power {power_losses} troubles {troubles} cuts {cuts} reads {reads} lines {lines}",
                outcome.hash
            );
            if outcome.broken.is_some() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
        }
        Ok(Err(error)) => {
            eprintln!("seed {seed} could not be played: {error}");
            ExitCode::from(3)
        }
        Err(_) => ExitCode::from(101),
    }
}

/// A folder in memory, if there is one: a simulated disk does not have to be a disk.
fn memory() -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    if memory.is_dir() { memory } else { std::env::temp_dir() }
}
