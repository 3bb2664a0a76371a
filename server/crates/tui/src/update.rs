//! One message in, the model changed, and what is to be done outside.

mod keys;
pub(crate) mod scroll;
mod stream;

use client::ClientError;
use protocol::{CommandId, ControlVerb, Listing, PodRef, Receipt, Record};
use transcript::Transcript;

use crate::{
    command_line::{self, Command},
    composer::Composer,
    model::{Effect, Focus, Link, Message, Model, Older, OpenPod, Place, Sending},
};

/// Takes one message.
pub(crate) fn update(model: &mut Model, message: Message) -> Vec<Effect> {
    match message {
        Message::Key(key) => keys::press(model, key),
        Message::Paste(text) => keys::paste(model, &text),
        Message::Resize(columns, rows) => {
            model.size = (columns, rows);
            Vec::new()
        }
        Message::Stream(item) => stream::take(model, item),
        Message::Subscribed { pod, id } => subscribed(model, &pod, id),
        Message::Resolved { target, done } => resolved(model, target, done),
        Message::Created(Ok(pod)) => open(model, pod),
        Message::Created(Err(error)) => {
            model.complain(error);
            Vec::new()
        }
        Message::Older { pod, done } => {
            older(model, &pod, done);
            Vec::new()
        }
        Message::Sent { command_id, done } => {
            sent(model, &command_id, done);
            Vec::new()
        }
        Message::Controlled { verb, done } => {
            match done {
                Ok(_) => model.tell(format!("{} accepted", verb.as_str())),
                Err(error) => model.complain(error),
            }
            Vec::new()
        }
    }
}

/// Opens a Pod: its composer has the focus.
fn open(model: &mut Model, pod: PodRef) -> Vec<Effect> {
    let mut effects = close(model);
    let composer = Composer::with(model.drafts.remove(&pod).unwrap_or_default());
    model.selected = Some(pod.clone());
    model.open = Some(OpenPod {
        pod: pod.clone(),
        subscription: None,
        transcript: Transcript::default(),
        older: Older::None,
        composer,
        focus: Focus::Composer,
        place: Place::End,
        sending: None,
        failed: None,
    });
    effects.push(Effect::Subscribe(pod));
    effects
}

/// Back to the dashboard. Unsent text is kept.
fn close(model: &mut Model) -> Vec<Effect> {
    let Some(open) = model.open.take() else { return Vec::new() };
    if !open.composer.is_empty() {
        model.drafts.insert(open.pod, open.composer.text().to_owned());
    }
    open.subscription.map(Effect::Unsubscribe).into_iter().collect()
}

fn subscribed(model: &mut Model, pod: &PodRef, id: String) -> Vec<Effect> {
    match &mut model.open {
        Some(open) if open.pod == *pod && open.subscription.is_none() => {
            open.subscription = Some(id);
            Vec::new()
        }
        // Another Pod was opened in the meantime.
        _ => vec![Effect::Unsubscribe(id)],
    }
}

fn resolved(model: &mut Model, target: String, done: Result<PodRef, ClientError>) -> Vec<Effect> {
    match done {
        Ok(pod) => open(model, pod),
        Err(ClientError::NoServer { .. }) => {
            model.wanted = Some(target);
            Vec::new()
        }
        Err(error) => {
            model.complain(error);
            Vec::new()
        }
    }
}

/// Older records go above what is there; what is looked at stays where it is.
fn older(model: &mut Model, pod: &PodRef, done: Result<Listing<Record>, ClientError>) {
    let Some(open) = model.open.as_mut().filter(|open| open.pod == *pod) else { return };
    match done {
        Ok(page) => {
            open.transcript.prepend(&page.items);
            open.older = if page.next.is_some() { Older::OnTheServer } else { Older::None };
        }
        Err(error) => {
            open.older = Older::OnTheServer;
            model.complain(error);
        }
    }
}

/// The server has the message on its disk, or it does not: only then does the composer clear.
fn sent(model: &mut Model, command_id: &CommandId, done: Result<Receipt, ClientError>) {
    let Some(open) = &mut model.open else { return };
    let Some(sending) = open.sending.take_if(|sending| sending.command_id == *command_id) else { return };
    match done {
        Ok(_) => {
            open.failed = None;
            open.place = Place::End;
            // What was typed since is another message.
            if open.composer.text() == sending.text {
                open.composer.take();
            }
        }
        Err(error) => {
            open.failed = Some(sending);
            model.complain(error);
        }
    }
}

/// Enter in the composer.
fn send(model: &mut Model) -> Vec<Effect> {
    let Some(open) = &mut model.open else { return Vec::new() };
    let text = open.composer.text().to_owned();
    if text.trim().is_empty() || open.sending.is_some() {
        return Vec::new();
    }
    let message = match open.failed.take() {
        Some(failed) if failed.text == text => failed,
        _ => Sending { command_id: CommandId::random(), text },
    };
    open.sending = Some(message.clone());
    vec![Effect::Send { pod: open.pod.clone(), message }]
}

/// Enter in the line that began with a colon.
fn run_command(model: &mut Model, line: &str) -> Vec<Effect> {
    match command_line::parse(line) {
        Err(sentence) => {
            model.complain(sentence);
            Vec::new()
        }
        Ok(Command::Quit) => {
            model.has_quit = true;
            Vec::new()
        }
        Ok(Command::New { name }) => vec![Effect::Create { command_id: CommandId::random(), name }],
        Ok(Command::Open { target }) => vec![Effect::Resolve(target)],
        Ok(Command::Control(verb)) => control(model, verb),
    }
}

fn control(model: &mut Model, verb: ControlVerb) -> Vec<Effect> {
    match &model.open {
        Some(open) => vec![Effect::Control { pod: open.pod.clone(), command_id: CommandId::random(), verb }],
        None => {
            model.complain(format!("not attached: open a Pod to {} it", verb.as_str()));
            Vec::new()
        }
    }
}

/// What was asked for at the start, now that there is a server to ask.
fn look_for_wanted(model: &mut Model) -> Vec<Effect> {
    match model.link {
        Link::Connected => model.wanted.take().map(Effect::Resolve).into_iter().collect(),
        _ => Vec::new(),
    }
}
