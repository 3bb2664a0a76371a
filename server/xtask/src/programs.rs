//! Runs the test programs of the workspace, several at a time.
//!
//! cargo runs them one after another, and many of them mostly wait: for a browser, a server, a process that ends.

use std::{
    io::{self, Read},
    path::PathBuf,
    process::{Command, Stdio},
    sync::{Mutex, PoisonError, mpsc::RecvTimeoutError},
    thread,
    time::Instant,
};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::{
    count::Count,
    failures::Failure,
    run::{OUTPUT_WAIT, Show, cargo, lines, passes_watched, readable, workspace},
    watchdog::{SILENCE_MAX, Silence, end_with_descendants},
};

/// How many run at a time. Each runs two of its tests at a time, because each test may use a browser or a PostgreSQL.
const AT_A_TIME: usize = 2;
/// With more failures than this nothing is run again: they are hardly chance.
const UNSTEADY_MAX: usize = 2;

/// What all test programs are given.
#[derive(Debug, Default)]
pub(crate) struct Given {
    pub(crate) arguments: Vec<&'static str>,
    pub(crate) variables: Vec<(&'static str, std::ffi::OsString)>,
}

/// One program to run, and what it is called in the output.
#[derive(Debug)]
struct Program {
    name: String,
    /// The executable, and the folder that it runs in. `None` for the examples in documentation: cargo compiles them as
    /// it runs them.
    place: Option<(PathBuf, PathBuf)>,
}

impl Program {
    /// Runs all of its tests.
    fn command(&self, selection: &[&str], given: &Given) -> Command {
        let Some((executable, folder)) = &self.place else {
            let mut command = cargo(&["test", "--doc", "--quiet"]);
            command.args(selection);
            return command;
        };
        let mut command = Command::new(executable);
        command.current_dir(folder).args(&given.arguments);
        command.env("CARGO_MANIFEST_DIR", folder).envs(given.variables.iter().cloned());
        // A program in a target folder that clones share may have been compiled in another one, which insta would look for.
        command.env("INSTA_WORKSPACE_ROOT", workspace());
        command
    }
}

/// How a program ended.
#[derive(Debug)]
struct Ended {
    output: Vec<u8>,
    count: Count,
}

impl Ended {
    fn failures(&self, program: &str) -> Vec<Failure> {
        let output = String::from_utf8_lossy(&self.output);
        let mut failures = Failure::all(program, &output);
        if failures.len() < self.count.failed {
            failures.push(Failure::of_program(program, &output));
        }
        failures
    }
}

/// What became of all programs.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) count: Count,
    pub(crate) failed: Vec<Failure>,
    /// What failed among the others, and passed when it was run again by itself.
    pub(crate) unsteady: Vec<Failure>,
}

/// Builds all test programs, runs them, and prints the output of each when it has ended. Adds up their results.
///
/// A program that says nothing for [`SILENCE_MAX`] is killed and counts as failed. One or two tests that failed get a
/// second chance: see [`again`].
///
/// # Errors
/// If they cannot be built, or one cannot be started.
pub(crate) fn run(selection: &[&str], given: &Given) -> Result<Report> {
    let mut programs = built(selection)?;
    // The last ones are the tests of the whole binary, which take longest: they come first.
    programs.reverse();
    programs.push(Program { name: "examples in documentation".into(), place: None });

    let waiting = Mutex::new(programs.iter());
    let total = Mutex::new((0, Report::default()));
    thread::scope(|scope| {
        let runners: Vec<_> = (0..AT_A_TIME)
            .map(|_| {
                scope.spawn(|| -> Result<()> {
                    loop {
                        let program = waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
                        let Some(program) = program else { return Ok(()) };
                        let began = Instant::now();
                        let ended = ended(program.command(selection, given)).with_context(|| program.name.clone())?;
                        let mut total = total.lock().unwrap_or_else(PoisonError::into_inner);
                        total.0 += 1;
                        total.1.count.passed += ended.count.passed;
                        total.1.count.failed += ended.count.failed;
                        total.1.failed.extend(ended.failures(&program.name));
                        let (nth, all) = (total.0, programs.len());
                        println!("\n    {nth}/{all}  {}, {}", program.name, readable(began.elapsed()));
                        print!("{}", String::from_utf8_lossy(&ended.output));
                    }
                })
            })
            .collect();
        runners.into_iter().try_for_each(|runner| runner.join().expect("a runner does not panic"))
    })?;
    let (_, report) = total.into_inner().unwrap_or_else(PoisonError::into_inner);
    again(report, &programs, given)
}

/// Runs the tests that failed once more, each by itself, if they are no more than [`UNSTEADY_MAX`]. What passes now is
/// unsteady: reported with what it said, to be mended, and no reason to refuse the whole (docs/decisions/0099).
fn again(mut report: Report, programs: &[Program], given: &Given) -> Result<Report> {
    if report.count.failed > UNSTEADY_MAX {
        return Ok(report);
    }
    for failure in std::mem::take(&mut report.failed) {
        let program = programs.iter().find(|program| program.name == failure.program && program.place.is_some());
        let (Some(program), Some(test)) = (program, failure.test.as_deref()) else {
            report.failed.push(failure);
            continue;
        };
        let mut command = program.command(&[], given);
        command.args(["--exact", test]);
        let second = ended(command).with_context(|| program.name.clone())?;
        println!("\n    again  {}  {test}", program.name);
        print!("{}", String::from_utf8_lossy(&second.output));
        if second.count == (Count { passed: 1, failed: 0 }) {
            report.count.passed += 1;
            report.count.failed -= 1;
            report.unsteady.push(failure);
        } else {
            report.failed.push(failure);
        }
    }
    Ok(report)
}

/// The test programs in cargo's order.
fn built(selection: &[&str]) -> Result<Vec<Program>> {
    let mut build = cargo(&["test", "--no-run", "--message-format=json-render-diagnostics"]);
    let mut programs = Vec::new();
    let is_ok = passes_watched(build.args(selection), |line| {
        let message: Value = serde_json::from_str(line).unwrap_or_default();
        programs.extend(program(&message));
        Show::No
    })?;
    if !is_ok {
        bail!("the test programs could not be built");
    }
    // cargo reports them as they are compiled.
    programs.sort_by(|(before, _), (after, _)| before.cmp(after));
    Ok(programs.into_iter().map(|(_, program)| program).collect())
}

/// The test program that a message of cargo reports, with its place among the others: the binary's own package is last.
fn program(message: &Value) -> Option<((bool, PathBuf, PathBuf), Program)> {
    let is_test = message["reason"] == "compiler-artifact" && message["profile"]["test"] == true;
    let executable = PathBuf::from(message["executable"].as_str().filter(|_| is_test)?);
    let folder = PathBuf::from(message["manifest_path"].as_str()?).parent()?.to_owned();
    let source = PathBuf::from(message["target"]["src_path"].as_str()?);
    let name = source.strip_prefix(folder.parent()?).unwrap_or(&source).display().to_string();
    let order = (folder.ends_with("server"), folder.clone(), source);
    Some((order, Program { name, place: Some((executable, folder)) }))
}

/// Runs it to its end. Processes that it leaves running may keep its output open, so does not wait for that end.
fn ended(mut command: Command) -> Result<Ended> {
    let (reader, writer) = io::pipe()?;
    command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
    let mut child = command.spawn()?;
    // It holds the writing ends too, and the output would never end.
    drop(command);

    let lines = lines(Box::new(reader) as Box<dyn Read + Send>);
    let mut silence = Silence::new(Instant::now());
    let mut ended = Ended { output: Vec::new(), count: Count::default() };
    let status = loop {
        match lines.recv_timeout(OUTPUT_WAIT) {
            Ok(line) => {
                let text = String::from_utf8_lossy(&line);
                ended.count.add_line(text.trim_end());
                silence.heard(text.trim_end(), Instant::now());
                ended.output.extend_from_slice(&line);
            }
            Err(RecvTimeoutError::Timeout) => {
                if let Some(status) = child.try_wait()? {
                    break status;
                }
                if silence.is_too_long(Instant::now()) {
                    let told = format!(
                        "error: it has said nothing for {} and is ended; {}\n",
                        readable(SILENCE_MAX),
                        silence.suspects()
                    );
                    ended.output.extend_from_slice(told.as_bytes());
                    end_with_descendants(child.id());
                    break child.wait()?;
                }
            }
            Err(RecvTimeoutError::Disconnected) => break child.wait()?,
        }
    };
    if !status.success() && ended.count.failed == 0 {
        // It crashed or was killed, and has printed no count.
        ended.output.extend_from_slice(format!("error: it ended with {status}\n").as_bytes());
        ended.count.failed = 1;
    }
    Ok(ended)
}

#[cfg(test)]
mod tests {
    use std::{
        process::Command,
        sync::atomic::{AtomicUsize, Ordering},
    };

    use serde_json::json;

    use super::{Count, Failure, Given, Program, Report, again, ended, program};

    fn shell(script: &str) -> Command {
        let mut shell = Command::new("sh");
        shell.args(["-c", script]);
        shell
    }

    #[test]
    fn what_a_program_prints_is_kept_in_order_and_its_results_are_counted() {
        let line = "test result: ok. 4 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s";
        let ended = ended(shell(&format!("echo one; echo two >&2; echo '{line}'; exit 1"))).expect("a shell runs");
        assert_eq!(String::from_utf8_lossy(&ended.output), format!("one\ntwo\n{line}\n"));
        assert_eq!(ended.count, Count { passed: 4, failed: 1 });
    }

    #[test]
    fn a_program_that_crashes_without_a_count_counts_as_failed() {
        let ended = ended(shell("echo begun; kill -KILL $$")).expect("a shell runs");
        assert_eq!(ended.count, Count { passed: 0, failed: 1 });
        assert!(String::from_utf8_lossy(&ended.output).contains("signal: 9"));
    }

    #[test]
    fn a_program_has_ended_although_what_it_left_running_keeps_its_output_open() {
        let ended = ended(shell("sleep 600 & echo $!")).expect("a shell runs");
        let left = String::from_utf8_lossy(&ended.output).trim().to_owned();
        assert!(shell(&format!("kill {left}")).status().expect("a shell runs").success());
    }

    #[test]
    fn only_test_programs_are_run_and_those_of_the_binary_come_last() {
        let message = |folder: &str, source: &str, is_test: bool| {
            json!({
                "reason": "compiler-artifact",
                "manifest_path": format!("/clone/{folder}/Cargo.toml"),
                "target": { "src_path": format!("/clone/{folder}/{source}") },
                "profile": { "test": is_test },
                "executable": "/target/debug/deps/a-1",
            })
        };
        assert!(program(&message("server", "src/main.rs", false)).is_none());
        let (binary, first) = program(&message("server", "tests/day.rs", true)).expect("a program");
        assert_eq!(first.name, "server/tests/day.rs");
        let (library, second) = program(&message("server/crates/pod", "src/lib.rs", true)).expect("a program");
        assert_eq!(second.name, "pod/src/lib.rs");
        assert!(library < binary);
    }

    /// A program of two tests in a folder of its own: `steady` fails for good, and `chance` once.
    fn reported(failures: usize) -> Report {
        let folder = scratch();
        let script = folder.join("program");
        let text = "#!/bin/sh\ncase \"$2\" in\nchance) echo 'test result: ok. 1 passed; 0 failed; 0 ignored';;\n\
            *) printf -- '---- %s stdout ----\\nit broke\\n' \"$2\"; \
            echo 'test result: FAILED. 0 passed; 1 failed; 0 ignored'; exit 101;;\nesac\n";
        std::fs::write(&script, text).expect("a script");
        assert!(shell(&format!("chmod +x '{}'", script.display())).status().expect("chmod runs").success());
        let failure = |test: &str| Failure { program: "a".into(), test: Some(test.into()), said: "it broke\n".into() };
        let failed = ["chance", "steady", "more"][..failures].iter().map(|test| failure(test)).collect();
        let report = Report { count: Count { passed: 5, failed: failures }, failed, unsteady: Vec::new() };
        let programs = [Program { name: "a".into(), place: Some((script, folder.clone())) }];
        let report = again(report, &programs, &Given::default()).expect("the script runs");
        std::fs::remove_dir_all(folder).expect("the folder is ours");
        report
    }

    fn scratch() -> std::path::PathBuf {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("xtask-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir(&folder).expect("a folder of its own");
        folder
    }

    #[test]
    fn what_fails_once_is_unsteady_and_what_fails_twice_has_failed() {
        let report = reported(2);
        assert_eq!(report.count, Count { passed: 6, failed: 1 });
        let names =
            |failures: &[Failure]| failures.iter().filter_map(|failure| failure.test.clone()).collect::<Vec<_>>();
        assert_eq!((names(&report.failed), names(&report.unsteady)), (vec!["steady".into()], vec!["chance".into()]));
    }

    #[test]
    fn many_failures_are_not_taken_for_chance() {
        let report = reported(3);
        assert_eq!((report.count.failed, report.failed.len(), report.unsteady.len()), (3, 3, 0));
    }
}
