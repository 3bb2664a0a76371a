//! The tools with which a model sees other Pods and leads its children. A model can act only on Pods that it sees; to
//! it, the others do not exist.

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
    fmt,
    ops::Deref,
    sync::{Arc, Weak},
};

use async_trait::async_trait;
use pod::ToolOutcome;
use pod_store::{PodKey, PodRow};
use protocol::{ApiError, ErrorCode, PeerLabel, VisiblePod, WorkerId};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use tools::{Output, Place, Tool};

pub(crate) use self::sight::visible;
use crate::{
    Origin,
    actor::{Above, FarSender, feed::Feed},
    cluster::Cluster,
    error,
    family::Family,
    ground::Ground,
    hold::bounded,
    peers::{self, Peers, far},
};

/// What surrounds a Pod: its children, its peers, and the hosts that run them.
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

/// All Pod tools, acting through a host that may still be under construction.
pub(crate) fn tools(kin: &Weak<Kin>) -> Vec<Arc<dyn Tool>> {
    fn tool<T: PodTool>(kin: &Weak<Kin>, tool: T) -> Arc<dyn Tool> {
        Arc::new(Reaching { kin: kin.clone(), tool })
    }
    vec![
        tool(kin, list::ListPods),
        tool(kin, spawn::SpawnPod),
        tool(kin, send::SendToPod),
        tool(kin, output::ReadPodOutput),
        tool(kin, stop::StopPod),
        tool(kin, restore::RestorePod),
        tool(kin, peer::SendToPeerPod),
    ]
}

/// One Pod tool: its description for the model, and what it does.
#[async_trait]
trait PodTool: fmt::Debug + Send + Sync + 'static {
    const NAME: &'static str;
    const DESCRIPTION: &'static str;
    /// What it is doing, for the error if it takes too long.
    const DOING: &'static str;
    type Arguments: JsonSchema + Serialize + DeserializeOwned + Send;

    async fn act(&self, caller: &Caller<'_>, arguments: Self::Arguments) -> Result<ToolOutcome, ApiError>;
}

/// A Pod tool with access to its host.
#[derive(Debug)]
struct Reaching<T> {
    kin: Weak<Kin>,
    tool: T,
}

#[async_trait]
impl<T: PodTool> Tool for Reaching<T> {
    fn name(&self) -> &'static str {
        T::NAME
    }

    fn description(&self) -> &'static str {
        T::DESCRIPTION
    }

    fn schema(&self) -> Value {
        arguments::schema::<T::Arguments>()
    }

    fn misfit(&self, arguments: &Value) -> Option<String> {
        arguments::read::<T::Arguments>(arguments.clone()).err().map(|error| error.detail)
    }

    async fn call(&self, place: &Place, arguments: Value, _: Output) -> ToolOutcome {
        let acting = async {
            let arguments = arguments::read(arguments)?;
            let kin = self.kin.upgrade().ok_or_else(error::stopping)?;
            self.tool.act(&Caller { kin, place }, arguments).await
        };
        bounded(T::DOING, acting).await.unwrap_or_else(|error| failed(&error))
    }
}

/// The calling Pod, and the call.
struct Caller<'a> {
    kin: Arc<Kin>,
    place: &'a Place,
}

impl Caller<'_> {
    fn worker_id(&self) -> &WorkerId {
        &self.place.worker_id
    }

    async fn row(&self) -> Result<PodRow, ApiError> {
        self.kin.existing_row(self.worker_id()).await
    }

    /// How the audit names the caller.
    async fn origin(&self) -> Result<Origin, ApiError> {
        Ok(Origin { by: format!("pod:{}", self.row().await?.name), client: "pod".to_owned() })
    }

    async fn child(&self, name: &str) -> Result<sight::Seen, ApiError> {
        sight::child(&self.kin, self.worker_id(), name).await
    }
}

/// An error as a model is told it. It cannot tell a Pod that it does not see from one that does not exist.
fn failed(error: &ApiError) -> ToolOutcome {
    match error.code {
        ErrorCode::PodNotFound => ToolOutcome::failed("not_visible", sight::NOT_VISIBLE),
        code => ToolOutcome::failed(code.as_str(), error.detail.clone()),
    }
}
