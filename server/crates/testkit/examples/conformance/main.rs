//! The MCP conformance suite against `/mcp` of the built binary; run by `cargo xtask conformance`.
//!
//! The suite does not support tokens, so it goes through a proxy that adds one and changes nothing else. Each of its
//! scenarios is either claimed, and has to pass, or left out for a documented reason. A scenario in neither table
//! fails the run.

mod proxy;
mod scenarios;

use std::{
    collections::BTreeSet,
    path::PathBuf,
    process::{Command, ExitCode, Output},
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use serde_json::json;
use testkit::{
    until_so,
    yoi::{YoiProcess, pod_path},
};

use self::scenarios::{CLAIMED, Claimed, LEFT_OUT};

/// The paths of the suite and of Node.
struct Suite {
    node: PathBuf,
    program: PathBuf,
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [binary, node, program] = arguments.as_slice() else {
        eprintln!("usage: conformance YOI NODE PROGRAM");
        return ExitCode::from(2);
    };
    let suite = Suite { node: node.clone(), program: program.clone() };
    match run(binary.to_str().unwrap_or_default(), &suite).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(binary: &str, suite: &Suite) -> Result<bool> {
    let yoi = YoiProcess::start(binary).await;
    let ada = yoi.new_pod("ada").await;
    yoi.say(&ada, "say hello").await;
    until_so("there is something to read", async || {
        yoi.get(&pod_path(&ada)).await.expect(200)["state"] == json!("idle")
    })
    .await;
    let url = proxy::start(yoi.base_url(), yoi.token()).await?;
    let mut is_whole = unknown(suite)?.is_empty();
    for claimed in CLAIMED {
        is_whole &= holds(suite, &url, claimed)?;
    }
    for (scenario, why) in LEFT_OUT {
        println!("left out: {scenario}: {why}");
    }
    println!("{} scenarios claimed, {} left out", CLAIMED.len(), LEFT_OUT.len());
    Ok(is_whole)
}

/// Runs one scenario; exactly the checks that cannot pass here may fail.
fn holds(suite: &Suite, url: &str, claimed: &Claimed) -> Result<bool> {
    let Claimed { scenario, version, without } = claimed;
    let output = suite.run(&["server", "--url", url, "--scenario", scenario, "--spec-version", version])?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &*String::from_utf8_lossy(&output.stderr);
    let failed: BTreeSet<&str> = failed_checks(&said).collect();
    let expected: BTreeSet<&str> = without.iter().copied().collect();
    let counted = said.lines().find_map(|line| line.trim().strip_prefix("Passed: "));
    let has_run = counted.is_some_and(|counted| !counted.starts_with("0/"));
    let holds = has_run && failed == expected;
    println!(
        "{} {scenario} ({version}): {}",
        if holds { "pass" } else { "FAIL" },
        counted.unwrap_or("nothing was counted")
    );
    if !holds {
        println!("{said}");
    }
    Ok(holds)
}

/// Parses `  - NAME: what it checks` after the heading of failed checks.
fn failed_checks(said: &str) -> impl Iterator<Item = &str> {
    let failed = said.split_once("=== Failed Checks ===").map_or("", |(_, failed)| failed);
    let named = failed.lines().filter_map(|line| line.strip_prefix("  - ")?.split_once(": "));
    named.map(|(name, _)| name).filter(|name| name.chars().all(char::is_alphanumeric))
}

/// Scenarios of the suite that are in neither table.
fn unknown(suite: &Suite) -> Result<Vec<String>> {
    let output = suite.run(&["list", "--server"])?;
    let listed = String::from_utf8_lossy(&output.stdout);
    let names = listed.lines().filter_map(|line| line.trim().strip_prefix("- ")?.split(' ').next());
    let names: Vec<&str> = names.collect();
    ensure!(names.len() > 20, "the suite lists no scenarios: {listed}");
    let is_known = |name: &str| {
        CLAIMED.iter().any(|claimed| claimed.scenario == name) || LEFT_OUT.iter().any(|(left, _)| *left == name)
    };
    let unknown: Vec<String> = names.iter().filter(|name| !is_known(name)).map(|name| (*name).to_owned()).collect();
    for name in &unknown {
        println!("FAIL {name}: the suite has it, and it is neither claimed nor left out for a reason");
    }
    Ok(unknown)
}

impl Suite {
    fn run(&self, words: &[&str]) -> Result<Output> {
        let mut command = Command::new(&self.node);
        command.arg(&self.program).args(words).env("NO_COLOR", "1");
        command.output().with_context(|| format!("{} could not be started", self.node.display()))
    }
}

/// How long the proxy waits for the server.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);
