//! What everyone in a simulated world shares: the log, the model, and who is done.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, BTreeSet},
    fmt::Display,
    rc::Rc,
    time::Duration,
};

use crate::{log::Log, model::Model};

/// Shared by everyone in it.
#[derive(Debug, Clone)]
pub(crate) struct World(Rc<Shared>);

#[derive(Debug)]
struct Shared {
    log: RefCell<Log>,
    model: RefCell<Model>,
    /// Worker ids, by server.
    pods: RefCell<Vec<Vec<String>>>,
    /// The worker ids of those that another Pod has spawned.
    children: RefCell<BTreeSet<String>>,
    /// The newest seq of each Pod, once everything is at rest.
    heads: RefCell<BTreeMap<String, u64>>,
    /// How many servers' people are not done yet.
    at_work: Cell<usize>,
    /// All servers have the same Pods.
    is_shared: bool,
    /// Each server has added those behind it.
    is_far: bool,
    now: Cell<Duration>,
}

impl World {
    pub(crate) fn new(log: Log, servers: usize, is_shared: bool, is_far: bool) -> Self {
        Self(Rc::new(Shared {
            log: RefCell::new(log),
            model: RefCell::default(),
            pods: RefCell::new(vec![Vec::new(); servers]),
            children: RefCell::default(),
            heads: RefCell::default(),
            at_work: Cell::new(servers),
            is_shared,
            is_far,
            now: Cell::default(),
        }))
    }

    /// Where a server's Pods are: its own number, or that of the one database.
    pub(crate) fn site(&self, server: usize) -> usize {
        if self.0.is_shared { 0 } else { server }
    }

    /// The names of all servers with the Pods of this one.
    pub(crate) fn hosts(&self, server: usize) -> Vec<String> {
        let all = 0..self.0.pods.borrow().len();
        let own = all.filter(|other| self.0.is_shared || *other == server);
        own.map(|number| format!("server-{number}")).collect()
    }

    fn count(&self) -> usize {
        self.0.pods.borrow().len()
    }

    /// The numbers of the servers that know each other; none, if they do not.
    pub(crate) fn far(&self) -> usize {
        if self.0.is_far { self.count() } else { 0 }
    }

    /// The servers that this one has added.
    pub(crate) fn added_by(&self, server: usize) -> Vec<String> {
        (server + 1..self.far()).map(|other| format!("server-{other}")).collect()
    }

    /// The sites whose Pods these people bring to rest, once all others are done: what happens at one reaches the others.
    /// `None`: they bring only their own to rest, and need not wait.
    pub(crate) fn together(&self) -> Option<Vec<usize>> {
        match (self.0.is_shared, self.0.is_far) {
            (true, _) => Some(vec![0]),
            (_, true) => Some((0..self.count()).collect()),
            _ => None,
        }
    }

    /// How many servers' people are not done yet.
    pub(crate) fn at_work(&self) -> usize {
        self.0.at_work.get()
    }

    /// The time since the morning.
    pub(crate) fn now(&self) -> Duration {
        turmoil::sim_elapsed().unwrap_or_else(|| self.0.now.get())
    }

    /// The time of whatever is not on a host.
    pub(crate) fn set_now(&self, now: Duration) {
        self.0.now.set(now);
    }

    pub(crate) fn note(&self, who: &str, what: impl Display) {
        self.0.log.borrow_mut().write(self.now().as_millis(), who, what);
    }

    /// Runs a function on the model.
    pub(crate) fn model<T>(&self, with: impl FnOnce(&mut Model) -> T) -> T {
        with(&mut self.0.model.borrow_mut())
    }

    pub(crate) fn log<T>(&self, with: impl FnOnce(&Log) -> T) -> T {
        with(&self.0.log.borrow())
    }

    pub(crate) fn pods(&self, server: usize) -> Vec<String> {
        self.0.pods.borrow()[server].clone()
    }

    pub(crate) fn has_pod(&self, server: usize, worker_id: &str) {
        self.0.pods.borrow_mut()[server].push(worker_id.to_owned());
    }

    /// A Pod that another one has spawned. True if it was not known.
    pub(crate) fn has_child(&self, server: usize, worker_id: &str) -> bool {
        let is_new = self.0.children.borrow_mut().insert(worker_id.to_owned());
        if is_new {
            self.has_pod(server, worker_id);
        }
        is_new
    }

    pub(crate) fn is_child(&self, worker_id: &str) -> bool {
        self.0.children.borrow().contains(worker_id)
    }

    /// Those that people have made.
    pub(crate) fn tops(&self, server: usize) -> Vec<String> {
        let mut pods = self.pods(server);
        pods.retain(|pod| !self.is_child(pod));
        pods
    }

    /// A Pod is at rest, with its newest record at `head`.
    pub(crate) fn rests(&self, pod: &str, head: u64) {
        self.0.heads.borrow_mut().insert(pod.to_owned(), head);
    }

    /// The end of a Pod's journal, once everything is at rest.
    pub(crate) fn head(&self, pod: &str) -> Option<u64> {
        if self.0.at_work.get() > 0 {
            return None;
        }
        self.0.heads.borrow().get(pod).copied()
    }

    pub(crate) fn is_at_rest(&self) -> bool {
        self.0.at_work.get() == 0
    }

    /// One server's people are done.
    pub(crate) fn is_done(&self) {
        self.0.at_work.set(self.0.at_work.get() - 1);
    }
}

/// The name of a Pod in log and model.
pub(crate) fn pod_name(server: usize, worker_id: &str) -> String {
    format!("server-{server}/{worker_id}")
}
