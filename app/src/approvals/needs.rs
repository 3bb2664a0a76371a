//! What needs you, on the board: approvals, peer requests, and Pods whose run failed or was interrupted or whose records
//! cannot be read, the one that waits longest first. An answered card stays in its place, without its buttons, until you leave the page; nothing below it
//! moves.

use std::collections::HashSet;

use commands::{Sign, is_stuck};
use leptos::prelude::*;
use protocol::{ControlVerb, OpenApproval, OpenRequest, PodRef, PodState, PodSummary, Seq, Timestamp};

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
    format::{sentence_case, short_path},
    live,
    redrawn::redrawn,
    server_fns::control_pod,
};

/// One thing that needs you.
#[derive(Debug, Clone, PartialEq)]
enum Need {
    Question(OpenApproval),
    Request(OpenRequest),
    Stuck(PodSummary),
}

impl Need {
    /// Unique on the page. A Pod that fails again after a retry keeps its card.
    fn key(&self) -> String {
        match self {
            Self::Question(open) => format!("question-{}-{}", open.pod.worker_id, open.approval.id),
            Self::Request(request) => format!("request-{}", request.request_id),
            Self::Stuck(pod) => format!("{}-{}", Sign::of(pod).word(), pod.pod.worker_id),
        }
    }

    /// Since when it waits.
    fn at(&self) -> Timestamp {
        match self {
            Self::Question(open) => open.approval.asked_at,
            Self::Request(request) => request.at,
            Self::Stuck(pod) => pod.updated_at,
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
    let stuck =
        console.with_pods(|pods| pods.iter().filter(|pod| is_stuck(pod)).cloned().map(Need::Stuck).collect::<Vec<_>>());
    let mut needs: Vec<Need> = questions.into_iter().map(Need::Question).collect();
    needs.extend(requests.into_iter().map(Need::Request));
    needs.extend(stuck);
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
        Need::Stuck(pod) => view! { <StuckCard pod=pod is_open=is_open /> }.into_any(),
    };
    view! {
        <div
            id=id
            class="need"
            class:need-wide=is_wide
            class:is-answered=move || !is_open.get()
            on:click:capture=move |_| live::hold_height(&pressed)
            on:keydown:capture=move |_| live::hold_height(&typed)
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
    let known = open.approval.effect.is_some() || open.approval.preview.is_some();
    let found = known.then(|| open.approval.clone());
    let answered = answer_from_anywhere(&question, is_open);
    view! {
        <h2 class="need-head">
            <a class="pod-link" href=pod_href(&open.pod)>
                {open.name.to_string()}
                {abroad(&open.pod)}
            </a>
            <span class="hint">{place(console, &open.pod, open.parent.as_ref())}</span>
        </h2>
        <QuestionCard question=question answered=answered found=found />
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

/// A run that failed or was interrupted: why, and how to continue. Of a broken Pod, why it is.
#[component]
fn StuckCard(pod: PodSummary, is_open: Memo<bool>) -> impl IntoView {
    let console = use_console();
    let deed = Deed::default();
    let sign = Sign::of(&pod);
    let (address, named) = (pod.pod.clone(), pod.name.to_string());
    // As it was when it last stopped, whatever it does now.
    let stuck = Memo::new(move |before: Option<&PodSummary>| {
        let now = console.pod(&pod.pod).filter(|now| is_stuck(now) && Sign::of(now) == sign);
        now.or_else(|| before.cloned()).unwrap_or_else(|| pod.clone())
    });
    // A run can fail again before this page has heard that it continued.
    let continued_at = RwSignal::new(None::<Seq>);
    let is_again = Memo::new(move |before: Option<&bool>| {
        let has_moved = continued_at.get().is_some_and(|at| stuck.with(|pod| pod.head_seq > at));
        before.copied().unwrap_or_default() || has_moved || !is_open.get()
    });
    let (verb, act) = match sign {
        Sign::Failed => (ControlVerb::Retry, "Retry"),
        Sign::Of(_) => (ControlVerb::Resume, "Resume"),
    };
    let is_broken = sign == Sign::Of(PodState::Broken);
    let pressed = address.clone();
    let go_on = move || {
        let (pod, at) = (pressed.clone(), stuck.with_untracked(|pod| pod.head_seq));
        deed.begin(Box::pin(async move {
            control_pod(pod, fresh_command(), verb).await?;
            continued_at.try_set(Some(at));
            Ok(())
        }));
    };
    // Its button is gone once it continues.
    let card = format!("{}-card-{}", sign.word(), address.worker_id);
    let id = card.clone();
    Effect::new(move |_| {
        if !is_open.get() && continued_at.get().is_some() {
            let card = card.clone();
            live::once_painted(move || live::focus_card(&card));
        }
    });
    let other = (sign == Sign::Failed).then(|| {
        let choose = move |_| console.dialog.set(Some(Dialog::Model(Box::new(stuck.get_untracked()))));
        view! {
            <button type="button" class="button quiet-button" on:click=choose>
                "Other model…"
            </button>
        }
        .into_any()
    });
    let (shape, label) = match sign {
        Sign::Failed => ("sign sign-fail", format!("{named} has failed")),
        Sign::Of(PodState::Broken) => ("sign sign-broken", format!("{named} is broken")),
        Sign::Of(_) => ("sign sign-pause", format!("{named} was interrupted")),
    };
    view! {
        <article id=id class="card failed-card" tabindex="-1" aria-label=label>
            <header>
                <span class=shape><i aria-hidden="true"></i></span>
                {pod_link(&address, named.clone())}
                <span class="figure">{redrawn(move || view! { <Age at=stuck.with(|pod| pod.updated_at) /> }.into_any())}</span>
            </header>
            <p class="card-says">{redrawn(move || stuck.with(|pod| stuck_words(pod, is_open.get(), is_again.get())))}</p>
            <Problem error=deed.error />
            <footer class:is-hidden=move || is_broken || !is_open.get()>
                <DeedButton deed=deed words=act label=format!("{act} {named}") press=go_on />
                {other}
            </footer>
        </article>
    }
}

/// Why it stopped; once it goes on, why it had.
fn stuck_words(pod: &PodSummary, is_open: bool, is_again: bool) -> String {
    let why = pod.activity.as_deref().filter(|_| Sign::of(pod) == Sign::Failed).or(pod.state_reason.as_deref());
    let why = why.unwrap_or_default();
    let why = why.strip_prefix("failed: ").unwrap_or(why);
    match (Sign::of(pod), is_open, is_again) {
        (Sign::Failed, true, false) => format!("Failed: {why}"),
        (Sign::Failed, true, true) => format!("Failed again: {why}"),
        (Sign::Failed, false, _) => format!("Continued. It had failed: {why}"),
        (Sign::Of(PodState::Broken), true, _) => format!("Broken: {why}."),
        (Sign::Of(PodState::Broken), false, _) => format!("It was broken: {why}."),
        (Sign::Of(_), true, _) => sentence_case(why),
        (Sign::Of(_), false, _) => "Continued. It had been interrupted.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use commands::samples::pod;

    fn failed(name: &str) -> PodSummary {
        let activity = Some("failed: the key is wrong".to_owned());
        PodSummary { needs_you: true, activity, ..pod(name, PodState::Idle) }
    }

    #[test]
    fn what_is_shown_keeps_its_place_and_what_is_new_comes_behind() {
        let failed = |name: &str| Need::Stuck(failed(name));
        let mut shown = vec![failed("bob")];
        add(&mut shown, vec![failed("ada"), failed("bob")]);
        assert_eq!(shown, [failed("bob"), failed("ada")]);
        add(&mut shown, vec![]);
        assert_eq!(shown.len(), 2, "what was answered stays");
    }

    #[test]
    fn a_run_that_fails_again_has_one_card_which_says_so() {
        let mut shown = vec![Need::Stuck(failed("bob"))];
        add(&mut shown, vec![Need::Stuck(PodSummary { head_seq: Seq(9), ..failed("bob") })]);
        assert_eq!(shown.len(), 1);
        assert_eq!(stuck_words(&failed("bob"), true, false), "Failed: the key is wrong");
        assert_eq!(stuck_words(&failed("bob"), false, true), "Continued. It had failed: the key is wrong");
        assert_eq!(stuck_words(&failed("bob"), true, true), "Failed again: the key is wrong");
    }

    #[test]
    fn a_broken_pod_says_why_and_offers_nothing() {
        let state_reason = Some("its state cannot be read".to_owned());
        let broken = PodSummary { state_reason, ..pod("bob", PodState::Broken) };
        assert!(is_stuck(&broken));
        assert_eq!(stuck_words(&broken, true, false), "Broken: its state cannot be read.");
    }

    #[test]
    fn an_interrupted_run_says_what_to_do() {
        let reason = "interrupted when yoi stopped; resume it, or send a message";
        let state_reason = Some(reason.to_owned());
        let paused = PodSummary { needs_you: true, state_reason, ..pod("bob", PodState::Paused) };
        assert_ne!(Need::Stuck(paused.clone()).key(), Need::Stuck(failed("bob")).key());
        let words = stuck_words(&paused, true, false);
        assert_eq!(words, "Interrupted when yoi stopped; resume it, or send a message.");
        assert_eq!(stuck_words(&paused, false, false), "Continued. It had been interrupted.");
    }
}
