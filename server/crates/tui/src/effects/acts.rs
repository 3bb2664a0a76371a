//! Carries out a command on one Pod as an API call.

use std::time::Duration;

use client::{Client, ClientError};
use commands::PreviewAct;
use protocol::{
    CommandId, HeldCommand, InputCommand, PatchPod, PeerCommand, PodRef, PreviewCommand, RequestCommand, Segment,
    ToolCommand,
    operation::{Loose, NoFields},
    operations::{self, Command},
};
use serde_json::json;

use super::export;
use crate::model::{Act, Answer, Then};

/// How often to send the end of a run again while no server answers …
const STOP_AGAIN_MAX: u32 = 30;
/// … and how long to wait in between.
const STOP_AGAIN: Duration = Duration::from_secs(1);

/// Most acts are commands of which only success matters; the others return an answer of their own.
pub(super) async fn perform(client: &Client, pod: &PodRef, id: &CommandId, act: &Act) -> Result<Answer, ClientError> {
    let pod = pod.clone();
    let command: Command = match act {
        Act::Control(verb) => verb.of(pod),
        Act::Commit(body) => operations::CommitChanges { pod, body: body.clone() }.into(),
        Act::Worktree(body) => operations::ChangeWorktree { pod, body: body.clone() }.into(),
        Act::Delete(name) => operations::Delete { pod, confirm: Some(name.to_string()) }.into(),
        Act::Answer { approval, command } => {
            operations::AnswerApproval { pod, id: approval.clone(), body: (**command).clone() }.into()
        }
        Act::Rewind(command) => operations::Rewind { pod, body: *command }.into(),
        Act::Held { message_id, decision } => {
            let body = HeldCommand { decision: *decision };
            operations::DecideHeld { pod, message_id: message_id.clone(), body }.into()
        }
        Act::StopJob(id) => operations::StopCommand { pod, id: id.clone(), body: NoFields {} }.into(),
        Act::Say(input) => operations::Input { pod, body: input.clone() }.into(),
        Act::Unlink(target) => {
            let peer = client.read(&operations::Resolve { target: Some(target.to_owned()) }).await?;
            operations::Unlink { pod, peer }.into()
        }
        Act::Introduce(target) => {
            // The server resolves the target, so that its refusals are in its audit.
            let body = PeerCommand { target: target.clone(), note: None };
            let introduced = client.carry_out(id, &operations::Introduce { pod, body }).await?;
            return Ok(Answer::Peer(introduced.answer));
        }
        Act::Decide { request_id, decision } => {
            let (request_id, body) = (request_id.to_owned(), RequestCommand { decision: *decision });
            return client.carry_out(id, &operations::DecideRequest { pod, request_id, body }).await.map(Answer::Peer);
        }
        Act::Spawn(spawn) => {
            let arguments = json!({ "name": spawn.name, "task": spawn.task, "scope": spawn.scope });
            let (name, body) = ("SpawnPod".to_owned(), ToolCommand { arguments });
            return client.carry_out(id, &operations::RunTool { pod, name, body }).await.map(Answer::Tool);
        }
        Act::TakeBack { queued, then } => return take_back(client, &pod, id, queued, *then).await,
        Act::Own { name, arguments } => {
            let own = operations::OwnMessageOf {
                pod: pod.clone(),
                name: name.clone(),
                arguments: Loose(Some(arguments.clone())),
            };
            let text = client.read(&own).await?.text;
            let body = InputCommand { segments: vec![Segment::text(text)], queue: true, steer: false };
            operations::Input { pod, body }.into()
        }
        Act::Rename(_)
        | Act::Network(_)
        | Act::Model(..)
        | Act::Mode(_)
        | Act::Think(_)
        | Act::Budget(_)
        | Act::AutoResume(_) => operations::Patch { pod, body: change(act) }.into(),
        Act::StopRun => return stop_run(client, &pod, id).await,
        Act::Preview(act) => return preview(client, pod, act).await,
        Act::Export(name) => return export::export(client, &pod, name).await.map(Answer::File),
    };
    client.command(id, &command).await.map(|_| Answer::Accepted)
}

/// What an act changes in a Pod's settings; nothing if it is about something else.
fn change(act: &Act) -> PatchPod {
    let unchanged = PatchPod::default();
    match act {
        Act::Rename(name) => PatchPod { name: Some(name.clone()), ..unchanged },
        Act::Network(policy) => PatchPod { network: Some(*policy), ..unchanged },
        Act::Model(model, provider) => PatchPod { model: Some(model.clone()), provider: provider.clone(), ..unchanged },
        Act::Mode(mode) => PatchPod::of_mode(mode),
        Act::Think(level) => PatchPod { thinking: Some(*level), ..unchanged },
        Act::Budget(budget) => PatchPod { budget: Some(*budget), ..unchanged },
        Act::AutoResume(is_on) => PatchPod { auto_resume: Some(*is_on), ..unchanged },
        _ => unchanged,
    }
}

async fn preview(client: &Client, pod: PodRef, act: &PreviewAct) -> Result<Answer, ClientError> {
    Ok(match *act {
        PreviewAct::List => Answer::Previews(client.read(&operations::Previews { pod }).await?.items),
        PreviewAct::Open(port) => {
            let opened = client.read(&operations::OpenPreview { pod, body: PreviewCommand { port } }).await?;
            Answer::Previews(vec![opened])
        }
        PreviewAct::Close(port) => {
            client.read(&operations::ClosePreview { pod, port }).await?;
            Answer::Accepted
        }
    })
}

/// Ends the run and takes back its queued messages, in one command. If no answer comes it is sent again with the same
/// id: the server answers a repeat with the first answer, so no message is lost with a connection.
async fn stop_run(client: &Client, pod: &PodRef, id: &CommandId) -> Result<Answer, ClientError> {
    let interrupt = operations::Interrupt { pod: pod.clone(), body: NoFields {} };
    let mut attempts = 0;
    loop {
        match client.carry_out(id, &interrupt).await {
            Err(ClientError::NoServer { .. }) if attempts < STOP_AGAIN_MAX => {
                attempts += 1;
                tokio::time::sleep(STOP_AGAIN).await;
            }
            done => return done.map(|interrupted| Answer::Stopped(interrupted.queued)),
        }
    }
}

/// Takes back a queued message. One that is to steer is sent again; if that fails it is returned, so that nothing is
/// lost.
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
