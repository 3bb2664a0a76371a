//! A command to one Pod, as a call of the API.

use client::{Client, ClientError};
use commands::PreviewAct;
use protocol::{
    ApprovalCommand, CommandId, ControlVerb, HeldCommand, InputCommand, PatchPod, PeerCommand, PodRef, RequestCommand,
    RestoreCommand, ToolCommand,
};
use serde_json::json;

use super::export;
use crate::model::{Act, Answer, Then};

pub(super) async fn perform(client: &Client, pod: &PodRef, id: &CommandId, act: &Act) -> Result<Answer, ClientError> {
    match act {
        Act::Control(ControlVerb::Restore) => {
            client.restore(id, pod, &RestoreCommand::default()).await.map(|_| Answer::Accepted)
        }
        Act::Control(verb) => client.control(id, pod, *verb).await.map(|_| Answer::Accepted),
        Act::Introduce(target) => {
            // The server finds the other one, so that what it refuses is in its audit.
            let command = PeerCommand { target: target.clone(), note: None };
            client.introduce(id, pod, &command).await.map(Answer::Peer)
        }
        Act::Unlink(target) => {
            let peer = client.resolve(target).await?;
            client.unlink(id, pod, &peer).await.map(|()| Answer::Accepted)
        }
        Act::Rename(name) => {
            let patch = PatchPod { name: Some(name.clone()), ..PatchPod::default() };
            client.patch(id, pod, &patch).await.map(|_| Answer::Accepted)
        }
        Act::Network(policy) => {
            let patch = PatchPod { network: Some(*policy), ..PatchPod::default() };
            client.patch(id, pod, &patch).await.map(|_| Answer::Accepted)
        }
        Act::Preview(PreviewAct::List) => client.previews(pod).await.map(|listed| Answer::Previews(listed.items)),
        Act::Preview(PreviewAct::Open(port)) => {
            client.open_preview(pod, *port).await.map(|open| Answer::Previews(vec![open]))
        }
        Act::Preview(PreviewAct::Close(port)) => client.close_preview(pod, *port).await.map(|()| Answer::Accepted),
        Act::Delete(name) => client.delete(id, pod, name).await.map(|()| Answer::Accepted),
        Act::Answer { approval, command } => answer(client, pod, id, approval, command).await,
        Act::Decide { request_id, decision } => {
            let command = RequestCommand { decision: *decision };
            client.decide_request(id, pod, request_id, command).await.map(Answer::Peer)
        }
        Act::Spawn(spawn) => {
            let arguments = json!({ "name": spawn.name, "task": spawn.task, "scope": spawn.scope });
            client.run_tool(id, pod, "SpawnPod", &ToolCommand { arguments }).await.map(Answer::Tool)
        }
        Act::Rewind(command) => client.rewind(id, pod, command).await.map(|_| Answer::Accepted),
        Act::Export(name) => export::export(client, pod, name).await.map(Answer::File),
        Act::TakeBack { queued, then } => take_back(client, pod, id, queued, *then).await,
        Act::Held { message_id, decision } => {
            let command = HeldCommand { decision: *decision };
            client.decide_held(id, pod, message_id, command).await.map(|_| Answer::Accepted)
        }
        Act::Say(input) => client.input(id, pod, input).await.map(|_| Answer::Accepted),
    }
}

async fn answer(
    client: &Client,
    pod: &PodRef,
    id: &CommandId,
    approval: &str,
    command: &ApprovalCommand,
) -> Result<Answer, ClientError> {
    client.answer(id, pod, approval, command).await.map(|_| Answer::Accepted)
}

/// A message that is to steer is sent anew; when that fails it is given back, so that nothing is lost.
async fn take_back(
    client: &Client,
    pod: &PodRef,
    id: &CommandId,
    queued: &CommandId,
    then: Then,
) -> Result<Answer, ClientError> {
    let input = client.take_back(id, pod, queued).await?;
    if then != Then::Steer {
        return Ok(Answer::Returned(input));
    }
    let again = InputCommand { segments: input.segments.clone(), queue: true, steer: true };
    Ok(match client.input(&CommandId::random(), pod, &again).await {
        Ok(_) => Answer::Returned(input),
        Err(why) => Answer::NotSteered { input, why },
    })
}
