//! The commands that a Pod runs in the background.

use std::time::Duration;

use anyhow::Result;
use jiff::Timestamp;
use protocol::{
    BackgroundCommand, BackgroundOutput, CommandId, CommandState, PodRef,
    operation::{Filled, NoFields, Page},
    operations,
};

use super::{Caller, ago};
use crate::{cli::PsOptions, output};

/// How often to look for more output.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// Lists the background commands of a Pod, prints what one wrote, or stops one.
pub(super) async fn ps(caller: &Caller, options: PsOptions) -> Result<()> {
    let PsOptions { target, id, follow, stop } = options;
    let pod = caller.resolve(&target).await?;
    match id {
        None => list(caller, pod, &target).await,
        Some(id) if stop => end(caller, pod, id).await,
        Some(id) => print(caller, pod, id, follow).await,
    }
}

async fn list(caller: &Caller, pod: PodRef, target: &str) -> Result<()> {
    let commands = caller.client.read(&operations::Commands { pod, page: Page::default() }).await?;
    if caller.config.json {
        return output::json(&commands);
    }
    if commands.items.is_empty() {
        output::note(&format!("{target} runs nothing in the background"));
        return Ok(());
    }
    output::headed(["ID", "STARTED", "STATE", "COMMAND"], commands.items.iter().map(row))
}

fn row(command: &BackgroundCommand) -> [String; 4] {
    let state = command.detail.clone().unwrap_or_else(|| command.state.as_str().to_owned());
    [command.id.clone(), ago(command.started_at, Timestamp::now()), state, command.command.clone()]
}

async fn print(caller: &Caller, pod: PodRef, id: String, follow: bool) -> Result<()> {
    let (mut after, mut until) = (0, None);
    loop {
        let query = operations::CommandOutput { pod: pod.clone(), id: id.clone(), after: Filled(Some(after)) };
        let read: BackgroundOutput = caller.client.read(&query).await?;
        if caller.config.json && !follow {
            return output::json(&read);
        }
        let BackgroundOutput { command, output: text, next, dropped, .. } = read;
        // Without following, what it writes meanwhile is not waited for.
        let until = *until.get_or_insert(command.bytes);
        if dropped > 0 {
            output::note(&format!("{dropped} bytes of it are no longer kept"));
        }
        if !text.is_empty() {
            output::bytes(output::printable(&text).as_bytes())?;
        }
        let is_all = next >= if follow || command.state == CommandState::Exited { command.bytes } else { until };
        after = next;
        match command.state {
            _ if !is_all => (),
            CommandState::Running if follow => tokio::time::sleep(LOOK_AGAIN).await,
            CommandState::Running => return Ok(()),
            CommandState::Exited => {
                output::note(&command.detail.unwrap_or_default());
                return Ok(());
            }
        }
    }
}

async fn end(caller: &Caller, pod: PodRef, id: String) -> Result<()> {
    let stop = operations::StopCommand { pod, id, body: NoFields {} };
    let command = caller.client.carry_out(&CommandId::random(), &stop).await?;
    match caller.config.json {
        true => output::json(&command),
        false => output::line(&output::printable(&row(&command)[2])),
    }
}
