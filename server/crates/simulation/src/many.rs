//! Many days, one process each.

use std::{
    process::{Command, ExitCode, Output},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// Which days.
#[derive(Debug)]
pub(crate) struct Extent {
    from: u64,
    seeds: u64,
    /// No new day begins after this.
    time: Option<Duration>,
}

impl Extent {
    /// `None` if it is not understood.
    pub(crate) fn parse(arguments: &[&str]) -> Option<Self> {
        let mut extent = Self { from: 1, seeds: 200, time: None };
        let mut is_counted = false;
        let mut rest = arguments;
        loop {
            match rest {
                [] => break,
                ["--from", number, more @ ..] => (extent.from, rest) = (number.parse().ok()?, more),
                ["--seeds", number, more @ ..] => {
                    (extent.seeds, rest) = (number.parse().ok()?, more);
                    is_counted = true;
                }
                ["--minutes", number, more @ ..] => {
                    extent.time = Some(Duration::from_secs(60 * number.parse::<u64>().ok()?));
                    rest = more;
                }
                _ => return None,
            }
        }
        if extent.time.is_some() && !is_counted {
            extent.seeds = u64::MAX;
        }
        Some(extent)
    }
}

/// Plays them on all processors until one fails.
pub(crate) fn run(extent: &Extent) -> ExitCode {
    let began = Instant::now();
    let next = AtomicU64::new(extent.from);
    let end = extent.from.saturating_add(extent.seeds);
    let has_failed = AtomicBool::new(false);
    let sums = Mutex::new(Sums::default());
    let failed: Mutex<Option<(u64, Output)>> = Mutex::new(None);
    let processors = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..processors {
            scope.spawn(|| {
                loop {
                    let is_late = extent.time.is_some_and(|time| began.elapsed() >= time);
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= end || is_late || has_failed.load(Ordering::Relaxed) {
                        return;
                    }
                    let Ok(output) = played(seed) else { return has_failed.store(true, Ordering::Relaxed) };
                    sums.lock().unwrap_or_else(PoisonError::into_inner).add(&output);
                    if !output.status.success() {
                        has_failed.store(true, Ordering::Relaxed);
                        let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
                        if failed.as_ref().is_none_or(|(known, _)| seed < *known) {
                            *failed = Some((seed, output));
                        }
                    }
                }
            });
        }
    });
    let sums = sums.into_inner().unwrap_or_else(PoisonError::into_inner);
    println!("{}", sums.sentence(began.elapsed()));
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        None if !has_failed.load(Ordering::Relaxed) => ExitCode::SUCCESS,
        None => {
            eprintln!("a day could not be started");
            ExitCode::from(3)
        }
        Some((seed, output)) => {
            print!("{}", String::from_utf8_lossy(&output.stdout));
            eprint!("{}", String::from_utf8_lossy(&output.stderr));
            println!("seed {seed} failed; again: cargo xtask simulate --from {seed} --seeds 1");
            ExitCode::FAILURE
        }
    }
}

/// One day, in a process of its own.
fn played(seed: u64) -> std::io::Result<Output> {
    Command::new(std::env::current_exe()?).args(["play", &seed.to_string()]).output()
}

/// What happened on all days.
#[derive(Debug, Default)]
struct Sums {
    days: u64,
    steps: u64,
    deaths: u64,
    power: u64,
    troubles: u64,
    cuts: u64,
    reads: u64,
}

impl Sums {
    fn add(&mut self, output: &Output) {
        self.days += 1;
        let text = String::from_utf8_lossy(&output.stdout);
        let words: Vec<&str> = text.lines().last().unwrap_or_default().split(' ').collect();
        for pair in words.windows(2) {
            let Ok(number) = pair[1].parse::<u64>() else { continue };
            match pair[0] {
                "steps" => self.steps += number,
                "deaths" => self.deaths += number,
                "power" => self.power += number,
                "troubles" => self.troubles += number,
                "cuts" => self.cuts += number,
                "reads" => self.reads += number,
                _ => (),
            }
        }
    }

    fn sentence(&self, took: Duration) -> String {
        let Self { days, steps, deaths, power, troubles, cuts, reads } = self;
        let rate = *days as f64 / took.as_secs_f64().max(0.001);
        format!(
            "{days} seeds in {:.1} s, {rate:.2} a second: {steps} steps of commits, {deaths} deaths of servers ({power} with \
             loss of power), {troubles} troubles of disks, {cuts} cuts of the network, {reads} records read",
            took.as_secs_f64()
        )
    }
}
