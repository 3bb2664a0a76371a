//! Notifies sessions when transcripts that they subscribed to have grown, and when the list of Pods changes.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use backend::Backend;
use futures_util::StreamExt;
use protocol::{ApiError, ErrorCode, PodRef, Seq};

use crate::resources;

/// How many transcripts one session can subscribe to.
pub(crate) const FOLLOWED_MAX: usize = 64;
/// How often it is notified of one of them.
const TOLD_EVERY: Duration = Duration::from_secs(1);

/// The subscriptions of a session.
#[derive(Debug, Clone, Default)]
pub(crate) struct Followed(Arc<Mutex<BTreeSet<String>>>);

impl Followed {
    pub(crate) fn of(uris: impl IntoIterator<Item = String>) -> Self {
        Self(Arc::new(Mutex::new(uris.into_iter().take(FOLLOWED_MAX).collect())))
    }

    pub(crate) fn add(&self, uri: &str) -> Result<(), ApiError> {
        let mut all = self.all();
        if all.len() >= FOLLOWED_MAX && !all.contains(uri) {
            let sentence = format!("{FOLLOWED_MAX} transcripts are followed; unsubscribe from one first");
            return Err(ApiError::new(ErrorCode::RateLimited, sentence));
        }
        all.insert(uri.to_owned());
        Ok(())
    }

    pub(crate) fn remove(&self, uri: &str) {
        self.all().remove(uri);
    }

    fn has(&self, uri: &str) -> bool {
        self.all().contains(uri)
    }

    fn all(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What to notify about.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum News {
    Grown(String),
    OtherPods,
}

/// Reports news until `tell` returns that nobody listens.
pub(crate) async fn watch(backend: Backend, followed: Followed, tell: impl AsyncFn(News) -> bool) {
    let Ok(mut changes) = backend.everywhere().observe_pods(None) else { return };
    let mut heads: BTreeMap<PodRef, Seq> = BTreeMap::new();
    let mut is_first = true;
    while let Some(item) = changes.next().await {
        let mut others = !item.removed.is_empty();
        heads.retain(|pod, _| !item.removed.contains(pod));
        let mut grown = Vec::new();
        for summary in item.upserts {
            let uri = resources::uri(&summary.pod);
            match heads.insert(summary.pod, summary.head_seq) {
                Some(before) if before < summary.head_seq && followed.has(&uri) => grown.push(uri),
                Some(_) => (),
                None => others = true,
            }
        }
        let news = grown.into_iter().map(News::Grown).chain((others && !is_first).then_some(News::OtherPods));
        for news in news {
            if !tell(news).await {
                return;
            }
        }
        is_first = false;
        // Changes between two checks are combined.
        tokio::time::sleep(TOLD_EVERY).await;
    }
}
