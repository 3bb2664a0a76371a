use anyhow::Result;

use super::Caller;
use crate::{cli::PreviewOptions, output};

/// Opens, closes or lists previews of what a Pod's commands serve.
pub(super) async fn preview(caller: &Caller, options: PreviewOptions) -> Result<()> {
    let pod = caller.resolve(&options.target).await?;
    let Some(port) = options.port else {
        let listing = caller.client.previews(&pod).await?;
        if caller.config.json {
            return output::json(&listing);
        }
        if listing.items.is_empty() {
            output::note(&format!("{} has no open previews", options.target));
            return Ok(());
        }
        return output::headed(
            ["PORT", "ADDRESS"],
            listing.items.iter().map(|item| [item.port.to_string(), item.url.clone()]),
        );
    };
    if options.close {
        return Ok(caller.client.close_preview(&pod, port).await?);
    }
    let opened = caller.client.open_preview(&pod, port).await?;
    if caller.config.json {
        return output::json(&opened);
    }
    output::line(&opened.url)?;
    output::note("open it within a minute; it works for one browser");
    Ok(())
}
