//! A command to one Pod, as a call of the API.

use client::{Client, ClientError};
use commands::PreviewAct;
use protocol::PreviewCommand;
use protocol::operations;
use protocol::{
    ApprovalCommand, CommandId, ControlVerb, HeldCommand, InputCommand, PatchPod, PeerCommand, PodRef, RequestCommand,
    RestoreCommand, ToolCommand,
};
use serde_json::json;

use super::export;
use crate::model::{Act, Answer, Then};

pub(super) async fn perform(client: &Client, pod: &PodRef, id: &CommandId, act: &Act) -> Result<Answer, ClientError> {
    match act {
        Act::Control(ControlVerb::Restore) => client
            .carry_out(id, &operations::Restore { pod: pod.clone(), body: RestoreCommand::default() })
            .await
            .map(|_| Answer::Accepted),
        Act::Control(verb) => client.command(id, &verb.of(pod.clone())).await.map(|_| Answer::Accepted),
        Act::Introduce(target) => {
            // The server finds the other one, so that what it refuses is in its audit.
            let command = PeerCommand { target: target.clone(), note: None };
            client
                .carry_out(id, &operations::Introduce { pod: pod.clone(), body: command.clone() })
                .await
                .map(|introduced| Answer::Peer(introduced.answer))
        }
        Act::Unlink(target) => {
            let peer = client.read(&operations::Resolve { target: Some(target.to_owned()) }).await?;
            client
                .carry_out(id, &operations::Unlink { pod: pod.clone(), peer: peer.clone() })
                .await
                .map(|()| Answer::Accepted)
        }
        Act::Rename(name) => {
            let patch = PatchPod { name: Some(name.clone()), ..PatchPod::default() };
            client
                .carry_out(id, &operations::Patch { pod: pod.clone(), body: patch.clone() })
                .await
                .map(|_| Answer::Accepted)
        }
        Act::Network(policy) => {
            let patch = PatchPod { network: Some(*policy), ..PatchPod::default() };
            client
                .carry_out(id, &operations::Patch { pod: pod.clone(), body: patch.clone() })
                .await
                .map(|_| Answer::Accepted)
        }
        Act::Preview(PreviewAct::List) => {
            client.read(&operations::Previews { pod: pod.clone() }).await.map(|listed| Answer::Previews(listed.items))
        }
        Act::Preview(PreviewAct::Open(port)) => client
            .read(&operations::OpenPreview { pod: pod.clone(), body: PreviewCommand { port: *port } })
            .await
            .map(|open| Answer::Previews(vec![open])),
        Act::Preview(PreviewAct::Close(port)) => {
            client.read(&operations::ClosePreview { pod: pod.clone(), port: *port }).await.map(|()| Answer::Accepted)
        }
        Act::Delete(name) => client
            .carry_out(id, &operations::Delete { pod: pod.clone(), confirm: Some(name.to_string()) })
            .await
            .map(|()| Answer::Accepted),
        Act::Answer { approval, command } => answer(client, pod, id, approval, command).await,
        Act::Decide { request_id, decision } => {
            let command = RequestCommand { decision: *decision };
            client
                .carry_out(
                    id,
                    &operations::DecideRequest { pod: pod.clone(), request_id: request_id.to_owned(), body: command },
                )
                .await
                .map(Answer::Peer)
        }
        Act::Spawn(spawn) => {
            let arguments = json!({ "name": spawn.name, "task": spawn.task, "scope": spawn.scope });
            client
                .carry_out(
                    id,
                    &operations::RunTool {
                        pod: pod.clone(),
                        name: "SpawnPod".to_owned(),
                        body: ToolCommand { arguments },
                    },
                )
                .await
                .map(Answer::Tool)
        }
        Act::Rewind(command) => client
            .carry_out(id, &operations::Rewind { pod: pod.clone(), body: *command })
            .await
            .map(|_| Answer::Accepted),
        Act::Export(name) => export::export(client, pod, name).await.map(Answer::File),
        Act::TakeBack { queued, then } => take_back(client, pod, id, queued, *then).await,
        Act::Held { message_id, decision } => {
            let command = HeldCommand { decision: *decision };
            client
                .carry_out(
                    id,
                    &operations::DecideHeld { pod: pod.clone(), message_id: message_id.to_owned(), body: command },
                )
                .await
                .map(|_| Answer::Accepted)
        }
        Act::Say(input) => client
            .carry_out(id, &operations::Input { pod: pod.clone(), body: input.clone() })
            .await
            .map(|_| Answer::Accepted),
    }
}

async fn answer(
    client: &Client,
    pod: &PodRef,
    id: &CommandId,
    approval: &str,
    command: &ApprovalCommand,
) -> Result<Answer, ClientError> {
    client
        .carry_out(id, &operations::AnswerApproval { pod: pod.clone(), id: approval.to_owned(), body: command.clone() })
        .await
        .map(|_| Answer::Accepted)
}

/// A message that is to steer is sent anew; when that fails it is given back, so that nothing is lost.
async fn take_back(
    client: &Client,
    pod: &PodRef,
    id: &CommandId,
    queued: &CommandId,
    then: Then,
) -> Result<Answer, ClientError> {
    let input = client.carry_out(id, &operations::TakeBack { pod: pod.clone(), command_id: queued.clone() }).await?;
    if then != Then::Steer {
        return Ok(Answer::Returned(input));
    }
    let again = InputCommand { segments: input.segments.clone(), queue: true, steer: true };
    Ok(
        match client.carry_out(&CommandId::random(), &operations::Input { pod: pod.clone(), body: again.clone() }).await
        {
            Ok(_) => Answer::Returned(input),
            Err(why) => Answer::NotSteered { input, why },
        },
    )
}
