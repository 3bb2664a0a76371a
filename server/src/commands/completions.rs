use anyhow::{Context, Result};
use clap_complete::{Shell, env::Shells};

use crate::output;

/// Set by the completion scripts when they ask this program for candidates.
pub(crate) const VARIABLE: &str = "YOI_COMPLETE";

/// Prints a script for the shell to source. It calls `yoi` itself, so it knows the existing Pods.
pub(crate) fn completions(shell: Shell) -> Result<()> {
    let shells = Shells::builtins();
    let completer = shells.completer(&shell.to_string()).context("there are no completions for this shell")?;
    let mut script = Vec::new();
    completer.write_registration(VARIABLE, "yoi", "yoi", "yoi", &mut script)?;
    output::bytes(&script)
}
