//! From the message field to the server: a message, or a `:` command.

use commands::{Command, allowed::input_refusal, is_command};
use std::pin::Pin;

use leptos::{prelude::*, task::spawn_local};
use leptos_router::{NavigateOptions, hooks::use_navigate};
use protocol::ErrorCode;

use crate::{
    UiError,
    acting::{self, AtHand},
    composer::{
        attaching::is_attaching,
        draft::{Draft, Unanswered},
    },
    console::{Console, PodContext, fresh_command},
    live,
    server_fns::{expand_own, make_prompt, steer_input, submit_input},
};

/// One Pod's composer: its draft, what is in flight, and the last error.
#[derive(Clone, Copy)]
pub(super) struct Outgoing {
    pub(super) console: Console,
    pub(super) pod: PodContext,
    pub(super) draft: RwSignal<Draft>,
    pub(super) error: RwSignal<Option<UiError>>,
    pub(super) is_sending: RwSignal<bool>,
    /// Names of files that are being uploaded.
    pub(super) attaching: RwSignal<Vec<String>>,
    /// How many messages were accepted since the page was opened.
    pub(super) accepted: RwSignal<u32>,
    navigate: StoredValue<Navigate>,
}

type Navigate = std::sync::Arc<dyn Fn(&str) + Send + Sync>;

impl Outgoing {
    pub(super) fn new(console: Console, pod: PodContext) -> Self {
        let navigate = use_navigate();
        let navigate: Navigate = std::sync::Arc::new(move |href| navigate(href, NavigateOptions::default()));
        Self {
            console,
            pod,
            draft: RwSignal::new(Draft::default()),
            error: RwSignal::new(None),
            is_sending: RwSignal::new(false),
            attaching: RwSignal::new(Vec::new()),
            accepted: RwSignal::new(0),
            navigate: StoredValue::new(navigate),
        }
    }

    pub(super) fn refuse(self, sentence: impl Into<String>) {
        self.error.try_set(Some(UiError::new(ErrorCode::InvalidInput, sentence)));
    }

    fn go(self, href: &str) {
        if let Some(navigate) = self.navigate.try_get_value() {
            navigate(href);
        }
    }
}

/// Where a message goes while a run is in progress; otherwise it starts one in either case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Queued until the current run ends.
    OwnRun,
    /// Given to the current run's model at its next call.
    PresentRun,
}

/// Handles Enter. Nothing is cleared here: only the server's receipt clears the field.
pub(super) fn send(outgoing: Outgoing, place: Place) {
    let text = outgoing.draft.with_untracked(|draft| draft.text.clone());
    if outgoing.is_sending.get_untracked() {
        return;
    }
    outgoing.error.set(None);
    if let Some((name, words)) = prompt_in(&text) {
        return make(outgoing, name.to_owned(), words.to_owned());
    }
    if is_command(&text) {
        let at = untrack(|| AtHand::viewed(outgoing.pod));
        return match commands::parse(&text, untrack(|| acting::here(outgoing.console, Some(&at)))) {
            Ok(command) => run(outgoing, at, command),
            Err(sentence) => own(outgoing, place, &text, sentence),
        };
    }
    if is_attaching(outgoing) || outgoing.draft.with_untracked(Draft::is_blank) {
        return;
    }
    if let Some(sentence) = input_refusal(outgoing.pod.state.get_untracked()) {
        return outgoing.refuse(sentence);
    }
    let Some(message) = outgoing.draft.try_update(|draft| draft.sending(fresh_command(), place == Place::PresentRun))
    else {
        return;
    };
    outgoing.is_sending.set(true);
    spawn_local(deliver(outgoing, message));
}

/// Sends the message that a command of the person's own stands for. `refusal` says why the line is no other command.
fn own(outgoing: Outgoing, place: Place, line: &str, refusal: String) {
    let Some((name, arguments)) = commands::own_word(line) else { return outgoing.refuse(refusal) };
    outgoing.is_sending.set(true);
    spawn_local(async move {
        let found = expand_own(outgoing.pod.pod.get_value(), name, arguments).await;
        outgoing.is_sending.try_set(false);
        match found {
            Ok(Some(message)) if is_command(&message.text) => outgoing.refuse("the command's own text is a command"),
            Ok(Some(message)) => {
                outgoing.draft.try_update(|draft| draft.text = message.text);
                send(outgoing, place);
            }
            Ok(None) => outgoing.refuse(refusal),
            Err(error) => drop(outgoing.error.try_set(Some(error))),
        }
    });
}

/// A line that names a prompt of an MCP server, `:SERVER__prompt`, and what follows.
fn prompt_in(text: &str) -> Option<(&str, &str)> {
    let line = text.strip_prefix(':')?;
    let (name, words) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    name.contains("__").then_some((name, words.trim()))
}

/// Puts the text that a prompt makes into the field, where it is read before it is sent.
fn make(outgoing: Outgoing, name: String, words: String) {
    let pod = outgoing.pod.pod.get_value();
    outgoing.is_sending.set(true);
    spawn_local(async move {
        let made = make_prompt(pod, name, words).await;
        outgoing.is_sending.try_set(false);
        match made {
            Ok(text) => {
                outgoing.draft.try_update(|draft| draft.text = text);
            }
            Err(refusal) => {
                outgoing.error.try_set(Some(refusal));
            }
        }
    });
}

/// Sends the message. The text stays in the field until the answer arrives.
async fn deliver(outgoing: Outgoing, message: Unanswered) {
    let pod = outgoing.pod.pod.get_value();
    let (command_id, segments) = (message.command_id.clone(), message.segments.clone());
    let answer = match message.steers {
        true => steer_input(pod, command_id, segments).await,
        false => submit_input(pod, command_id, segments, true).await,
    };
    // The page may have been left in the meantime; the stored draft still has the same id.
    outgoing.is_sending.try_set(false);
    match answer {
        Ok(_) => {
            let is_still_here = outgoing.draft.try_update(|draft| draft.accepted(&message)).is_some();
            outgoing.accepted.try_update(|count| *count += 1);
            if is_still_here {
                outgoing.pod.refresh();
                live::log_to_end();
            }
        }
        Err(refusal) => {
            // After a 5xx the message may have been stored all the same, so its id is kept for the next try.
            if refusal.code().status() < 500 {
                outgoing.draft.try_update(Draft::refused);
            }
            outgoing.error.try_set(Some(refusal));
        }
    }
}

fn run(outgoing: Outgoing, at: AtHand, command: Command) {
    if let Command::Send(text) = command {
        outgoing.draft.update(|draft| draft.text = text);
        return send(outgoing, Place::OwnRun);
    }
    settle(outgoing, acting::run(outgoing.console, Some(at), command));
}

/// Runs a command to its end; then follows its address, clears the line, or shows the refusal.
fn settle(outgoing: Outgoing, command: impl Future<Output = Result<Option<String>, UiError>> + 'static) {
    outgoing.is_sending.set(true);
    // Boxed, so that the code below is compiled once for all commands.
    let command: Pin<Box<dyn Future<Output = _>>> = Box::pin(command);
    spawn_local(async move {
        let done = command.await;
        outgoing.is_sending.try_set(false);
        match done {
            Ok(next) => {
                clear(outgoing);
                if let Some(href) = next {
                    outgoing.go(&href);
                }
            }
            Err(refusal) => {
                outgoing.error.try_set(Some(refusal));
            }
        }
    });
}

fn clear(outgoing: Outgoing) {
    outgoing.draft.try_update(|draft| draft.text.clear());
}
