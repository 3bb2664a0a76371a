//! What a command does in the browser, whoever gave it: the composer, the palette, or a button.

mod named;
pub(crate) mod stopping;

use commands::{
    Answer, Client, Command, Here, NOT_ATTACHED, PreviewAct, Standing,
    allowed::{input_refusal, peer_refusal, refusal_of, retry_refusal, spawn_refusal},
};
use leptos::prelude::*;
use protocol::{
    AgentOffers, ApprovalCommand, CommitCommand, ControlVerb, CreatePod, ErrorCode, ForkCommand, PatchPod, PeerLink,
    PeerView, PodDetail, PodName, PodRef, PodSummary, Segment,
};
use transcript::words::auto_resume_words;

pub(crate) use self::named::named;
use crate::{
    UiError,
    approvals::question,
    changes::changes_since,
    console::{Console, Dialog, PodContext, Returned, export_href, fresh_command, pod_href, search_href, undoing},
    live,
    server_fns::{
        change_pod, close_preview, commit_changes, control_pod, create_pod, fork_pod, list_previews, open_preview,
        pod_peers, resolve, submit_input, unlink_pods,
    },
    transcript::rewind,
};

/// The Pod that a command is about.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AtHand {
    pub(crate) summary: PodSummary,
    /// Set while its page is open; the page knows more than the list.
    view: Option<PodContext>,
}

impl AtHand {
    /// The Pod of an open page, in its current state.
    pub(crate) fn viewed(view: PodContext) -> Self {
        Self { summary: view.as_it_is(), view: Some(view) }
    }

    /// This Pod, when the list has it or its page is open.
    pub(crate) fn find(console: Console, pod: &PodRef) -> Option<Self> {
        match console.viewed.get().filter(|view| view.pod.with_value(|viewed| viewed == pod)) {
            Some(view) => Some(Self::viewed(view)),
            None => Some(Self { summary: console.pod(pod)?, view: None }),
        }
    }

    fn standing(&self, console: Console) -> Standing {
        let is_of = |pod: &PodRef| *pod == self.summary.pod;
        let asks = match self.view {
            Some(view) => view.rows.questions.with(|questions| !questions.is_empty()),
            None => console.questions.with(|open| open.iter().flatten().any(|open| is_of(&open.pod))),
        };
        let knows = self.summary.relations.peers > 0 || !self.peers().is_empty();
        Standing { state: self.summary.state, asks, knows, no_retry: retry_refusal(&self.summary) }
    }

    /// What its agent offers, if it has one and its page is open.
    pub(crate) fn offers(&self) -> AgentOffers {
        let of = |detail: &PodDetail| detail.session.as_ref().map(|session| session.offers.clone());
        self.view.and_then(|view| view.detail.with(of)).unwrap_or_default()
    }

    /// Puts this text into its message field.
    pub(crate) fn write(&self, text: String) {
        if let Some(view) = self.view {
            view.returned.set(Some(Returned { segments: vec![Segment::text(text)], is_asked_for: true }));
        }
    }

    /// Its peers, as far as this page has loaded them.
    pub(crate) fn peers(&self) -> Vec<PeerView> {
        self.view.map(|view| view.peers.get()).unwrap_or_default()
    }
}

/// The context that the availability of commands depends on.
pub(crate) fn here(console: Console, at: Option<&AtHand>) -> Here {
    Here { client: Client::Browser, pod: at.map(|at| at.standing(console)) }
}

act! {
    /// Carries out a command. Returns the address to go to, if the command leads to another page.
    pub(crate) async fn run(
        console: Console,
        at: Option<AtHand>,
        command: Command,
    ) -> Result<Option<String>, UiError> = carry_out;
}

async fn carry_out(console: Console, at: Option<AtHand>, command: Command) -> Result<Option<String>, UiError> {
    let at = match command {
        Command::New(name) => {
            let made = create_pod(fresh_command(), CreatePod::named(named_so(&name)?)).await?;
            console.is_writing.set_value(true);
            return Ok(Some(pod_href(&made.pod)));
        }
        Command::Open(target) => return Ok(Some(pod_href(&resolve(target).await?))),
        Command::Search(words) => return Ok(Some(search_href(&words))),
        Command::Go(page) => return Ok(Some(page.href().to_owned())),
        Command::Help(topic) => {
            console.dialog.set(Some(Dialog::Help(topic)));
            return Ok(None);
        }
        // Only the terminal has these; the table offers them nowhere else.
        Command::Walls | Command::Servers | Command::Quit => return Ok(None),
        _ => at.ok_or_else(|| invalid(NOT_ATTACHED))?,
    };
    run_at(console, at, command).await
}

/// Carries out a command that is about a Pod.
async fn run_at(console: Console, at: AtHand, command: Command) -> Result<Option<String>, UiError> {
    let pod = at.summary.pod.clone();
    match command {
        Command::Control(ControlVerb::Cancel) => stopping::stop_run(console, pod, at.summary.state),
        Command::Control(verb) => control(console, &at.summary, verb),
        Command::Rewind => {
            let view = at.view.ok_or_else(|| invalid("open the Pod first, then choose where to rewind to"))?;
            let newest =
                view.rows.newest_message().ok_or_else(|| invalid("no message of yours is loaded here to rewind to"))?;
            rewind(console, view, newest);
        }
        Command::Spawn(name) => spawn(console, &at.summary, name),
        Command::Peer(target) => introduce(console, &at.summary, target),
        Command::Unpeer(name) => unpeer(console, &at.summary, &name).await?,
        Command::Answer(answer) => give(console, &at, answer).await?,
        Command::Fork(name) => return fork(console, pod, &name).await,
        Command::Commit(message) => commit(console, &at, message).await?,
        Command::Worktree(verb) => console.dialog.set(Some(Dialog::Worktree(Box::new(at.summary), verb))),
        Command::Rename(name) => {
            let patch = PatchPod { name: Some(named_so(&name)?), ..PatchPod::default() };
            change_pod(pod, fresh_command(), patch).await?;
        }
        Command::Network(network) => {
            let words = format!("network set to “{}” from the next command on", network.as_str());
            set(console, &at, PatchPod { network: Some(network), ..PatchPod::default() }, words).await?;
        }
        Command::Model(None) => console.dialog.set(Some(Dialog::Model(Box::new(at.summary)))),
        Command::Model(Some((model, provider))) => {
            let patch = PatchPod { model: Some(model), provider, ..PatchPod::default() };
            let now = change_pod(pod, fresh_command(), patch).await?;
            console.note(format!("{} now uses {}.", at.summary.name, now.summary.model));
        }
        Command::Budget(budget) => {
            let words = budget.map_or_else(|| "none".to_owned(), |budget| budget.words());
            let patch = PatchPod { budget: Some(budget), ..PatchPod::default() };
            set(console, &at, patch, format!("budget is {words}.")).await?;
        }
        Command::AutoResume(is_on) => {
            change_pod(pod, fresh_command(), PatchPod { auto_resume: Some(is_on), ..PatchPod::default() }).await?;
            console.note(format!("{} {}.", at.summary.name, auto_resume_words(is_on)));
        }
        Command::Mode(mode) => {
            let words = format!("mode is {mode} from now on.");
            set(console, &at, PatchPod::of_mode(&mode), words).await?;
        }
        Command::Think(level) => {
            let words = format!("thinking is {level} from the next model call on.");
            set(console, &at, PatchPod { thinking: Some(level), ..PatchPod::default() }, words).await?;
        }
        Command::Preview(act) => console.note(preview(pod, act).await?),
        Command::Delete(name) if name == at.summary.name.as_str() => {
            console.dialog.set(Some(Dialog::Delete { pod: Box::new(at.summary), is_named: true }));
        }
        Command::Delete(_) => {
            let own = at.summary.name;
            return Err(invalid(format!("this Pod is {own}; `:delete {own}` asks whether to delete it")));
        }
        Command::Send(text) => {
            if let Some(sentence) = input_refusal(at.summary.state) {
                return Err(invalid(sentence));
            }
            submit_input(pod, fresh_command(), vec![Segment::text(text)], true).await?;
        }
        Command::Changes(since) => return Ok(Some(changes_since(&pod, since))),
        Command::Export => live::visit(&export_href(&pod)),
        // The remaining commands are about no Pod; `run` has handled them.
        _ => (),
    }
    Ok(None)
}

/// Changes a setting of the current Pod and confirms it.
async fn set(console: Console, at: &AtHand, patch: PatchPod, words: String) -> Result<(), UiError> {
    change_pod(at.summary.pod.clone(), fresh_command(), patch).await?;
    console.note(format!("{}: {words}", at.summary.name));
    Ok(())
}

/// Commits what is changed in the Pod's folder.
async fn commit(console: Console, at: &AtHand, message: String) -> Result<(), UiError> {
    let command = CommitCommand { message, paths: None };
    let done = commit_changes(at.summary.pod.clone(), fresh_command(), command).await?;
    let files = if done.files.len() == 1 { "file" } else { "files" };
    console.note(format!("{}: committed {} {files}.", at.summary.name, done.files.len()));
    Ok(())
}

/// Creates a Pod with this one's history and opens it.
async fn fork(console: Console, pod: PodRef, name: &str) -> Result<Option<String>, UiError> {
    let command = ForkCommand { name: named_so(name)?, at_seq: None };
    let made = fork_pod(pod, fresh_command(), command).await?;
    console.is_writing.set_value(true);
    Ok(Some(pod_href(&made.pod)))
}

/// Carries out a preview command and returns the notice to show.
async fn preview(pod: PodRef, act: PreviewAct) -> Result<String, UiError> {
    let all = match act {
        PreviewAct::List => list_previews(pod).await?,
        PreviewAct::Open(port) => {
            open_preview(pod, port).await?;
            return Ok(format!("the preview of port {port} is open; its link is in the Pod's details"));
        }
        PreviewAct::Close(port) => {
            close_preview(pod, port).await?;
            return Ok(format!("the preview of port {port} is closed"));
        }
    };
    let ports: Vec<String> = all.iter().map(|preview| preview.port.to_string()).collect();
    Ok(match ports.is_empty() {
        true => "no command listens on a port".to_owned(),
        false => format!("ports: {}", ports.join(", ")),
    })
}

fn invalid(sentence: impl Into<String>) -> UiError {
    UiError::new(ErrorCode::InvalidInput, sentence)
}

fn named_so(name: &str) -> Result<PodName, UiError> {
    PodName::parse(name).map_err(|error| invalid(error.to_string()))
}

/// The label of the verb's button.
pub(crate) fn label(verb: ControlVerb) -> &'static str {
    match verb {
        ControlVerb::Pause => "Pause",
        ControlVerb::Resume => "Resume",
        ControlVerb::Cancel => "Cancel",
        ControlVerb::Stop => "Archive",
        ControlVerb::Restore => "Restore",
        ControlVerb::Compact => "Compact…",
        ControlVerb::Retry => "Retry",
    }
}

/// Carries out a verb, or asks first: compacting says what it drops, and restoring a Pod with children offers to
/// restore them too. Archiving is done at once and can be undone for a moment.
pub(crate) fn control(console: Console, pod: &PodSummary, verb: ControlVerb) {
    match (verb, refusal_of(verb, pod)) {
        (_, Some(reason)) => console.note(format!("{} is not available: {reason}", label(verb).trim_end_matches('…'))),
        (ControlVerb::Compact, None) => console.dialog.set(Some(Dialog::Compact(Box::new(pod.clone())))),
        (ControlVerb::Restore, None) if pod.relations.children > 0 => {
            console.dialog.set(Some(Dialog::Restore(Box::new(pod.clone()))));
        }
        (ControlVerb::Stop, None) => undoing::stop(console, std::slice::from_ref(pod)),
        (_, None) => control_now(console, pod.pod.clone(), verb),
    }
}

/// Sends a verb. The new state arrives over the stream, as for every viewer.
pub(crate) fn control_now(console: Console, pod: PodRef, verb: ControlVerb) {
    leptos::task::spawn_local(async move {
        if let Err(refusal) = control_pod(pod, fresh_command(), verb).await {
            console.fail(&refusal);
        }
    });
}

/// Opens the dialog that adds a peer to this Pod, with `target` filled in if given; or says why it is unavailable.
pub(crate) fn introduce(console: Console, pod: &PodSummary, target: String) {
    match peer_refusal(pod.state) {
        Some(reason) => console.note(format!("It cannot add a peer now: {reason}")),
        None => console.introduce(pod.pod.clone(), target),
    }
}

/// Opens the dialog that spawns a child of this Pod, or says why it is unavailable.
pub(crate) fn spawn(console: Console, pod: &PodSummary, name: String) {
    match spawn_refusal(pod.state) {
        Some(reason) => console.note(format!("It cannot spawn a child now: {reason}")),
        None => console.dialog.set(Some(Dialog::Spawn { pod: Box::new(pod.clone()), name })),
    }
}

/// Ends the relation with a peer, which can be undone for a moment. A pending request is withdrawn by the Pod that
/// sent it, or declined by the one that was asked.
async fn unpeer(console: Console, pod: &PodSummary, name: &str) -> Result<(), UiError> {
    let known = pod_peers(pod.pod.clone()).await?;
    let is_meant = |view: &&PeerView| view.name.as_str() == name || view.pod.to_string() == name;
    match known.iter().filter(is_meant).collect::<Vec<_>>().as_slice() {
        [] => Err(invalid(format!("\"{name}\" is not a peer of this Pod; nothing was changed"))),
        [view] if view.link == PeerLink::Pending => {
            unlink_pods(pod.pod.clone(), fresh_command(), view.pod.clone()).await
        }
        [view] => {
            undoing::revoke(console, pod.pod.clone(), view.pod.clone(), format!("{} and {}", pod.name, view.name));
            Ok(())
        }
        _ => Err(invalid(format!("two peers are called \"{name}\"; use the address, as in local/…"))),
    }
}

/// Answers the oldest open approval.
async fn give(console: Console, at: &AtHand, answer: Answer) -> Result<(), UiError> {
    let on_page = || at.view.and_then(|view| view.rows.questions.with_untracked(|open| open.first().cloned()));
    let in_inbox = || {
        let of = |open: &&protocol::OpenApproval| open.pod == at.summary.pod;
        console.questions.with_untracked(|open| open.iter().flatten().find(of).map(|open| open.approval.id.clone()))
    };
    let id = on_page().or_else(in_inbox).ok_or_else(|| invalid("it has no pending approval"))?;
    let command = ApprovalCommand::from(answer);
    question::answer(console, at.summary.pod.clone(), id, command).await.map(|_| ())
}
