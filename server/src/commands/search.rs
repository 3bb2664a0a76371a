use anyhow::Result;
use jiff::Timestamp;
use protocol::{Gathered, SearchHit};
use protocol::{
    RuntimeId,
    operation::{Filled, Loose},
    operations::Search,
};
use transcript::snippet_words;

use super::{Caller, ago, name_of, note_absent};
use crate::{cli::SearchOptions, output};

/// Prints where the words occur, newest first.
pub(super) async fn search(caller: &Caller, options: SearchOptions) -> Result<()> {
    let words = options.words.join(" ");
    let pod = match &options.pod {
        Some(target) => Some(caller.resolve(target).await?),
        None => None,
    };
    let (runtime, after) =
        (Filled(options.runtime.as_deref().map(RuntimeId::parse).transpose()?), Loose(options.after));
    let filter = Search { pod: Filled(pod), runtime, after, ..Search::of(words) };
    let listing = caller.client.read(&filter).await?;
    if caller.config.json {
        return output::json(&listing);
    }
    print(&listing)
}

fn print(listing: &Gathered<SearchHit>) -> Result<()> {
    note_absent(&listing.absent);
    if listing.items.is_empty() {
        output::note("no matches");
        return Ok(());
    }
    let now = Timestamp::now();
    output::headed(["POD", "RECORD", "WHEN", "KIND", "TEXT"], listing.items.iter().map(|hit| row(hit, now)))?;
    if let Some(next) = &listing.next {
        output::note(&format!("more: --after {next}"));
    }
    Ok(())
}

fn row(hit: &SearchHit, now: Timestamp) -> [String; 5] {
    let when = hit.at.map(|at| ago(at, now)).unwrap_or_default();
    let text = snippet_words(&hit.kind, &hit.snippet);
    [name_of(&hit.name, &hit.pod), hit.seq.to_string(), when, hit.kind.clone(), text]
}
