//! The tools by which a model sees and leads other Pods. Whom it sees decides what it may do; what it does not see
//! does not exist for it.

mod arguments;
mod list;
mod output;
mod peer;
mod restore;
mod send;
mod sight;
mod spawn;
mod stop;

use std::{
    ops::Deref,
    sync::{Arc, Weak},
};

use async_trait::async_trait;
use pod::ToolOutcome;
use pod_store::PodKey;
use protocol::{ApiError, ErrorCode, PeerLabel, PodName, VisiblePod, WorkerId};
use tools::Tool;

pub(crate) use self::sight::visible;
use crate::{
    Origin,
    actor::{Above, FarSender, feed::Feed},
    cluster::Cluster,
    error,
    family::Family,
    ground::Ground,
    peers::{self, Peers, far},
};

/// What a Pod has around it: those that it leads, those that it knows, and the hosts that run them.
#[derive(Debug)]
pub(crate) struct Kin {
    pub(crate) cluster: Arc<Cluster>,
    pub(crate) family: Arc<Family>,
    pub(crate) peers: Arc<Peers>,
}

impl Deref for Kin {
    type Target = Ground;

    fn deref(&self) -> &Ground {
        &self.cluster
    }
}

#[async_trait]
impl Above for Kin {
    fn wake(&self, worker_id: &WorkerId) {
        self.cluster.wake(worker_id);
    }

    async fn mark_read(&self, worker_id: &WorkerId, key: PodKey, feed: &Feed) {
        self.cluster.mark_read(worker_id, key, feed).await;
    }

    async fn visible(&self, worker_id: &WorkerId) -> Result<Vec<VisiblePod>, ApiError> {
        visible(self, worker_id).await
    }

    async fn knows_anybody(&self, pod: PodKey) -> Result<bool, ApiError> {
        peers::knows_anybody(&self.peers, pod).await
    }

    async fn far_sender(&self, pod: PodKey, message_id: &str, peer: &PeerLabel) -> Result<Option<FarSender>, ApiError> {
        far::sender_of(&self.peers, pod, message_id, peer).await
    }
}

/// All of them, acting through a host that is being made.
pub(crate) fn tools(kin: &Weak<Kin>) -> Vec<Arc<dyn Tool>> {
    let reach = || Reach(kin.clone());
    vec![
        Arc::new(list::ListPods(reach())),
        Arc::new(spawn::SpawnPod(reach())),
        Arc::new(send::SendToPod(reach())),
        Arc::new(output::ReadPodOutput(reach())),
        Arc::new(stop::StopPod(reach())),
        Arc::new(restore::RestorePod(reach())),
        Arc::new(peer::SendToPeerPod(reach())),
    ]
}

/// A tool's way to the host that it belongs to.
#[derive(Debug)]
struct Reach(Weak<Kin>);

impl Reach {
    fn kin(&self) -> Result<Arc<Kin>, ApiError> {
        self.0.upgrade().ok_or_else(error::stopping)
    }
}

/// How the audit names a Pod that acts.
fn origin_of(name: &PodName) -> Origin {
    Origin { by: format!("pod:{name}"), client: "pod".to_owned() }
}

/// A failure as a model is told it. A Pod that it does not see and one that is not there are the same to it.
fn failed(error: &ApiError) -> ToolOutcome {
    match error.code {
        ErrorCode::PodNotFound => ToolOutcome::failed("not_visible", sight::NOT_VISIBLE),
        code => ToolOutcome::failed(code.as_str(), error.detail.clone()),
    }
}

fn outcome(result: Result<ToolOutcome, ApiError>) -> ToolOutcome {
    result.unwrap_or_else(|error| failed(&error))
}
