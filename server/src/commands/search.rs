use anyhow::Result;
use client::SearchFilter;
use protocol::{Listing, SearchHit};

use super::{Caller, name_of};
use crate::{cli::SearchOptions, output};

/// Prints where the words were said, newest first.
pub(super) async fn search(caller: &Caller, options: SearchOptions) -> Result<()> {
    let words = options.words.join(" ");
    let pod = match &options.pod {
        Some(target) => Some(caller.resolve(target).await?),
        None => None,
    };
    let filter = SearchFilter { words: &words, pod: pod.as_ref(), after: options.after.as_deref() };
    let listing = caller.client.search_of(filter).await?;
    if caller.config.json {
        return output::json(&listing);
    }
    print(&listing)
}

fn print(listing: &Listing<SearchHit>) -> Result<()> {
    if listing.items.is_empty() {
        output::note("nothing was found");
        return Ok(());
    }
    output::headed(["POD", "RECORD", "KIND", "TEXT"], listing.items.iter().map(row))?;
    if let Some(next) = &listing.next {
        output::note(&format!("there is more: --after {next}"));
    }
    Ok(())
}

fn row(hit: &SearchHit) -> [String; 4] {
    let text = hit.snippet.split_whitespace().collect::<Vec<_>>().join(" ");
    [name_of(&hit.name, &hit.pod), hit.seq.to_string(), hit.kind.clone(), text]
}
