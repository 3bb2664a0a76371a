use leptos::{prelude::*, task::spawn_local};
use protocol::{ControlVerb, PeerLink, PodSummary};

use crate::{
    acting::{control_now, label},
    console::{
        Console, Over, drawn_over,
        selection::{Plan, selected_words, unpeer_refusal},
        undoing, use_console,
    },
    redrawn::redrawn,
    server_fns::relations,
};

/// The selected Pods, as they are in the list now.
fn selected(console: Console) -> Memo<Vec<PodSummary>> {
    Memo::new(move |_| {
        console.selection.with(|selection| match selection.is_empty() {
            true => Vec::new(),
            false => console.with_pods(|pods| selection.of(pods).into_iter().cloned().collect()),
        })
    })
}

fn words(console: Console, selected: Memo<Vec<PodSummary>>) -> Option<String> {
    let (selected, filter) = (selected.get(), console.filter.get());
    selected_words(&selected.iter().collect::<Vec<_>>(), &filter)
}

/// How many are selected, for screen readers.
#[component]
pub(crate) fn SelectionStatus() -> impl IntoView {
    let console = use_console();
    let selected = selected(console);
    view! {
        <p role="status" class="visually-hidden">
            {redrawn(move || words(console, selected))}
        </p>
    }
}

/// The actions on the selected Pods. Empty while none is selected; its code is fetched with the first selection.
#[component]
pub(crate) fn SelectionBar() -> impl IntoView {
    let selected = selected(use_console());
    let has_some = Memo::new(move |_| selected.with(|selected| !selected.is_empty()));
    let acts = move || has_some.get().then(|| drawn_over(Over::Selection(selected)));
    // While its code is fetched, only the bar waits: what is around it keeps its rows and the focus.
    view! { <Suspense>{redrawn(acts)}</Suspense> }
}

/// The bar's content while something is selected.
#[component]
pub(crate) fn SelectionActs(selected: Memo<Vec<PodSummary>>) -> impl IntoView {
    let console = use_console();
    view! {
        <div class="selection" role="toolbar" aria-label="Selected Pods">
            <b>{redrawn(move || words(console, selected))}</b>
            {[ControlVerb::Stop, ControlVerb::Restore, ControlVerb::Pause, ControlVerb::Resume]
                .into_iter()
                .map(|verb| view! { <Act verb=verb selected=selected /> }.into_any())
                .collect_view()}
            <Unpeer selected=selected />
            <button
                class="quiet"
                type="button"
                title="Clear the selection (Esc)"
                on:click=move |_| console.selection.update(|selection| selection.clear())
            >
                "Clear"
            </button>
        </div>
    }
}

/// A verb for all selected Pods that allow it; the tooltip says how many, and why not the others.
#[component]
fn Act(verb: ControlVerb, selected: Memo<Vec<PodSummary>>) -> impl IntoView {
    let console = use_console();
    let plan = Memo::new(move |_| selected.with(|selected| Plan::new(verb, &selected.iter().collect::<Vec<_>>())));
    let words = move || plan.with(|plan| format!("{}: {}", label(verb), plan.words()));
    let act = move |_| {
        let pods = plan.get_untracked().pods;
        match (pods.is_empty(), verb) {
            (true, _) => console.note(untrack(words)),
            (false, ControlVerb::Stop) => undoing::stop(console, &pods),
            (false, verb) => pods.into_iter().for_each(|pod| control_now(console, pod.pod, verb)),
        }
    };
    view! {
        <button
            class="button"
            type="button"
            title=words
            aria-disabled=move || plan.with(|plan| plan.pods.is_empty()).to_string()
            on:click=act
        >
            {label(verb)}
        </button>
    }
}

/// Ends the relations among the selected Pods.
#[component]
fn Unpeer(selected: Memo<Vec<PodSummary>>) -> impl IntoView {
    let console = use_console();
    let refusal = Memo::new(move |_| selected.with(|selected| unpeer_refusal(&selected.iter().collect::<Vec<_>>())));
    let act = move |_| match refusal.get_untracked() {
        Some(reason) => console.note(format!("Unpeer: {reason}")),
        None => unpeer(console, selected.get_untracked()),
    };
    let title = move || match refusal.get() {
        Some(reason) => format!("Unpeer: {reason}"),
        None => "Unpeer the selected Pods".to_owned(),
    };
    view! {
        <button
            class="button"
            type="button"
            title=title
            aria-disabled=move || refusal.get().is_some().to_string()
            on:click=act
        >
            "Unpeer"
        </button>
    }
}

/// The list does not say who is a peer of whom, so it is requested when it is needed.
fn unpeer(console: Console, selected: Vec<PodSummary>) {
    spawn_local(async move {
        let found = match relations().await {
            Ok(found) => found,
            Err(refusal) => return console.fail(&refusal),
        };
        let is_selected = |pod: &protocol::PodRef| selected.iter().any(|selected| selected.pod == *pod);
        let among = |pair: &crate::server_fns::PeerPair| {
            pair.link != PeerLink::Pending && is_selected(&pair.a) && is_selected(&pair.b)
        };
        let pairs: Vec<_> = found.pairs.into_iter().filter(among).map(|pair| (pair.a, pair.b)).collect();
        match pairs.is_empty() {
            true => console.note("No two of the selected Pods are peers."),
            false => undoing::revoke_all(console, pairs),
        }
    });
}
