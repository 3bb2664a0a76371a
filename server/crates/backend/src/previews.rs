//! What commands of this server's own Pods serve.

use protocol::{ApiError, ErrorCode, NetworkPolicy, PodRef, RuntimeId};
use tokio::net::UnixStream;

use crate::Backend;

impl Backend {
    /// Whether a port of the Pod's commands can be shown at all.
    ///
    /// # Errors
    /// `pod_not_found`; `invalid_input` for a Pod of another runtime, and for one whose commands have the machine's own network.
    pub async fn can_look_in(&self, pod: &PodRef) -> Result<(), ApiError> {
        let detail = self.pod(pod).await?;
        if pod.runtime_id != RuntimeId::local() {
            let sentence = format!("{pod} is in another runtime; open the preview in the console of that server");
            return Err(ApiError::invalid(sentence));
        }
        if detail.network == NetworkPolicy::Open {
            return Err(ApiError::invalid(
                "the Pod's commands have the machine's own network, so what they serve is at http://127.0.0.1:PORT already",
            ));
        }
        Ok(())
    }

    /// A connection to a port of the Pod's commands. None: no command serves it now.
    pub async fn look_in(&self, pod: &PodRef, port: u16) -> Result<Option<UnixStream>, ApiError> {
        match pod.runtime_id == RuntimeId::local() {
            true => self.host.look_in(&pod.worker_id, port).await,
            false => Err(ApiError::new(ErrorCode::NotFound, "a preview shows Pods of this server alone")),
        }
    }
}
