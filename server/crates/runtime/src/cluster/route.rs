//! Where a Pod is run. A Pod that nobody runs is claimed by the host that is first to need it, if its files are here.

use pod_store::{HostRow, PodRow, StoreError, Whereabouts};
use protocol::{ApiError, ErrorCode, WorkerId};

use super::{Cluster, files};
use crate::view;

/// How often a Pod that moves from host to host is looked for.
pub(crate) const ROUNDS_MAX: usize = 4;

/// Where a Pod is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Route {
    Here,
    There(HostRow),
}

impl Cluster {
    /// Looks for the Pod's host; one that nobody runs is this host's from now on. A Pod that is not there is here: here it
    /// is told so.
    pub(crate) async fn route(&self, worker_id: &WorkerId) -> Result<Route, ApiError> {
        if !self.store.hosts().is_shared() || self.actors.tasks.has(worker_id) {
            return Ok(Route::Here);
        }
        let Some(row) = self.store.pods().find(worker_id).await? else {
            return Ok(Route::Here);
        };
        let Whereabouts { owner, home } = match self.store.hosts().whereabouts(row.key).await {
            Err(StoreError::PodGone) => return Ok(Route::Here),
            place => place?,
        };
        let own = self.store.hosts().this();
        match owner {
            Some(owner) if own.is_some_and(|own| own.id == owner.id) => Ok(Route::Here),
            Some(owner) => Ok(Route::There(owner)),
            None => match self.stranger(&row, home).await {
                Some(home) => self.at_home(&row, home).await,
                None => self.claim(&row).await,
            },
        }
    }

    async fn claim(&self, row: &PodRow) -> Result<Route, ApiError> {
        match self.store.hosts().claim(row.key).await {
            Ok(()) | Err(StoreError::PodGone) => Ok(Route::Here),
            Err(StoreError::Elsewhere(host)) => Ok(Route::There(host)),
            Err(error) => Err(error.into()),
        }
    }

    /// The host that has the Pod's files, when they are not here.
    pub(super) async fn stranger(&self, row: &PodRow, home: Option<String>) -> Option<String> {
        let own = self.store.hosts().this()?;
        let home = home.filter(|home| *home != own.name)?;
        let cwd = view::open(row).ok()?.spec.cwd;
        (!files::are_here(&cwd).await).then_some(home)
    }

    async fn at_home(&self, row: &PodRow, home: String) -> Result<Route, ApiError> {
        let hosts = self.store.hosts().now().await?;
        match hosts.into_iter().find(|host| host.name == home) {
            Some(host) => Ok(Route::There(host)),
            None => {
                let sentence = format!("pod \"{}\" cannot be used here: {}", row.name, files::reason(&home));
                Err(ApiError::new(ErrorCode::RuntimeUnavailable, sentence))
            }
        }
    }
}
