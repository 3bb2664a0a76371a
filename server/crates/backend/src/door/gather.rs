//! Lists in which each runtime has a part, asked for: see `gathered` for how they are merged.

use std::future::Future;

use futures_util::future::join_all;
use protocol::{ApiError, Gathered, Listing, RuntimeId};

use super::Backend;
use crate::{
    Entry, EntryKind,
    gathered::{Part, Places, merge, part},
};

impl Backend {
    /// The runtimes that have a part in lists over all: this one and the servers that were added.
    pub(crate) fn askable(&self) -> Vec<(RuntimeId, Entry)> {
        let entries = self.registry.entries().into_iter();
        entries.filter(|(_, entry)| matches!(entry.kind, EntryKind::Embedded | EntryKind::Remote)).collect()
    }

    /// One page over all runtimes, or of `only` one. `ask` gets a runtime and where its part goes on.
    pub(crate) async fn gather<T: Part, F>(
        &self,
        only: Option<&RuntimeId>,
        after: Option<&str>,
        limit: u32,
        ask: impl Fn(Entry, Option<String>) -> F,
    ) -> Result<Gathered<T>, ApiError>
    where
        F: Future<Output = Result<Listing<T>, ApiError>>,
    {
        if let Some(runtime_id) = only {
            let entry = self.registry.get(runtime_id).ok_or_else(|| crate::registry::not_there(runtime_id))?;
            let Listing { items, next } = ask(entry, after.map(str::to_owned)).await?;
            return Ok(Gathered { items, next, absent: Vec::new() });
        }
        let mut entries = self.askable();
        let mut places = match after {
            None => Places::beginning(entries.iter().map(|(id, _)| id.clone())),
            Some(after) => Places::read(after)?,
        };
        places.keep(|known| entries.iter().any(|(id, _)| id == known));
        entries.retain(|(id, _)| places.goes_on(id).is_some());
        let asked = entries.into_iter().map(|(id, entry)| {
            let answer = ask(entry, places.goes_on(&id).flatten());
            async move { (id.clone(), part(&id, answer).await) }
        });
        let mut parts = Vec::new();
        for (id, answer) in join_all(asked).await {
            match answer? {
                Some(page) => parts.push((id, page)),
                None => places.leave_out(id),
            }
        }
        Ok(merge(places, parts, limit as usize))
    }
}
