//! `introduce`.

use protocol::{ApiError, PeerCommand, operations};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Call, Hints, PersonTool};

pub(super) struct Introduce;

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct IntroduceArguments {
    /// One Pod: its name, `name@runtime_id` or `runtime_id/worker_id`.
    pod: String,
    /// The other Pod.
    to: String,
    /// A note for people on the other side; no model sees it. At most 1,000 characters.
    #[serde(default)]
    note: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Introduced {
    pod: String,
    peer: String,
    /// linked: they are peers. pending: the other Pod's peer policy is ask, and a person has to accept.
    state: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
}

impl PersonTool for Introduce {
    const NAME: &'static str = "introduce";
    const TITLE: &'static str = "Make two Pods peers";
    const DESCRIPTION: &'static str = "Makes two Pods peers: they then see each other and can send each other messages. Neither conversation is changed.";
    const HINTS: Hints = Hints::Adds;
    type Arguments = IntroduceArguments;
    type Answer = Introduced;

    async fn act(call: &Call<'_>, arguments: IntroduceArguments) -> Result<Introduced, ApiError> {
        let IntroduceArguments { pod, to, note } = arguments;
        let pod = call.backend.resolve(&pod).await?;
        let introduce = operations::Introduce { pod, body: PeerCommand { target: to, note } };
        let answer = call.backend.carry_out(&call.origin, call.key.clone(), introduce).await?.answer;
        let state = json!(answer.state).as_str().unwrap_or_default().to_owned();
        Ok(Introduced {
            pod: answer.source.to_string(),
            peer: answer.peer.to_string(),
            state,
            request_id: answer.request_id,
        })
    }
}
