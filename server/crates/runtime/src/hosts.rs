//! This host among others on one database: whose Pod is whose, commands and viewers for Pods of other hosts, and what
//! happens when a host dies.
//!
//! The journal is the only truth. A host that runs a Pod writes it; every other one reads it after its own cursor, and is
//! woken by a notice that carries nothing. A command for a Pod of another host is carried out there, under its own key.
//! A database that one host serves alone knows nothing of all this.

mod call;
mod files;
mod follow;
mod hold;
mod route;
mod serve;
mod takeover;
mod unread;

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex},
};

use protocol::ApiError;
use tokio::sync::oneshot;

pub(crate) use self::{
    call::Call,
    route::{ROUNDS_MAX, Route},
};
use crate::{error, host::Inner};

/// What a host keeps in mind of others.
#[derive(Debug, Default)]
pub(crate) struct Hosts {
    /// Calls that wait for their answer.
    waiting: Mutex<HashMap<i64, oneshot::Sender<String>>>,
    /// Pods of this host that stand still for another one, by the name that it gave.
    held: Mutex<BTreeMap<String, hold::Stage>>,
}

/// Begins to take part. Nothing, for a database that one host serves alone.
pub(crate) async fn start(inner: &Arc<Inner>) -> Result<(), ApiError> {
    if inner.store.is_shared() {
        call::start(inner);
        serve::start(inner);
        follow::start(inner).await.map_err(error::store_failed)?;
        takeover::start(inner);
    }
    Ok(())
}
