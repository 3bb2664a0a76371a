//! The lists of all runtimes merged into one: first the whole, then its changes. The whole list of one runtime is only
//! a part for the reader, so which Pods each runtime has is remembered.

use std::{
    collections::{BTreeMap, HashMap, HashSet, VecDeque},
    sync::{
        Arc, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use futures_util::{
    StreamExt,
    stream::{self, BoxStream, SelectAll},
};
use protocol::{PodRef, PodSummary, RuntimeId, WorkerId};
use runtime::{PodsItem, PodsObservation};
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use crate::{Entry, Registry, RuntimePort};

/// The first item waits for our own list; for the others it waits this long and then goes out without them.
const OTHERS_WAIT: Duration = Duration::from_millis(200);

/// An item of a list; `None` when that list has ended.
type Heard = (RuntimeId, u64, Option<PodsItem>);

struct Merger {
    registry: Registry,
    changes: watch::Receiver<u64>,
    revision: Arc<AtomicU64>,
    lists: SelectAll<BoxStream<'static, Heard>>,
    /// The current list of each runtime; one that was removed and added again has a new list.
    open: BTreeMap<RuntimeId, Open>,
    opened: u64,
    is_begun: bool,
    ready: VecDeque<PodsItem>,
}

struct Open {
    /// The port that the list belongs to. Weak, so that an idle reader does not keep a removed runtime alive.
    port: Weak<dyn RuntimePort>,
    number: u64,
    /// Its whole list has arrived.
    is_known: bool,
    pods: HashSet<WorkerId>,
}

pub(super) fn observe(registry: Registry, revision: Arc<AtomicU64>) -> PodsObservation {
    let changes = registry.watch();
    let merger = Merger {
        registry,
        changes,
        revision,
        lists: SelectAll::new(),
        open: BTreeMap::new(),
        opened: 0,
        is_begun: false,
        ready: VecDeque::new(),
    };
    stream::unfold(merger, |mut merger| async move {
        let item = merger.next().await?;
        Some((item, merger))
    })
    .boxed()
}

impl Merger {
    async fn next(&mut self) -> Option<PodsItem> {
        if !self.is_begun {
            self.is_begun = true;
            return self.whole().await;
        }
        loop {
            if let Some(item) = self.ready.pop_front() {
                return Some(item);
            }
            tokio::select! {
                heard = self.lists.next() => self.take(heard?)?,
                // The registry lives as long as the backend, so this is the end of the server.
                changed = self.changes.changed() => {
                    changed.ok()?;
                    self.follow_registry();
                }
            }
        }
    }

    /// The first item: everything that is known.
    async fn whole(&mut self) -> Option<PodsItem> {
        self.follow_registry();
        let patience = Instant::now() + OTHERS_WAIT;
        while self.open.values().any(|open| !open.is_known) {
            let only_others = self.open.iter().all(|(id, open)| open.is_known || *id != RuntimeId::local());
            tokio::select! {
                heard = self.lists.next() => self.take(heard?)?,
                () = sleep_until(patience), if only_others => break,
            }
        }
        let upserts = together(std::mem::take(&mut self.ready));
        Some(self.item(true, upserts, Vec::new()))
    }

    /// Opens the lists of new runtimes and drops those of removed ones.
    fn follow_registry(&mut self) {
        self.changes.borrow_and_update();
        let entries: BTreeMap<RuntimeId, Entry> = self.registry.entries().into_iter().collect();
        let is_same = |id: &RuntimeId, open: &Open| {
            entries.get(id).is_some_and(|entry| std::ptr::addr_eq(open.port.as_ptr(), Arc::as_ptr(&entry.port)))
        };
        let gone: Vec<_> = self.open.extract_if(.., |id, open| !is_same(id, open)).collect();
        for (id, open) in gone {
            self.tell_removed(&id, open.pods);
        }
        for (id, entry) in entries {
            if !self.open.contains_key(&id) {
                self.open_list(id, entry.port);
            }
        }
    }

    fn open_list(&mut self, id: RuntimeId, port: Arc<dyn RuntimePort>) {
        self.opened += 1;
        let (number, known) = (self.opened, Arc::downgrade(&port));
        let (of, end) = (id.clone(), (id.clone(), number, None));
        let list = port.observe_pods().map(move |item| (of.clone(), number, Some(item)));
        self.lists.push(list.chain(stream::iter([end])).boxed());
        self.open.insert(id, Open { port: known, number, is_known: false, pods: HashSet::new() });
    }

    /// `None` when our own list has ended: the reader connects again.
    fn take(&mut self, (id, number, item): Heard) -> Option<()> {
        let is_current = self.open.get(&id).is_some_and(|open| open.number == number);
        match item {
            _ if !is_current => Some(()),
            Some(item) => {
                self.take_item(&id, item);
                Some(())
            }
            None if id == RuntimeId::local() => None,
            // Its known Pods stay until the runtime is removed from the registry.
            None => Some(()),
        }
    }

    fn take_item(&mut self, id: &RuntimeId, item: PodsItem) {
        let Some(open) = self.open.get_mut(id) else { return };
        let PodsItem { snapshot, upserts, mut removed, .. } = item;
        if snapshot {
            open.is_known = true;
            let present: HashSet<WorkerId> = upserts.iter().map(|summary| summary.pod.worker_id.clone()).collect();
            let missing = open.pods.difference(&present).map(|worker_id| PodRef::new(id.clone(), worker_id.clone()));
            removed.extend(missing);
            open.pods = present;
        } else {
            open.pods.extend(upserts.iter().map(|summary| summary.pod.worker_id.clone()));
        }
        for pod in &removed {
            open.pods.remove(&pod.worker_id);
        }
        if !upserts.is_empty() || !removed.is_empty() {
            let item = self.item(false, upserts, removed);
            self.ready.push_back(item);
        }
    }

    fn tell_removed(&mut self, id: &RuntimeId, pods: HashSet<WorkerId>) {
        if !pods.is_empty() {
            let removed = pods.into_iter().map(|worker_id| PodRef::new(id.clone(), worker_id)).collect();
            let item = self.item(false, Vec::new(), removed);
            self.ready.push_back(item);
        }
    }

    fn item(&self, snapshot: bool, upserts: Vec<PodSummary>, removed: Vec<PodRef>) -> PodsItem {
        let revision = self.revision.fetch_add(1, Ordering::AcqRel);
        PodsItem { revision, snapshot, upserts, removed }
    }
}

/// Merges several items: our own Pods first, each runtime's in the order in which it listed them.
fn together(items: VecDeque<PodsItem>) -> Vec<PodSummary> {
    let mut places: HashMap<PodRef, usize> = HashMap::new();
    let mut found: Vec<Option<PodSummary>> = Vec::new();
    for item in items {
        for pod in item.removed {
            if let Some(place) = places.remove(&pod) {
                found[place] = None;
            }
        }
        for summary in item.upserts {
            let place = *places.entry(summary.pod.clone()).or_insert(found.len());
            match found.get_mut(place) {
                Some(known) => *known = Some(summary),
                None => found.push(Some(summary)),
            }
        }
    }
    let mut all: Vec<PodSummary> = found.into_iter().flatten().collect();
    all.sort_by_cached_key(|summary| (summary.pod.runtime_id != RuntimeId::local(), summary.pod.runtime_id.clone()));
    all
}
