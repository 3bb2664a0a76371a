//! `cargo xtask real agents`: agents from npm as Pods of the built binary, against a scripted model server on this
//! machine.
//!
//! They are fetched once, into the target folder. After that they cannot reach the network: they run in a network
//! namespace with nothing but its own loopback, if the machine allows one.

use std::{
    fs,
    path::PathBuf,
    process::{Command, Stdio},
};

use anyhow::{Context, Result, ensure};

use crate::{
    build,
    run::{cargo, passes, step, target_dir},
    tools,
};

const AGENTS: [&str; 2] = ["opencode-ai@1.18.33", "@zed-industries/codex-acp@0.16.0"];
/// Brings the loopback up and then runs the given command.
const LOOPBACK: &str = "ip link set lo up && exec \"$@\"";

/// Runs the checks with a yoi that was built before, or with a release build that is made first. Returns false if a
/// check fails.
pub(crate) fn run(binary: Option<&str>) -> Result<bool> {
    let done = step("real agents", || {
        let folder = target_dir()?.join("agents");
        fs::create_dir_all(&folder).with_context(|| format!("could not make {}", folder.display()))?;
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--prefix"]).arg(&folder).args(AGENTS);
        ensure!(passes(&mut npm)?, "npm could not fetch the agents");
        let binary = match binary {
            Some(binary) => PathBuf::from(binary),
            None => {
                tools::ensure_rust_tools()?;
                build::yoi(&["--release"])?.binary
            }
        };
        let built = cargo(&["build", "--locked", "--quiet", "--package", "testkit", "--example", "agents"]).status()?;
        ensure!(built.success(), "the driver could not be built");
        let driver = target_dir()?.join("debug/examples/agents");
        let mut tried = match has_namespaces() {
            true => {
                let mut unshare = Command::new("unshare");
                unshare.args(["--map-root-user", "--net", "sh", "-c", LOOPBACK, "sh"]).arg(driver);
                unshare
            }
            false => {
                println!("    no network namespace here: the agents could reach the network");
                Command::new(driver)
            }
        };
        passes(tried.arg(binary).arg(folder.join("node_modules/.bin")))
    });
    Ok(done.is_ok)
}

fn has_namespaces() -> bool {
    let mut tried = Command::new("unshare");
    tried.args(["--map-root-user", "--net", "sh", "-c", LOOPBACK, "sh", "true"]);
    tried.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}
