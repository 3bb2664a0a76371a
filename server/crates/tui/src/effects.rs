//! Carries out what an update asks for. Each call is a task of its own; its answer comes back as a message.

use client::{Client, ClientError, EventStream};
use protocol::{CommandId, CreatePod, InputCommand, PodName, PodRef, Segment};
use tokio::sync::mpsc;

use crate::model::{Effect, Message};

/// Records that a Pod is opened with.
const TAIL: u32 = 200;

pub(crate) struct Effects {
    pub(crate) client: Client,
    pub(crate) events: EventStream,
    pub(crate) answers: mpsc::Sender<Message>,
}

impl Effects {
    /// Starts it and returns at once; a message that is known now is returned.
    pub(crate) fn perform(&self, effect: Effect) -> Option<Message> {
        match effect {
            Effect::Subscribe(pod) => {
                let id = self.events.subscribe_pod(pod.clone(), None, TAIL);
                return Some(Message::Subscribed { pod, id });
            }
            Effect::Unsubscribe(id) => self.events.unsubscribe(&id),
            effect => self.call(effect),
        }
        None
    }

    fn call(&self, effect: Effect) {
        let (client, answers) = (self.client.clone(), self.answers.clone());
        tokio::spawn(async move {
            let answer = match effect {
                Effect::Resolve(target) => Message::Resolved { done: client.resolve(&target).await, target },
                Effect::Create { command_id, name } => Message::Created(create(&client, &command_id, &name).await),
                Effect::LoadOlder { pod, before } => {
                    Message::Older { done: client.transcript(&pod, Some(before), TAIL).await, pod }
                }
                Effect::Send { pod, message } => {
                    let input = InputCommand { segments: vec![Segment::text(message.text)], queue: true };
                    let done = client.input(&message.command_id, &pod, &input).await;
                    Message::Sent { command_id: message.command_id, done }
                }
                Effect::Control { pod, command_id, verb } => {
                    Message::Controlled { verb, done: client.control(&command_id, &pod, verb).await }
                }
                Effect::Subscribe(_) | Effect::Unsubscribe(_) => return,
            };
            // The console has been quit when nobody takes it.
            let _ = answers.send(answer).await;
        });
    }
}

async fn create(client: &Client, command_id: &CommandId, name: &str) -> Result<PodRef, ClientError> {
    let name = PodName::parse(name).map_err(|error| ClientError::Invalid(error.to_string()))?;
    Ok(client.create(command_id, &CreatePod::named(name)).await?.pod)
}
