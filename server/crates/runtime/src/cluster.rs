//! This host among others on one database: which host runs which Pod, commands and viewers for Pods of other hosts, and
//! what happens when a host dies.
//!
//! The journal is the only source of truth. The host that runs a Pod writes its journal; every other host reads it
//! after its own cursor and is woken by notices that carry no data. A command for a Pod of another host is carried out
//! there, under its own key. None of this applies to a database with a single host.

mod anywhere;
mod call;
mod files;
mod follow;
mod hold;
mod recovery;
mod route;
mod serve;
mod shelf;
mod takeover;
mod together;
mod unread;

use std::{ops::Deref, sync::Arc};

use protocol::ApiError;

pub(crate) use self::shelf::ShelfAsked;
use self::{
    call::Call,
    route::{ROUNDS_MAX, Route},
};
use crate::{actor::Actors, ground::Ground};

/// This host as a member of the cluster.
#[derive(Debug)]
pub(crate) struct Cluster {
    pub(crate) actors: Arc<Actors>,
    calls: call::Calls,
    stand_still: hold::StandStill,
}

impl Deref for Cluster {
    type Target = Ground;

    fn deref(&self) -> &Ground {
        &self.actors
    }
}

impl Cluster {
    pub(crate) fn new(actors: Arc<Actors>) -> Self {
        let calls = call::Calls::new(actors.ground.clone());
        Self { calls, stand_still: hold::StandStill::new(actors.clone()), actors }
    }
}

/// Starts the recovery of Pods that a crash left open, and joins the cluster. With a single-host database there is
/// nothing to join.
pub(crate) async fn start(cluster: &Arc<Cluster>) -> Result<(), ApiError> {
    recovery::start(cluster).await?;
    if cluster.store.hosts().is_shared() {
        call::start(cluster);
        serve::start(cluster);
        follow::start(cluster).await?;
        takeover::start(cluster);
    }
    Ok(())
}
