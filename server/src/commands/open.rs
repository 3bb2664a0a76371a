use anyhow::{Context, Result};
use protocol::operations;
use serde_json::json;

use super::Caller;
use crate::{cli::OpenOptions, opening, output};

/// Opens the console in a browser, logged in, or prints an address that does so.
pub(super) async fn open(caller: &Caller, options: OpenOptions) -> Result<()> {
    let made = caller.client.read(&operations::MakeLoginCode {}).await?;
    if options.print {
        let address = format!("{}/?code={}", made.address, made.code);
        return match caller.config.json {
            true => output::json(&json!({ "address": address, "expires_at": made.expires_at })),
            false => output::line(&address),
        };
    }
    let page = opening::write_page(&caller.config.data, &made.address, &made.code)?;
    opening::browser(&page).spawn().with_context(|| {
        format!("could not start a browser; open {} in one, or use `yoi open --print`", page.display())
    })?;
    match caller.config.json {
        true => output::json(&json!({ "page": page, "console": made.address })),
        false => output::line(&format!("the console is at {}", made.address)),
    }
}
