use anyhow::Result;
use jiff::Timestamp;
use protocol::SessionView;
use protocol::{operation::Page, operations};

use super::{Caller, ago};
use crate::{cli::SignOutOptions, output};

/// Prints the logged-in browsers.
pub(super) async fn sessions(caller: &Caller) -> Result<()> {
    let listing = caller.client.read(&operations::Sessions { page: Page::default() }).await?;
    if caller.config.json {
        return output::json(&listing);
    }
    if listing.items.is_empty() {
        output::note("no browsers are logged in");
        return Ok(());
    }
    output::headed(["ID", "SEEN", "SINCE", "BROWSER"], listing.items.iter().map(row))
}

fn row(session: &SessionView) -> [String; 4] {
    let now = Timestamp::now();
    [session.id.clone(), ago(session.seen_at, now), ago(session.created_at, now), session.client.clone()]
}

/// Ends one login, or all.
pub(super) async fn sign_out(caller: &Caller, options: SignOutOptions) -> Result<()> {
    let what = match &options.id {
        Some(id) => {
            caller.client.read(&operations::EndSession { id: id.to_owned() }).await?;
            id.as_str()
        }
        None => {
            caller.client.read(&operations::EndOtherSessions {}).await?;
            "every browser"
        }
    };
    match caller.config.json {
        true => output::json(&serde_json::json!({ "signed_out": what })),
        false => output::line(&format!("signed out {what}")),
    }
}
