//! Lists of older Pods: pages, and the live list.

use std::{collections::HashMap, sync::Arc, time::Duration};

use futures_util::{StreamExt, stream};
use protocol::{ApiError, Candidate, ErrorCode, Listing, PodName, PodRef, PodSummary, open_cursor, seal_cursor};
use runtime::{PodQuery, PodsItem, PodsObservation};
use tokio::{sync::watch, time::sleep};

use crate::{folder::Folder, names};

const PAGE_DEFAULT: u32 = 500;
/// Changes within this time are reported together.
const GATHER: Duration = Duration::from_millis(100);

/// One page of the Pods that match a query, sorted by name. Its cursors are `compat.NAME`, sealed.
pub(crate) fn page(folder: &Folder, query: &PodQuery) -> Result<Listing<PodSummary>, ApiError> {
    let after = query.after.as_deref().map(read_cursor).transpose()?;
    let limit = query.limit.unwrap_or(PAGE_DEFAULT).max(1) as usize;
    let pods = folder.pods().into_iter().filter(|pod| after.as_ref().is_none_or(|after| pod.name > *after));
    let mut items: Vec<PodSummary> = pods.map(|pod| pod.summary()).filter(|pod| selects(query, pod)).collect();
    let has_more = items.len() > limit;
    items.truncate(limit);
    let next = items.last().filter(|_| has_more).map(|last| seal_cursor(&format!("{}.{}", names::RUNTIME, last.name)));
    Ok(Listing { items, next })
}

fn read_cursor(cursor: &str) -> Result<PodName, ApiError> {
    let name = open_cursor(cursor).and_then(|place| place.strip_prefix(names::RUNTIME)?.strip_prefix('.'));
    name.and_then(|name| PodName::parse(name).ok()).ok_or_else(|| {
        ApiError::new(ErrorCode::CursorInvalid, "the cursor is not one of this list; begin without `after`")
    })
}

fn selects(query: &PodQuery, pod: &PodSummary) -> bool {
    let wanted = query.q.as_deref().map(str::to_lowercase);
    let holds = |text: &str| wanted.as_deref().is_none_or(|wanted| text.to_lowercase().contains(wanted));
    query.name.as_ref().is_none_or(|name| *name == pod.name)
        && query.state.is_none_or(|state| state == pod.state)
        && (holds(pod.name.as_str())
            || holds(&pod.cwd)
            || holds(&pod.model)
            || pod.activity.as_deref().is_some_and(holds))
}

/// The pods whose name contains this one or is contained in it, ignoring case.
pub(crate) fn near_names(folder: &Folder, name: &PodName) -> Vec<Candidate> {
    let wanted = name.as_str().to_lowercase();
    let is_near = |known: &str| {
        let known = known.to_lowercase();
        known == wanted || (wanted.len() >= 2 && (known.contains(&wanted) || wanted.contains(&known)))
    };
    let near = folder.pods().into_iter().filter(|pod| is_near(pod.name.as_str()));
    near.map(|pod| Candidate { pod: pod.pod_ref(), name: pod.name.clone() }).collect()
}

struct Watcher {
    folder: Arc<Folder>,
    changes: watch::Receiver<u64>,
    /// What its reader has.
    told: HashMap<PodRef, PodSummary>,
    is_begun: bool,
}

/// The whole list first, then its changes. A Pod that has been listed once stays listed.
pub(crate) fn observe(folder: Arc<Folder>) -> PodsObservation {
    let changes = folder.list.subscribe();
    let watcher = Watcher { folder, changes, told: HashMap::new(), is_begun: false };
    stream::unfold(watcher, |mut watcher| async move {
        let item = watcher.next().await?;
        Some((item, watcher))
    })
    .boxed()
}

impl Watcher {
    async fn next(&mut self) -> Option<PodsItem> {
        loop {
            if self.is_begun {
                self.changes.changed().await.ok()?;
                sleep(GATHER).await;
            }
            let revision = *self.changes.borrow_and_update();
            let pods = self.folder.pods().into_iter().map(|pod| pod.summary());
            let upserts: Vec<_> = pods.filter(|pod| self.told.get(&pod.pod) != Some(pod)).collect();
            self.told.extend(upserts.iter().map(|pod| (pod.pod.clone(), pod.clone())));
            let snapshot = !std::mem::replace(&mut self.is_begun, true);
            if snapshot || !upserts.is_empty() {
                return Some(PodsItem { revision, snapshot, upserts, removed: Vec::new() });
            }
        }
    }
}
