//! Lists and sums to which each runtime contributes a part: this asks for the parts, `gathered` merges them.

use std::future::Future;

use futures_util::future::join_all;
use protocol::{
    ApiError, AuditRow, Gathered, Listing, RuleItem, RuntimeId, SearchHit, UsageReport,
    operation::{Filled, Loose, Page},
    operations::{Audit, Rules, Search, ToQuery, Usage},
};

use super::everywhere::Everywhere;
use crate::{
    Entry, EntryKind,
    gathered::{Part, Places, merge, part},
    sums::Sum,
};

impl Everywhere<'_> {
    /// Token usage in total and per Pod, day, tree and pair: of all runtimes that answer, or of one.
    pub(super) async fn usage(self, Usage { runtime }: Usage) -> Result<UsageReport, ApiError> {
        let all = Usage { runtime: Filled(None) };
        if let Filled(Some(runtime)) = runtime {
            return self.backend.port(&runtime)?.ask(all).await;
        }
        let mut sum = Sum::default();
        for (id, answer) in self.each(all).await {
            sum.add(id, answer?);
        }
        Ok(sum.report())
    }

    /// The rules of all runtimes that answer, or of one; our own first.
    pub(super) async fn rules(self, Rules { runtime, .. }: Rules) -> Result<Gathered<RuleItem>, ApiError> {
        let all = Rules { runtime: Filled(None), page: Page::default() };
        if let Filled(Some(runtime)) = runtime {
            let mut rules = self.backend.port(&runtime)?.ask(all).await?;
            rules.items = rules_there(&runtime, rules.items);
            return Ok(rules);
        }
        let mut rules = Gathered { items: Vec::new(), next: None, absent: Vec::new() };
        for (id, answer) in self.each(all).await {
            match answer? {
                Some(there) => rules.items.extend(rules_there(&id, there.items)),
                None => rules.absent.push(id),
            }
        }
        Ok(rules)
    }

    /// The answer of each runtime that takes part in lists, or `None` if it does not answer now.
    async fn each<Q: ToQuery>(self, query: Q) -> Vec<(RuntimeId, Result<Option<Q::Answer>, ApiError>)> {
        let asked = self.askable().into_iter().map(|(id, entry)| {
            let query = query.clone();
            async move {
                let answer = part(&id, async { entry.port.ask(query).await }).await;
                (id, answer)
            }
        });
        join_all(asked).await
    }

    /// Where all the words occur together, newest first: in all runtimes that answer, in one of them, or in one Pod.
    pub(super) async fn search(self, search: Search) -> Result<Gathered<SearchHit>, ApiError> {
        if search.q.as_deref().is_none_or(|words| words.trim().is_empty()) {
            return Err(ApiError::invalid("say what to search for: `?q=`"));
        }
        let only = match (&search.pod.0, &search.runtime.0) {
            (Some(pod), Some(runtime)) if pod.runtime_id != *runtime => {
                return Err(ApiError::invalid(format!("the Pod {pod} does not live in the runtime \"{runtime}\"")));
            }
            (Some(pod), _) => Some(pod.runtime_id.clone()),
            (None, runtime) => runtime.clone(),
        };
        let (after, limit) = (search.after.0.clone(), search.limit.0);
        let ask = |entry: Entry, after| {
            let query = Search { after: Loose(after), runtime: Filled(None), ..search.clone() };
            async move { entry.port.ask(query).await.map(own_part) }
        };
        self.gather(only.as_ref(), after.as_deref(), limit, ask).await
    }

    /// The audit, newest first: of all runtimes that answer, or of one. What was done from here to a Pod of another
    /// runtime is in the audit of both servers.
    pub(super) async fn audit(self, audit: Audit) -> Result<Gathered<AuditRow>, ApiError> {
        if let Some(result) = audit.result.0.as_deref().filter(|result| !["done", "refused", "failed"].contains(result))
        {
            let result: String = result.chars().take(64).collect();
            return Err(ApiError::invalid(format!("a result is done, refused or failed, not \"{result}\"")));
        }
        let (only, after, limit) = (audit.runtime.0.clone(), audit.after.0.clone(), audit.limit.0);
        let ask = |entry: Entry, after| {
            let query = Audit { after: Loose(after), runtime: Filled(None), ..audit.clone() };
            async move { entry.port.ask(query).await.map(own_part) }
        };
        self.gather(only.as_ref(), after.as_deref(), limit, ask).await
    }

    /// The runtimes that take part in merged lists: this one and the servers that were added.
    fn askable(self) -> Vec<(RuntimeId, Entry)> {
        let entries = self.backend.registry.entries().into_iter();
        entries.filter(|(_, entry)| matches!(entry.kind, EntryKind::Embedded | EntryKind::Remote)).collect()
    }

    /// One page over all runtimes, or of the runtime `only`. `ask` gets a runtime and the cursor at which its part
    /// continues.
    async fn gather<T: Part, F>(
        self,
        only: Option<&RuntimeId>,
        after: Option<&str>,
        limit: u32,
        ask: impl Fn(Entry, Option<String>) -> F,
    ) -> Result<Gathered<T>, ApiError>
    where
        F: Future<Output = Result<Listing<T>, ApiError>>,
    {
        if let Some(runtime_id) = only {
            let entry = self.backend.registry.entry(runtime_id)?;
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

/// Another runtime's rules, with ids that say where they are.
fn rules_there(runtime_id: &RuntimeId, mut items: Vec<RuleItem>) -> Vec<RuleItem> {
    if *runtime_id != RuntimeId::local() {
        items.iter_mut().for_each(|item| item.id = RuleItem::id_there(runtime_id, &item.id));
    }
    items
}

/// A single runtime's answer has no absent runtimes.
fn own_part<T>(Gathered { items, next, .. }: Gathered<T>) -> Listing<T> {
    Listing { items, next }
}
