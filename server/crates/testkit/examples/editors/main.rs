//! `yoi acp` driven by ACP's official libraries, from npm and from PyPI; run by `cargo xtask conformance acp`.
//!
//! Each is a small editor: it opens a session, talks, answers a permission request, sees a diff, cancels, reopens the
//! session. They check our messages against the libraries' own types, which a client of ours would not.

use std::{
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use anyhow::{Context, Result};
use testkit::yoi::{Launch, YoiProcess};

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [binary, node, folder, python] = arguments.as_slice() else {
        eprintln!("usage: editors YOI NODE FOLDER_OF_MODULES PYTHON");
        return ExitCode::from(2);
    };
    let launch = Launch::new(binary.to_str().unwrap_or_default());
    // A Pod without a model gets the rehearsal model, whatever else runs on this machine.
    let config = launch.work_dir().with_file_name("yoi.toml");
    std::fs::write(&config, "find_models = false\n").expect("a temporary folder can be written to");
    let yoi = launch.arg("--config").arg(&config.to_string_lossy()).start().await;
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/editors");
    let library = folder.join("node_modules/@agentclientprotocol/sdk/dist/v1/stable/acp.js");
    let of_npm = Editor { program: node, words: vec![here.join("editor.mjs"), library] };
    let of_pypi = Editor { program: python, words: vec![here.join("editor.py")] };
    let mut is_whole = true;
    for (name, editor) in [("npm", of_npm), ("PyPI", of_pypi)] {
        let done = editor.run(binary, &yoi);
        println!("{} the library of {name}", if matches!(done, Ok(true)) { "pass" } else { "FAIL" });
        if let Err(error) = &done {
            eprintln!("error: {error:#}");
        }
        is_whole &= matches!(done, Ok(true));
    }
    if is_whole { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

struct Editor<'a> {
    program: &'a Path,
    words: Vec<PathBuf>,
}

impl Editor<'_> {
    fn run(&self, binary: &Path, yoi: &YoiProcess) -> Result<bool> {
        let launch = yoi.launch();
        let mut command = Command::new(self.program);
        command.args(&self.words).arg(binary).arg(launch.data_dir()).arg(launch.work_dir());
        Ok(command.status().with_context(|| format!("{} could not be started", self.program.display()))?.success())
    }
}
