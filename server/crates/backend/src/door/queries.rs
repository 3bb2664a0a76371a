//! Queries: each is read in the runtime of its Pod; those about all Pods in every runtime that answers.

use futures_util::future::BoxFuture;
use protocol::{
    ApiError, PodDetail, PodRef, RuntimeId,
    operation::{Filled, Page},
    operations::{Answer, Exchange, Folders, OpenRequests, Query, ToQuery},
};

use super::Backend;
use crate::port::answer_of;

impl Backend {
    /// Reads a query. From a list that comes as a whole, the requested page is cut.
    pub async fn read<Q: ToQuery>(&self, query: Q) -> Result<Q::Answer, ApiError> {
        answer_of(self.query(query.into()).await?)
    }

    /// Like [`Backend::read`], for any query.
    pub fn query(&self, query: Query) -> BoxFuture<'_, Result<Answer, ApiError>> {
        Box::pin(async move {
            let page = query.page().cloned();
            let answer = self.whole(query).await?;
            match page {
                Some(page) => answer.paged(&page),
                None => Ok(answer),
            }
        })
    }

    /// Like [`Backend::query`], but lists that come as a whole are not cut into pages.
    async fn whole(&self, query: Query) -> Result<Answer, ApiError> {
        Ok(match query {
            Query::Pods(pods) => self.everywhere().pods(pods).await?.into(),
            Query::Resolve(resolve) => {
                let missing = || ApiError::invalid("say which Pod is meant: `?target=`");
                self.resolve(&resolve.target.ok_or_else(missing)?).await?.into()
            }
            Query::OpenRequests(OpenRequests { runtime: Filled(None), .. }) => {
                self.everywhere().open_requests().await?.into()
            }
            Query::OpenRequests(OpenRequests { runtime: Filled(Some(runtime)), .. }) => {
                self.port(&runtime)?.read(OpenRequests { runtime: Filled(None), page: Page::default() }.into()).await?
            }
            Query::Folders(Folders { prefix, runtime: Filled(runtime) }) => {
                let there = runtime.unwrap_or_else(RuntimeId::local);
                self.port(&there)?.read(Folders { prefix, runtime: Filled(None) }.into()).await?
            }
            Query::Search(search) => self.everywhere().search(search).await?.into(),
            Query::Usage(usage) => self.everywhere().usage(usage).await?.into(),
            Query::Rules(rules) => self.everywhere().rules(rules).await?.into(),
            Query::Audit(audit) => self.everywhere().audit(audit).await?.into(),
            Query::Exchange(exchange) if exchange.pod.runtime_id != exchange.peer.runtime_id => {
                let Exchange { pod, peer, before, limit } = exchange;
                self.links().messages(&pod, &peer, before.0.as_deref(), limit.0).await?.into()
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
}
