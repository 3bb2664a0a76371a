use anyhow::Result;
use protocol::PreviewCommand;
use protocol::operations;

use super::Caller;
use crate::{cli::PreviewOptions, output};

/// Opens, closes or lists previews of what a Pod's commands serve.
pub(super) async fn preview(caller: &Caller, options: PreviewOptions) -> Result<()> {
    let pod = caller.resolve(&options.target).await?;
    let Some(port) = options.port else {
        let listing = caller.client.read(&operations::Previews { pod: pod.clone() }).await?;
        if caller.config.json {
            return output::json(&listing);
        }
        if listing.items.is_empty() {
            output::note(&format!("{} has no open previews, and its commands listen on no port", options.target));
            return Ok(());
        }
        let mark = |is: bool| if is { "yes" } else { "no" }.to_owned();
        return output::headed(
            ["PORT", "LISTENING", "ADDRESS"],
            listing.items.into_iter().map(|item| {
                [item.port.to_string(), mark(item.is_listening), item.url.unwrap_or_else(|| "not open".to_owned())]
            }),
        );
    };
    if options.close {
        return Ok(caller.client.read(&operations::ClosePreview { pod: pod.clone(), port }).await?);
    }
    let opened =
        caller.client.read(&operations::OpenPreview { pod: pod.clone(), body: PreviewCommand { port } }).await?;
    if caller.config.json {
        return output::json(&opened);
    }
    output::line(opened.url.as_deref().unwrap_or_default())?;
    output::note("open it within a minute; it works for one browser");
    Ok(())
}
