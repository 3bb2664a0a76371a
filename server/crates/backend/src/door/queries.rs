//! Queries: each is read in the runtime that its Pod lives in; those about all Pods in every runtime that answers.

use futures_util::future::join_all;
use protocol::{
    ApiError, Gathered, Listing, PodDetail, PodRef, UsageReport,
    operation::{Answered, Filled, Loose, Page},
    operations::{Answer, Audit, Exchange, OpenRequests, Query, Rules, Search, ToQuery, Usage},
};

use super::Backend;
use crate::{Entry, gathered::part, port::answer_of, sums::Sum};

impl Backend {
    /// Reads something. Of a short list it is the page that is asked for.
    pub async fn read<Q: ToQuery>(&self, query: Q) -> Result<Q::Answer, ApiError> {
        let page: Option<Page> = query.page().cloned();
        let answer: Q::Answer = answer_of(self.query(query.into()).await?)?;
        match page {
            Some(page) => answer.paged(&page),
            None => Ok(answer),
        }
    }

    /// As [`Backend::read`], of any query, and never in pages where the whole is short.
    async fn query(&self, query: Query) -> Result<Answer, ApiError> {
        Ok(match query {
            Query::Pods(pods) => self.pods(pods).await?.into(),
            Query::Resolve(resolve) => {
                let missing = || ApiError::invalid("say which Pod is meant: `?target=`");
                self.resolve(&resolve.target.ok_or_else(missing)?).await?.into()
            }
            Query::OpenRequests(OpenRequests { runtime: Filled(None), .. }) => self.open_requests().await?.into(),
            Query::OpenRequests(OpenRequests { runtime: Filled(Some(runtime)), .. }) => {
                self.port(&runtime)?.read(OpenRequests { runtime: Filled(None), page: Page::default() }.into()).await?
            }
            Query::Search(search) => self.search(search).await?.into(),
            Query::Usage(usage) => self.usage(usage).await?.into(),
            Query::Rules(rules) => self.rules(rules).await?.into(),
            Query::Audit(audit) => self.audit(audit).await?.into(),
            Query::Exchange(exchange) if exchange.pod.runtime_id != exchange.peer.runtime_id => {
                let Exchange { pod, peer, before, limit } = exchange;
                self.exchange_across(&pod, &peer, before.0.as_deref(), limit.0).await?.into()
            }
            query => {
                let pod = query.pod().cloned().expect("a query that is not of all Pods is of one");
                self.port(&pod.runtime_id)?.read(query).await?
            }
        })
    }

    pub async fn pod(&self, pod: &PodRef) -> Result<PodDetail, ApiError> {
        self.port(&pod.runtime_id)?.pod(pod).await
    }

    /// Tokens over all, per Pod, day, tree and pair: of all runtimes that answer, or of one.
    async fn usage(&self, Usage { runtime }: Usage) -> Result<UsageReport, ApiError> {
        let all = Usage { runtime: Filled(None) };
        if let Filled(Some(runtime)) = runtime {
            return self.port(&runtime)?.ask(all).await;
        }
        let mut sum = Sum::default();
        for (id, answer) in self.each(all).await {
            sum.add(id, answer?);
        }
        Ok(sum.report())
    }

    /// The Pods that have rules of their own: of all runtimes that answer, or of one; ours first.
    async fn rules(&self, Rules { runtime, .. }: Rules) -> Result<Gathered<protocol::PodRules>, ApiError> {
        let all = Rules { runtime: Filled(None), page: Page::default() };
        if let Filled(Some(runtime)) = runtime {
            return self.port(&runtime)?.ask(all).await;
        }
        let mut rules = Gathered { items: Vec::new(), next: None, absent: Vec::new() };
        for (id, answer) in self.each(all).await {
            match answer? {
                Some(there) => rules.items.extend(there.items),
                None => rules.absent.push(id),
            }
        }
        Ok(rules)
    }

    /// What each runtime that is asked for a part says to a query; none where it does not say it now.
    async fn each<Q: ToQuery>(&self, query: Q) -> Vec<(protocol::RuntimeId, Result<Option<Q::Answer>, ApiError>)> {
        let asked = self.askable().into_iter().map(|(id, entry)| {
            let query = query.clone();
            async move {
                let answer = part(&id, async { entry.port.ask(query).await }).await;
                (id, answer)
            }
        });
        join_all(asked).await
    }

    /// Where all the words were said, newest first: in all runtimes that answer, in one, or in one Pod wherever it is.
    async fn search(&self, search: Search) -> Result<Gathered<protocol::SearchHit>, ApiError> {
        if search.q.as_deref().is_none_or(|words| words.trim().is_empty()) {
            return Err(ApiError::invalid("say what to look for: `?q=`"));
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

    /// Who did what, newest first: in all runtimes that answer, or in one. What was done to another runtime's Pod from
    /// here stands in the audit of both servers.
    async fn audit(&self, audit: Audit) -> Result<Gathered<protocol::AuditRow>, ApiError> {
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
}

/// What one runtime says of itself has nobody missing in it.
fn own_part<T>(Gathered { items, next, .. }: Gathered<T>) -> Listing<T> {
    Listing { items, next }
}
