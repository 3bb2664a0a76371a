//! Carries out the effects that an update returns. Each call runs in a task of its own, and its answer comes back as
//! a message.

mod acts;
mod export;
mod import;
mod shelf;

use std::time::Duration;

use client::{Client, ClientError, EventStream};
use futures_util::future::{try_join, try_join_all, try_join3};
use protocol::{CommandId, CreatePod, ErrorCode, ForkCommand, InputCommand, PodRef, PodState, RuntimeId, SearchHit};
use protocol::{
    operation::{Filled, Loose, Page},
    operations,
};
use tokio::sync::mpsc;

use crate::{
    model::{Asked, Choices, Effect, Looked, Message},
    screen,
};

/// How many records a Pod is opened with, and how many each older page has.
const TAIL: u32 = 200;
/// How long a mode that was walked to is only shown before it holds.
const REST: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(crate) struct Effects {
    pub(crate) client: Client,
    pub(crate) events: EventStream,
    pub(crate) answers: mpsc::Sender<Message>,
}

impl Effects {
    /// Starts the effect and returns at once, with a message if the answer is already known.
    pub(crate) fn perform(&self, effect: Effect) -> Option<Message> {
        match effect {
            Effect::Subscribe(pod) => {
                let id = self.events.subscribe_pod(pod.clone(), None, TAIL);
                return Some(Message::Subscribed { pod, id });
            }
            Effect::Unsubscribe(id) => self.events.unsubscribe(&id),
            Effect::Copy(text) => screen::copy(&text),
            effect => self.call(effect),
        }
        None
    }

    fn call(&self, effect: Effect) {
        let (client, answers) = (self.client.clone(), self.answers.clone());
        tokio::spawn(async move {
            if let Some(answer) = answer(&client, effect).await {
                // Fails only when the console has quit.
                let _ = answers.send(answer).await;
            }
        });
    }
}

async fn answer(client: &Client, effect: Effect) -> Option<Message> {
    Some(match effect {
        Effect::Resolve(target) => Message::Resolved {
            done: client.read(&operations::Resolve { target: Some(target.to_owned()) }).await,
            target,
        },
        Effect::Create { command_id, create } => Message::Created(make(client, &command_id, *create).await),
        Effect::Import { command_id, importing } => {
            Message::Created(import::import(client, &command_id, importing).await)
        }
        Effect::Fork { command_id, pod, name } => {
            let fork = operations::Fork { pod, body: ForkCommand { name, at_seq: None } };
            Message::Created(client.carry_out(&command_id, &fork).await.map(|made| made.pod))
        }
        Effect::LoadOlder { pod, before } => {
            Message::Older { done: client.transcript(&pod, Some(before), TAIL).await, pod }
        }
        Effect::LoadWhole { pod, seqs } => {
            let records = seqs.into_iter().map(|seq| client.record(&pod, seq));
            Message::Whole { done: try_join_all(records).await, pod }
        }
        Effect::Look(pod) => Message::Looked { done: look(client, &pod).await, pod },
        Effect::Preview(pod) => {
            Message::Preview { done: client.read(&operations::PreviewCompaction { pod: pod.clone() }).await, pod }
        }
        Effect::Attach { pod, path } => {
            let done = client.attach(std::path::Path::new(&path)).await;
            Message::Attached { pod, done }
        }
        Effect::FindFiles { pod, begun } => {
            let files = operations::Files { pod: pod.clone(), q: Loose(Some(begun.clone())) };
            let (done, resources) = tokio::join!(client.read(&files), shelf::resources(client, &pod, &begun));
            Message::Files { done, resources, pod, begun }
        }
        Effect::AttachResource { pod, resource } => {
            Message::Attached { done: shelf::attach(client, &pod, resource).await, pod }
        }
        Effect::MakePrompt { pod, name, words } => {
            let (arguments, words) = (Loose(None), Loose(Some(words)));
            let asked = operations::PromptMade { pod: pod.clone(), name, arguments, words };
            Message::PromptMade { done: client.read(&asked).await, pod }
        }
        Effect::FindPrompts { pod, whose } => {
            Message::Prompts { done: shelf::prompts(client, &pod, whose).await, whose, pod }
        }
        Effect::LoadInbox(pods) => Message::Inbox(inbox(client, pods).await),
        Effect::LoadChanges(pod, since) => {
            let query = operations::ChangesOf { pod: pod.clone(), since: Filled(Some(since)) };
            Message::Changed { pod, done: client.read(&query).await }
        }
        Effect::Send { pod, message } => {
            let input = InputCommand { segments: message.segments, queue: true, steer: message.steer };
            let done = client
                .carry_out(&message.command_id, &operations::Input { pod: pod.clone(), body: input.clone() })
                .await;
            Message::Sent { command_id: message.command_id, done }
        }
        Effect::Do { pod, command_id, act } => {
            Message::Done { done: acts::perform(client, &pod, &command_id, &act).await, pod, act }
        }
        other => return of_server(client, other).await,
    })
}

/// The same for what is not about one Pod.
async fn of_server(client: &Client, effect: Effect) -> Option<Message> {
    Some(match effect {
        Effect::Rest(step) => {
            tokio::time::sleep(REST).await;
            Message::Rested(step)
        }
        Effect::LoadServers => {
            let page = client.read(&operations::McpServers { page: Page::default() }).await;
            Message::Servers(page.map(|page| page.items))
        }
        Effect::LoadJobs(pod) => {
            let query = operations::Commands { pod: pod.clone(), page: Page::default() };
            Message::Jobs { pod, done: client.read(&query).await.map(|page| page.items) }
        }
        Effect::LoadWalls => {
            Message::Walls(client.read(&operations::Walls { page: Page::default() }).await.map(|walls| walls.items))
        }
        Effect::LoadChoices => Message::Choices(choices(client).await.map(Box::new)),
        Effect::FindFolders(word) => {
            let asked = folders(word.runtime.clone(), Some(word.begun.clone()));
            Message::Folders { done: client.read(&asked).await, word }
        }
        Effect::TestProvider(provider) => {
            let asked = operations::TestProvider { name: provider.clone() };
            Message::Tested { done: client.read(&asked).await, provider }
        }
        Effect::GiveKey { provider, given } => {
            let asked = operations::SetKey { name: provider.clone(), body: given };
            Message::KeyGiven { done: client.read(&asked).await, provider }
        }
        Effect::Search(words) => Message::Found { done: found(client, &words).await, words },
        _ => return None,
    })
}

async fn make(client: &Client, command_id: &CommandId, create: CreatePod) -> Result<PodRef, ClientError> {
    if create.cwd.is_some() || create.runtime_id.as_ref().is_some_and(|runtime| *runtime != RuntimeId::local()) {
        return Ok(client.carry_out(command_id, &operations::Create { body: create }).await?.pod);
    }
    // The folder where the console was started, as with `yoi new`.
    let create = CreatePod { cwd: client.shared_folder(), ..create };
    match client.carry_out(command_id, &operations::Create { body: create.clone() }).await {
        // Through a tunnel the server is another machine, which may not have that folder.
        Err(ClientError::Api(refusal)) if create.cwd.is_some() && refusal.code == ErrorCode::InvalidInput => {
            let create = CreatePod { cwd: None, ..create };
            Ok(client.carry_out(&CommandId::random(), &operations::Create { body: create.clone() }).await?.pod)
        }
        made => Ok(made?.pod),
    }
}

async fn choices(client: &Client) -> Result<Choices, ClientError> {
    let all = Page::default;
    // An older server has no agents.
    let agents = client.read(&operations::Agents { page: all() }).await.map(|listing| listing.items);
    let (providers, profiles, runtimes) = (
        operations::ModelProviders { page: all() },
        operations::Profiles { page: all() },
        operations::Runtimes { page: all() },
    );
    let (providers, profiles, runtimes) =
        try_join3(client.read(&providers), client.read(&profiles), client.read(&runtimes)).await?;
    let folder = match client.shared_folder() {
        Some(folder) => Some(folder),
        // Older servers do not have this field.
        None => client.read(&folders(None, None)).await.ok().map(|found| found.default),
    };
    Ok(Choices {
        providers: providers.items,
        unconfigured: providers.unconfigured,
        profiles: profiles.items,
        runtimes: runtimes.items,
        agents: agents.unwrap_or_default(),
        folder,
    })
}

fn folders(runtime: Option<RuntimeId>, prefix: Option<String>) -> operations::Folders {
    operations::Folders { prefix: Loose(prefix), runtime: Filled(runtime) }
}

async fn look(client: &Client, pod: &PodRef) -> Result<Looked, ClientError> {
    let (detail, peers) = try_join(
        client.read(&operations::Pod { pod: pod.clone() }),
        client.read(&operations::Peers { pod: pod.clone(), page: Page::default() }),
    )
    .await?;
    let may_ask = detail.summary.state == PodState::Waiting || detail.summary.needs_you;
    let asked = if may_ask {
        client.read(&operations::Approvals { pod: pod.clone(), all: false, page: Page::default() }).await?.items
    } else {
        Vec::new()
    };
    Ok(Looked { detail: Box::new(detail), peers: peers.items, asked })
}

/// The approvals of these Pods, then the open peer requests. A Pod that has gone away in the meantime is skipped.
async fn inbox(client: &Client, pods: Vec<PodRef>) -> Result<Vec<Asked>, ClientError> {
    let mut asked = Vec::new();
    for pod in pods {
        match client.read(&operations::Approvals { pod: pod.clone(), all: false, page: Page::default() }).await {
            Ok(listing) => {
                let approvals = listing.items.into_iter().map(Box::new);
                asked.extend(approvals.map(|approval| Asked::Tool { pod: pod.clone(), approval }));
            }
            Err(ClientError::Api(_)) => {}
            Err(error) => return Err(error),
        }
    }
    asked.extend(
        client
            .read(&operations::OpenRequests { runtime: Filled(None), page: Page::default() })
            .await?
            .items
            .into_iter()
            .map(Asked::Peer),
    );
    Ok(asked)
}

async fn found(client: &Client, words: &str) -> Result<Vec<SearchHit>, ClientError> {
    Ok(client.read(&operations::Search::of(words)).await?.items)
}
