//! What needs you, on the board: approvals, failed runs and peer requests, the one that waits longest first. An
//! answered card stays in its place, without its buttons, until you leave the page; nothing below it moves.

use std::collections::HashSet;

use commands::Sign;
use leptos::prelude::*;
use protocol::{ControlVerb, OpenApproval, OpenRequest, PodRef, PodSummary, Timestamp};

use crate::{
    approvals::{
        question::{Question, QuestionCard, answer_from_anywhere},
        request::RequestCard,
    },
    components::{
        abroad::abroad,
        deed::{Deed, DeedButton},
        link::pod_link,
        problem::Problem,
        when::Age,
    },
    console::{Console, Dialog, fresh_command, pod_href, use_console},
    format::short_path,
    live,
    server_fns::control_pod,
};

/// One thing that needs you.
#[derive(Debug, Clone, PartialEq)]
enum Need {
    Question(OpenApproval),
    Request(OpenRequest),
    Failed(PodSummary),
}

impl Need {
    /// Unique on the page. A Pod that fails again after a retry is another card.
    fn key(&self) -> String {
        match self {
            Self::Question(open) => format!("question-{}-{}", open.pod.worker_id, open.approval.id),
            Self::Request(request) => format!("request-{}", request.request_id),
            Self::Failed(pod) => format!("failed-{}-{}", pod.pod.worker_id, pod.head_seq),
        }
    }

    /// Since when it waits.
    fn at(&self) -> Timestamp {
        match self {
            Self::Question(open) => open.approval.asked_at,
            Self::Request(request) => request.at,
            Self::Failed(pod) => pod.updated_at,
        }
    }
}

/// The cards. They start with what came with the page.
#[component]
pub(crate) fn Needs(questions: Vec<OpenApproval>, requests: Vec<OpenRequest>) -> impl IntoView {
    let console = use_console();
    let open = Memo::new(move |_| needs(console, &questions, &requests));
    let shown = RwSignal::new(open.get_untracked());
    Effect::new(move |_| {
        let fresh = open.get();
        shown.update(|shown| add(shown, fresh));
    });
    let keys = Memo::new(move |_| open.with(|open| open.iter().map(Need::key).collect::<HashSet<_>>()));
    view! {
        <section class="needs" aria-label="Needs you">
            <For each=move || shown.get() key=Need::key let:need>
                <NeedView need=need open=keys />
            </For>
        </section>
    }
}

/// What is open now, the longest wait first.
fn needs(console: Console, questions: &[OpenApproval], requests: &[OpenRequest]) -> Vec<Need> {
    let questions = console.questions.get().unwrap_or_else(|| questions.to_vec());
    let requests = console.requests.get().unwrap_or_else(|| requests.to_vec());
    let failed = console.with_pods(|pods| {
        pods.iter().filter(|pod| Sign::of(pod) == Sign::Failed).cloned().map(Need::Failed).collect::<Vec<_>>()
    });
    let mut needs: Vec<Need> = questions.into_iter().map(Need::Question).collect();
    needs.extend(requests.into_iter().map(Need::Request));
    needs.extend(failed);
    needs.sort_by_key(Need::at);
    needs
}

/// Appends what is new; what is shown keeps its place.
fn add(shown: &mut Vec<Need>, fresh: Vec<Need>) {
    let known: HashSet<String> = shown.iter().map(Need::key).collect();
    shown.extend(fresh.into_iter().filter(|need| !known.contains(&need.key())));
}

#[component]
fn NeedView(need: Need, open: Memo<HashSet<String>>) -> impl IntoView {
    let id = format!("need-{}", need.key());
    let key = need.key();
    let is_open = Memo::new(move |_| open.with(|open| open.contains(&key)));
    let (pressed, typed) = (id.clone(), id.clone());
    let is_wide = matches!(need, Need::Question(_));
    let card = match need {
        Need::Question(open) => view! { <Asked open=open is_open=is_open /> }.into_any(),
        Need::Request(request) => view! { <RequestCard request=request is_open=is_open /> }.into_any(),
        Need::Failed(pod) => view! { <FailedCard pod=pod is_open=is_open /> }.into_any(),
    };
    view! {
        <div
            id=id
            class="need"
            class:need-wide=is_wide
            class:is-answered=move || !is_open.get()
            on:click=move |_| live::hold_height(&pressed)
            on:keydown=move |_| live::hold_height(&typed)
        >
            {card}
        </div>
    }
}

/// An approval with the name of the Pod that asks; if it is answered elsewhere, it shows that answer.
#[component]
fn Asked(open: OpenApproval, is_open: Memo<bool>) -> impl IntoView {
    let console = use_console();
    let question = Question::from(open.clone());
    let answered = answer_from_anywhere(&question, is_open);
    view! {
        <h2 class="need-head">
            <a class="pod-link" href=pod_href(&open.pod)>
                {open.name.to_string()}
                {abroad(&open.pod)}
            </a>
            <span class="hint">{place(console, &open.pod, open.parent.as_ref())}</span>
        </h2>
        <QuestionCard question=question answered=answered />
    }
}

/// `yoi · ⎇ main`, or `…/src/yoi` where there is no repository; and whose child it is.
fn place(console: Console, pod: &PodRef, parent: Option<&PodRef>) -> String {
    let parent = parent.and_then(|parent| untrack(|| console.pod(parent)));
    let folder = untrack(|| console.pod(pod)).map(|pod| match pod.git {
        Some(git) => format!("{} · ⎇ {}", git.repository, git.branch),
        None => short_path(&pod.cwd),
    });
    let folder = folder.unwrap_or_default();
    match parent {
        Some(parent) => format!("{folder} · a child of {}", parent.name),
        None => folder,
    }
}

/// A run that failed: why, and how to continue.
#[component]
fn FailedCard(pod: PodSummary, is_open: Memo<bool>) -> impl IntoView {
    let console = use_console();
    let deed = Deed::default();
    let address = pod.pod.clone();
    let retry = move || {
        let pod = address.clone();
        deed.begin(Box::pin(async move {
            control_pod(pod, fresh_command(), ControlVerb::Retry).await?;
            Ok(())
        }));
    };
    let why = pod.activity.clone().or_else(|| pod.state_reason.clone()).unwrap_or_default();
    let why = why.strip_prefix("failed: ").map(str::to_owned).unwrap_or(why);
    let named = pod.name.to_string();
    let other = {
        let pod = pod.clone();
        move |_| console.dialog.set(Some(Dialog::Model(Box::new(pod.clone()))))
    };
    view! {
        <article class="card failed-card" tabindex="-1" aria-label=format!("{named} has failed")>
            <header>
                <span class="sign sign-fail"><i aria-hidden="true"></i></span>
                {pod_link(&pod.pod, named.clone())}
                <span class="figure"><Age at=pod.updated_at /></span>
            </header>
            <p class="card-says">
                {move || if is_open.get() { "Failed: " } else { "Continued. It had failed: " }}
                {why}
            </p>
            <Problem error=deed.error />
            <footer class:is-hidden=move || !is_open.get()>
                <DeedButton deed=deed words="Retry" label=format!("Retry {named}") press=retry />
                <button type="button" class="button quiet-button" on:click=other>
                    "Other model…"
                </button>
            </footer>
        </article>
    }
}

#[cfg(test)]
mod tests {
    use commands::samples::pod;
    use protocol::PodState;

    use super::*;

    #[test]
    fn what_is_shown_keeps_its_place_and_what_is_new_comes_behind() {
        let failed = |name: &str| Need::Failed(PodSummary { needs_you: true, ..pod(name, PodState::Idle) });
        let mut shown = vec![failed("bob")];
        add(&mut shown, vec![failed("ada"), failed("bob")]);
        assert_eq!(shown, [failed("bob"), failed("ada")]);
        add(&mut shown, vec![]);
        assert_eq!(shown.len(), 2, "what was answered stays");
    }
}
