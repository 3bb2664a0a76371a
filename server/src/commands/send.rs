use std::io::Read;

use anyhow::{Context, Result};
use protocol::{CommandId, InputCommand, Segment};

use super::Caller;
use crate::{cli::SendOptions, output};

/// Sends a message; when it returns, the message is on the server's disk.
pub(super) async fn send(caller: &Caller, options: SendOptions) -> Result<()> {
    let text = match options.text.as_slice() {
        [dash] if dash == "-" => standard_input()?,
        words => words.join(" "),
    };
    let pod = caller.resolve(&options.target).await?;
    let input = InputCommand { segments: vec![Segment::text(text)], queue: !options.no_queue };
    let receipt = caller.client.input(&CommandId::random(), &pod, &input).await?;
    match caller.config.json {
        true => output::json(&receipt),
        false => output::line(&format!("stored at seq {} as {}", receipt.seq, receipt.command_id)),
    }
}

fn standard_input() -> Result<String> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).context("standard input is not text")?;
    Ok(text)
}
