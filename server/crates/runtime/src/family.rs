//! Parents and children: spawning, stopping and restoring children, and the scope lent to them.
//!
//! The rows of a Pod's children change only while that Pod is paused, so two operations never see the same scope as
//! free. What is written for parent and child is one transaction.

mod restore;
mod spawn;
mod stop;

pub(crate) use self::{
    restore::{Restored, restore, restore_command},
    spawn::{Spawn, Spawned, spawn},
    stop::{Stopper, stop},
};
use std::{ops::Deref, sync::Arc};

use pod_store::PodRow;
use protocol::{ApiError, PodLimits};

use crate::{
    Origin, clock,
    command::audit,
    ground::Ground,
    hold::{Pods, Together},
    recipe::Recipes,
};

/// Carries out changes to parents and children, within the limits.
#[derive(Debug)]
pub(crate) struct Family {
    pub(crate) ground: Arc<Ground>,
    pub(crate) pods: Box<dyn Pods>,
    pub(crate) recipes: Recipes,
    /// How many children a Pod may have.
    pub(crate) limits: PodLimits,
}

impl Deref for Family {
    type Target = Ground;

    fn deref(&self) -> &Ground {
        &self.ground
    }
}

/// An audit row for what one Pod does to another.
fn audit_only(origin: &Origin, action: &str, target: String) -> Together {
    Together { audit: vec![audit(clock::now(), origin, action, target)], ..Together::default() }
}

/// The row that ties a Pod to its parent, if it has one.
async fn child_row(family: &Family, row: &PodRow) -> Result<Option<pod_store::ChildRow>, ApiError> {
    match row.parent {
        Some(_) => Ok(family.store.family().child(row.key).await?),
        None => Ok(None),
    }
}
