use commands::total_tokens;
use leptos::prelude::*;
use leptos_router::hooks::use_location;
use protocol::{OpenRequest, PodRef, PodState, PodSummary};
use transcript::{unseen, words::about_tokens};

use crate::{
    components::{
        abroad::abroad,
        state_mark::{Sign, StateShape},
        when::Age,
    },
    console::{Console, pod_href, use_console},
    pods::pods_pane::shown,
    redrawn::redrawn,
};

/// A Pod in the list on the left, with what it is doing in its own words. The link element, and so the focus,
/// survives changes to its Pod. Dragging a row onto another opens the dialog that makes the two peers; with the
/// keyboard, use the dialog.
#[component]
pub(crate) fn PodRow(
    pod: Memo<PodSummary>,
    /// How far below its parent's row; 0 if its parent is not above it.
    depth: usize,
) -> impl IntoView {
    let console = use_console();
    let this = StoredValue::new(pod.with_untracked(|pod| pod.pod.clone()));
    let href = this.with_value(pod_href);
    let path = use_location().pathname;
    let here = {
        let href = href.clone();
        move || path.with(|path| path == &href).then_some("page")
    };
    let class = ["pod", "pod pod-led", "pod pod-led pod-led-2", "pod pod-led pod-led-3"][depth.min(3)];
    let is_target = RwSignal::new(false);
    let is_selected =
        Memo::new(move |_| console.selection.with(|selection| this.with_value(|this| selection.has(this))));
    view! {
        <a
            class=class
            class:is-target=move || is_target.get()
            class:is-selected=move || is_selected.get()
            data-row=""
            href=href
            aria-current=here
            draggable="true"
            on:click=move |event| {
                if event.shift_key() {
                    event.prevent_default();
                    let rows = shown(console);
                    console.selection.update(|selection| this.with_value(|this| selection.extend(&rows, None, this)));
                }
            }
            on:dragstart=move |_| console.dragged.set(Some(this.get_value()))
            on:dragend=move |_| console.dragged.set(None)
            on:dragover=move |event| {
                if dragged_onto(console, this).is_some() {
                    event.prevent_default();
                    is_target.set(true);
                }
            }
            on:dragleave=move |_| is_target.set(false)
            on:drop=move |event| {
                is_target.set(false);
                if let Some(source) = dragged_onto(console, this) {
                    event.prevent_default();
                    console.dragged.set(None);
                    console.introduce(source, this.with_value(ToString::to_string));
                }
            }
        >
            <Said pod=pod is_selected=is_selected depth=depth />
        </a>
    }
}

/// The Pod being dragged, unless it is this one.
fn dragged_onto(console: Console, this: StoredValue<PodRef>) -> Option<PodRef> {
    console.dragged.get_untracked().filter(|dragged| this.with_value(|this| dragged != this))
}

/// The content of the row.
#[component]
fn Said(pod: Memo<PodSummary>, is_selected: Memo<bool>, depth: usize) -> impl IntoView {
    let console = use_console();
    let request = move || {
        let pod = pod.with(|pod| pod.pod.clone());
        let found = |request: &&OpenRequest| request.to == pod;
        console.requests.with(|requests| requests.iter().flatten().find(found).map(request_words))
    };
    let words = Memo::new(move |_| request().or_else(|| pod.with(doing)));
    let sign = Signal::derive(move || pod.with(Sign::of));
    let branch = Memo::new(move |_| pod.with(branch_words));
    let hidden_word = move || {
        words
            .with(Option::is_none)
            .then(|| view! { <span class="visually-hidden">{sign.get().word()}</span> }.into_any())
    };
    let parent = Memo::new(move |_| {
        let parent = pod.with(|pod| pod.relations.parent.clone()).filter(|_| depth == 0)?;
        console.pod(&parent).map(|parent| parent.name.to_string())
    });
    view! {
        <StateShape sign=sign />
        <b>
            {redrawn(move || pod.with(|pod| pod.name.to_string()))}
            {pod.with_untracked(|pod| abroad(&pod.pod))}
            {redrawn(move || parent.get().map(|name| view! { <small class="led-by">" of " {name}</small> }.into_any()))}
        </b>
        {redrawn(hidden_word)}
        {redrawn(move || is_selected.get().then(|| view! { <span class="visually-hidden">"selected"</span> }.into_any()))}
        <span class="figure">{redrawn(move || view! { <Figure pod=pod.get() /> }.into_any())}</span>
        {redrawn(move || branch.get().map(|branch| view! { <span class="branch">{branch}</span> }.into_any()))}
        {redrawn(move || words.get().map(|words| view! { <span class="doing">{words}</span> }.into_any()))}
        {redrawn(move || pod.with(used).map(|used| view! { <span class="used" title="tokens">{used}</span> }.into_any()))}
    }
}

fn request_words(request: &OpenRequest) -> String {
    format!("{} asks to be its peer", request.from_name)
}

/// At the end of the row: unread answers, then the time since the last change.
#[component]
fn Figure(pod: PodSummary) -> impl IntoView {
    let unread = (pod.unread > 0).then(|| view! { <Unread count=pod.unread /> }.into_any());
    (unread, view! { <Age at=pod.updated_at /> }.into_any())
}

/// The number of unread answers, beside a name.
#[component]
pub(crate) fn Unread(count: u32) -> impl IntoView {
    view! {
        <span class="unread" title="unread answers">
            <span class="comma">", "</span>
            {count}
            <span class="visually-hidden">" unread"</span>
        </span>
    }
}

/// The token count beside what it is doing, while it grows.
fn used(pod: &PodSummary) -> Option<String> {
    let tokens = total_tokens(pod);
    let is_working = matches!(pod.state, PodState::Running | PodState::Waiting);
    (is_working && tokens > 0).then(|| about_tokens(tokens, pod.usage.estimated))
}

/// `⎇ refund-rounding, 2 ahead` for a Pod with a work tree of its own.
fn branch_words(pod: &PodSummary) -> Option<String> {
    let own = pod.git.as_ref().filter(|git| git.worktree.is_some());
    own.map(|git| format!("⎇ {}", git.words()))
}

/// The second line. An idle Pod has none, because its group says it.
pub(crate) fn doing(pod: &PodSummary) -> Option<String> {
    let sign = Sign::of(pod);
    let word = sign.word();
    let said = pod.activity.as_deref().or(pod.state_reason.as_deref()).map(unseen::shown);
    match (sign, said.as_deref()) {
        (Sign::Of(PodState::Idle | PodState::Stopped), None) => None,
        (_, None) => Some(word.to_owned()),
        (Sign::Of(PodState::Idle | PodState::Stopped), Some(said)) => Some(said.to_owned()),
        (_, Some(said)) if said.starts_with(word) => Some(said.to_owned()),
        // There is room for only a few words, and what it asks matters more than that it waits.
        (Sign::Of(PodState::Waiting), Some(said)) if said.starts_with("asks") => Some(said.to_owned()),
        (_, Some(said)) => Some(format!("{word} · {said}")),
    }
}
