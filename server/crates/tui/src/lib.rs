//! The console in a terminal.

/// Why the console could not run.
#[derive(Debug, thiserror::Error)]
#[error("the terminal cannot be used: {0}")]
pub struct TuiError(#[from] std::io::Error);

/// Runs until it is quit.
pub async fn run(_client: client::Client, _target: Option<String>) -> Result<(), TuiError> {
    Ok(())
}
