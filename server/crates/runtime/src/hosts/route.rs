//! Where a Pod is run. A Pod that nobody runs is claimed by the host that is first to need it, if its files are here.

use std::sync::Arc;

use pod_store::{HostRow, PodRow, StoreError, Whereabouts};
use protocol::{ApiError, ErrorCode, ToolAnswer, ToolCommand, WorkerId};
use serde::de::DeserializeOwned;

use super::{Call, files};
use crate::{CommandKey, Origin, error, host::Inner, pod_task::PodCommand, view};

/// How often a Pod that moves from host to host is looked for.
pub(crate) const ROUNDS_MAX: usize = 4;

/// Where a Pod is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Route {
    Here,
    There(HostRow),
}

impl Inner {
    /// Looks for the Pod's host; one that nobody runs is this host's from now on. A Pod that is not there is here: here it
    /// is told so.
    pub(crate) async fn route(&self, worker_id: &WorkerId) -> Result<Route, ApiError> {
        if !self.store.is_shared() || self.has_task(worker_id) {
            return Ok(Route::Here);
        }
        let Some(row) = self.store.pod_find(worker_id).await.map_err(error::store_failed)? else {
            return Ok(Route::Here);
        };
        let Whereabouts { owner, home } = match self.store.whereabouts(row.key).await {
            Err(StoreError::PodGone) => return Ok(Route::Here),
            place => place.map_err(error::store_failed)?,
        };
        let own = self.store.this_host();
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
        match self.store.claim(row.key).await {
            Ok(()) | Err(StoreError::PodGone) => Ok(Route::Here),
            Err(StoreError::Elsewhere(host)) => Ok(Route::There(host)),
            Err(error) => Err(error::store_failed(error)),
        }
    }

    /// The host that has the Pod's files, when they are not here.
    pub(super) async fn stranger(&self, row: &PodRow, home: Option<String>) -> Option<String> {
        let own = self.store.this_host()?;
        let home = home.filter(|home| *home != own.name)?;
        let cwd = view::open(row).ok()?.spec.cwd;
        (!files::are_here(&cwd).await).then_some(home)
    }

    async fn at_home(&self, row: &PodRow, home: String) -> Result<Route, ApiError> {
        let hosts = self.store.hosts_now().await.map_err(error::store_failed)?;
        match hosts.into_iter().find(|host| host.name == home) {
            Some(host) => Ok(Route::There(host)),
            None => {
                let sentence = format!("pod \"{}\" cannot be used here: {}", row.name, files::reason(&home));
                Err(ApiError::new(ErrorCode::RuntimeUnavailable, sentence))
            }
        }
    }

    /// Carries a command out where the Pod is run. None: here.
    pub(crate) async fn command_there<T: DeserializeOwned>(
        &self,
        key: &CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        command: &PodCommand,
    ) -> Result<Option<T>, ApiError> {
        self.there(worker_id, || Call::Command {
            worker_id: worker_id.clone(),
            key: key.clone(),
            origin: origin.clone(),
            command: command.clone(),
        })
        .await
    }

    pub(crate) async fn tool_there(
        &self,
        key: &CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        name: &str,
        command: &ToolCommand,
    ) -> Result<Option<ToolAnswer>, ApiError> {
        self.there(worker_id, || Call::Tool {
            worker_id: worker_id.clone(),
            key: key.clone(),
            origin: origin.clone(),
            name: name.to_owned(),
            command: command.clone(),
        })
        .await
    }

    /// The Pod is run by another host, which has its files.
    pub(crate) async fn is_there(&self, worker_id: &WorkerId) -> Result<bool, ApiError> {
        Ok(matches!(self.route(worker_id).await?, Route::There(_)))
    }

    pub(crate) async fn files_there(&self, worker_id: &WorkerId, begun: &str) -> Result<Option<Vec<String>>, ApiError> {
        self.there(worker_id, || Call::Files { worker_id: worker_id.clone(), begun: begun.to_owned() }).await
    }

    async fn there<T: DeserializeOwned>(
        &self,
        worker_id: &WorkerId,
        call: impl Fn() -> Call,
    ) -> Result<Option<T>, ApiError> {
        for _ in 0..ROUNDS_MAX {
            let host = match self.route(worker_id).await? {
                Route::Here => return Ok(None),
                Route::There(host) => host,
            };
            if let Some(answer) = self.call(&host, &call()).await? {
                return Ok(Some(answer));
            }
        }
        Err(error::moves_about())
    }

    /// Has a Pod look into its mailbox, wherever it is run.
    pub(crate) async fn wake_there(self: &Arc<Self>, worker_id: &WorkerId) -> Result<bool, ApiError> {
        match self.route(worker_id).await? {
            Route::Here => Ok(false),
            Route::There(host) => {
                self.tell(&host, &Call::Wake { worker_id: worker_id.clone() }).await;
                Ok(true)
            }
        }
    }
}
