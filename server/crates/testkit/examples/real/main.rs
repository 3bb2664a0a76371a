//! The built binary with a real model on this machine: `cargo xtask real`.
//!
//! `real PATH_OF_YOI PATH_OF_LLAMA_SERVER PATH_OF_GGUF`. Starts llama.cpp's server at its usual port and a yoi on
//! fresh folders, prints each check with its figures, and exits with 1 if one fails. docs/testing.md has the figures
//! of past runs.

mod checks;
mod llama;

use std::process::ExitCode;

use testkit::yoi::Launch;

use crate::llama::Llama;

const USAGE: &str = "usage: real PATH_OF_YOI PATH_OF_LLAMA_SERVER PATH_OF_GGUF";
/// A profile without tools: a small model has no room for their descriptions, and no use for them.
const CONFIGURATION: &str = "[profiles.talk]\ntools = []\ninstructions = \"Answer briefly.\"\n";

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [yoi, server, model] = arguments.as_slice() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let llama = match Llama::start(server, model).await {
        Ok(llama) => llama,
        Err(sentence) => {
            eprintln!("error: {sentence}");
            return ExitCode::FAILURE;
        }
    };
    let launch = Launch::new(yoi);
    let config = launch.work_dir().with_file_name("yoi.toml");
    std::fs::write(&config, CONFIGURATION).expect("a temporary folder can be written to");
    let yoi = launch.arg("--config").arg(&config.to_string_lossy()).start().await;
    match checks::all(&yoi, &llama).await {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}
