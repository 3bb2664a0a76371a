//! From the text box to the server: a message, or a `:` command.

use commands::{Answer, Command, allowed::input_refusal, is_command};
use std::pin::Pin;

use leptos::{prelude::*, task::spawn_local};
use leptos_router::{NavigateOptions, hooks::use_navigate};
use protocol::{ApprovalCommand, CreatePod, Decision, ErrorCode, PeerLink, PeerView, PodName};

use crate::{
    UiError,
    components::{
        inspector::spawn,
        pod_head::{introduce, verb},
        question,
        transcript::{PodContext, rewind},
    },
    console::{Console, Dialog, export_href, fresh_command, pod_href, search_href},
    draft::{Draft, Unanswered},
    live,
    revoking::revoke,
    server_fns::{create_pod, delete_pod, rename_pod, resolve, submit_input, unlink_pods},
};

/// One Pod's composer.
#[derive(Clone, Copy)]
pub(super) struct Outgoing {
    pub(super) console: Console,
    pub(super) pod: PodContext,
    pub(super) draft: RwSignal<Draft>,
    pub(super) error: RwSignal<Option<UiError>>,
    pub(super) is_sending: RwSignal<bool>,
    /// Messages that were accepted since the page was opened.
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
            accepted: RwSignal::new(0),
            navigate: StoredValue::new(navigate),
        }
    }

    fn refuse(self, sentence: impl Into<String>) {
        self.error.try_set(Some(UiError::new(ErrorCode::InvalidInput, sentence)));
    }

    fn go(self, href: &str) {
        if let Some(navigate) = self.navigate.try_get_value() {
            navigate(href);
        }
    }
}

/// Enter. Nothing is cleared here: only the server's receipt clears.
pub(super) fn send(outgoing: Outgoing) {
    let text = outgoing.draft.with_untracked(|draft| draft.text.clone());
    if outgoing.is_sending.get_untracked() {
        return;
    }
    outgoing.error.set(None);
    if is_command(&text) {
        return match commands::parse(&text, outgoing.pod.here()) {
            Ok(command) => run(outgoing, command),
            Err(sentence) => outgoing.refuse(sentence),
        };
    }
    if outgoing.draft.with_untracked(Draft::is_blank) {
        return;
    }
    if let Some(sentence) = input_refusal(outgoing.pod.state.get_untracked()) {
        return outgoing.refuse(sentence);
    }
    let Some(message) = outgoing.draft.try_update(|draft| draft.sending(fresh_command())) else { return };
    outgoing.is_sending.set(true);
    spawn_local(deliver(outgoing, message));
}

/// While a run goes on the message waits for its end; where none does, it begins one.
async fn deliver(outgoing: Outgoing, message: Unanswered) {
    let pod = outgoing.pod.pod.get_value();
    let answer = submit_input(pod, message.command_id.clone(), message.segments.clone(), true).await;
    // The page may have been left in the meantime; the draft on the disk of the browser still has the same id.
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
            // After a 5xx it may have been stored all the same: the id is kept for the next try.
            if refusal.code().status() < 500 {
                outgoing.draft.try_update(Draft::refused);
            }
            outgoing.error.try_set(Some(refusal));
        }
    }
}

fn run(outgoing: Outgoing, command: Command) {
    let pod = outgoing.pod;
    match command {
        Command::Control(chosen) => {
            clear(outgoing);
            verb(outgoing.console, pod, chosen);
        }
        Command::Rewind => {
            clear(outgoing);
            match pod.rows.newest_message() {
                Some(message) => rewind(outgoing.console, pod, message),
                None => outgoing.refuse("there is no message of a person to go back to in what is loaded here"),
            }
        }
        Command::Spawn(name) => {
            clear(outgoing);
            spawn(outgoing.console, pod, name);
        }
        Command::Peer(target) => {
            clear(outgoing);
            introduce(outgoing.console, pod, target);
        }
        Command::Unpeer(name) => unpeer(outgoing, &name),
        Command::Answer(answer) => give(outgoing, answer),
        Command::Help(topic) => {
            clear(outgoing);
            outgoing.console.dialog.set(Some(Dialog::Help(topic)));
        }
        Command::Rename(name) => with_name(outgoing, &name, move |name| async move {
            rename_pod(pod.pod.get_value(), fresh_command(), name).await.map(|_| None)
        }),
        Command::Send(text) => {
            outgoing.draft.update(|draft| draft.text = text);
            send(outgoing);
        }
        Command::Open(target) => settle(outgoing, async move { Ok(Some(pod_href(&resolve(target).await?))) }),
        Command::Search(words) => lead(outgoing, &search_href(&words)),
        Command::Go(page) => lead(outgoing, page.href()),
        Command::Export => {
            clear(outgoing);
            live::visit(&export_href(&pod.pod.get_value()));
        }
        // The terminal's alone; the table offers it nowhere else.
        Command::Quit => (),
        Command::New(name) => with_name(outgoing, &name, move |name| async move {
            let made = create_pod(fresh_command(), CreatePod::named(name)).await?;
            Ok(Some(pod_href(&made.pod)))
        }),
        Command::Delete(name) => with_name(outgoing, &name, move |name| async move {
            delete_pod(pod.pod.get_value(), fresh_command(), name.to_string()).await.map(|()| Some("/".to_owned()))
        }),
    }
}

/// Revokes a link, which can be taken back for a moment; a request is withdrawn, or declined where this Pod was asked.
fn unpeer(outgoing: Outgoing, name: &str) {
    let (console, pod) = (outgoing.console, outgoing.pod.pod.get_value());
    let is_meant = |view: &&PeerView| view.name.as_str() == name || view.pod.to_string() == name;
    let known = outgoing.pod.peers.with_untracked(|known| known.iter().filter(is_meant).cloned().collect::<Vec<_>>());
    match known.as_slice() {
        [] => outgoing.refuse(format!("\"{name}\" is no peer of this Pod; nothing was changed")),
        [view] if view.link == PeerLink::Pending => {
            let peer = view.pod.clone();
            settle(outgoing, async move { unlink_pods(pod, fresh_command(), peer).await.map(|()| None) });
        }
        [view] => {
            clear(outgoing);
            let own = outgoing.pod.summary.with_untracked(|summary| summary.name.to_string());
            revoke(console, pod, view.pod.clone(), format!("{own} and {}", view.name));
        }
        _ => outgoing.refuse(format!("two peers are called \"{name}\"; give the address, as in local/…")),
    }
}

/// Answers the oldest open question.
fn give(outgoing: Outgoing, answer: Answer) {
    let Some(id) = outgoing.pod.rows.questions.with_untracked(|questions| questions.first().cloned()) else { return };
    let (decision, remember, reason) = match answer {
        Answer::Once => (Decision::Allow, false, String::new()),
        Answer::Always => (Decision::Allow, true, String::new()),
        Answer::Deny(reason) => (Decision::Deny, false, reason),
    };
    let command = ApprovalCommand { decision, remember, reason: Some(reason).filter(|reason| !reason.is_empty()) };
    let (console, pod) = (outgoing.console, outgoing.pod.pod.get_value());
    settle(outgoing, async move { question::answer(console, pod, id, command).await.map(|_| None) });
}

/// Runs a command that takes a name; the line is cleared when it is done, and stays when it is refused.
fn with_name<F>(outgoing: Outgoing, name: &str, command: impl FnOnce(PodName) -> F + 'static)
where
    F: Future<Output = Result<Option<String>, UiError>> + 'static,
{
    let name = match PodName::parse(name) {
        Ok(name) => name,
        Err(error) => return outgoing.refuse(error.to_string()),
    };
    settle(outgoing, command(name));
}

/// Waits for a command's end; then leads on, clears the line, or says what was refused.
fn settle(outgoing: Outgoing, command: impl Future<Output = Result<Option<String>, UiError>> + 'static) {
    outgoing.is_sending.set(true);
    // Boxed, so that what follows is compiled once for all commands.
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

fn lead(outgoing: Outgoing, href: &str) {
    clear(outgoing);
    outgoing.go(href);
}

fn clear(outgoing: Outgoing) {
    outgoing.draft.try_update(|draft| draft.text.clear());
}
