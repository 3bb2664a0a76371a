//! Commands of a person's own: Markdown files whose text is sent as a message.

use anyhow::Result;
use protocol::{
    CommandId, InputCommand, OwnCommand, Segment,
    operation::{Loose, Page},
    operations,
};

use super::Caller;
use crate::{cli::PromptOptions, output};

/// Lists the commands for a Pod, or sends the message of one. It is queued if the Pod is working.
pub(super) async fn prompt(caller: &Caller, options: PromptOptions) -> Result<()> {
    let PromptOptions { target, command, arguments } = options;
    let pod = caller.resolve(&target).await?;
    let Some(name) = command else {
        let own = caller.client.read(&operations::OwnCommands { pod, page: Page::default() }).await?;
        if caller.config.json {
            return output::json(&own);
        }
        if own.items.is_empty() {
            output::note(&format!("no commands of your own for {target}; write one as .yoi/commands/NAME.md"));
            return Ok(());
        }
        let row = |own: &OwnCommand| [own.name.clone(), own.description.clone(), own.path.clone()];
        return output::headed(["NAME", "WHAT", "FILE"], own.items.iter().map(row));
    };
    let arguments = Loose(Some(arguments.join(" ")));
    let message = caller.client.read(&operations::OwnMessageOf { pod: pod.clone(), name, arguments }).await?;
    let body = InputCommand { segments: vec![Segment::text(message.text)], queue: true, steer: false };
    let receipt = caller.client.carry_out(&CommandId::random(), &operations::Input { pod, body }).await?;
    match caller.config.json {
        true => output::json(&receipt),
        false => output::line(&format!("sent to {target}")),
    }
}
