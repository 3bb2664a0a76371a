use commands::family::{descendants, waiting};
use leptos::prelude::*;
use protocol::{OpenApproval, PodRef};
use transcript::unseen;

use crate::{
    approvals::question::{Question, QuestionCard},
    components::{link::pod_link, with_pods::WithPods},
    console::{Console, use_console, use_pod},
    redrawn::redrawn,
};

/// The open approvals of this Pod's descendants, so that whoever watches a Pod can answer for them too. One line
/// each, which expands into the approval.
#[component]
pub(crate) fn ChildQuestions() -> impl IntoView {
    view! {
        <WithPods>
            <Askers />
        </WithPods>
    }
}

/// A descendant that waits for an answer.
#[derive(Debug, Clone, PartialEq)]
struct Asker {
    pod: PodRef,
    name: String,
    /// Its own description: `asks: Bash cargo test`.
    words: String,
    is_child: bool,
}

#[component]
fn Askers() -> impl IntoView {
    let console = use_console();
    let pod = use_pod();
    let askers = pod.presence.memo(move |_: Option<&Vec<Asker>>| askers(console, &pod.pod.get_value()));
    view! {
        <div class="child-questions" class:is-hidden=move || askers.with(Vec::is_empty)>
            <For each=move || askers.get() key=|asker| (asker.pod.clone(), asker.words.clone()) let:asker>
                <AskerLine asker=asker />
            </For>
        </div>
    }
}

#[component]
fn AskerLine(asker: Asker) -> impl IntoView {
    let console = use_console();
    let Asker { pod, name, words, is_child } = asker;
    let whose = if is_child { ", a child of this Pod, " } else { ", a child of a child of this Pod, " };
    let link = pod_link(&pod, name);
    let is_shown = RwSignal::new(false);
    let questions = Memo::new(move |_| match is_shown.get() {
        true => questions_of(console, &pod),
        false => Vec::new(),
    });
    view! {
        <p>
            <span>
                {link}
                {whose} {words}
            </span>
            <button
                type="button"
                class="button"
                aria-expanded=move || is_shown.get().to_string()
                on:click=move |_| is_shown.update(|is_shown| *is_shown = !*is_shown)
            >
                {redrawn(move || if is_shown.get() { "Close" } else { "Answer…" })}
            </button>
        </p>
        <For each=move || questions.get() key=|question| question.id.clone() let:question>
            <QuestionCard question=question answered=RwSignal::new(None) />
        </For>
    }
}

fn askers(console: Console, of: &PodRef) -> Vec<Asker> {
    let asker = |pod: &protocol::PodSummary| Asker {
        pod: pod.pod.clone(),
        name: pod.name.to_string(),
        words: unseen::shown(pod.activity.as_deref().unwrap_or("asks for permission")).into_owned(),
        is_child: pod.relations.parent.as_ref() == Some(of),
    };
    console.book.with(|book| {
        let Some(book) = book else { return Vec::new() };
        let below = descendants(book.pods(), of);
        let is_below = |pod: &&protocol::PodSummary| below.iter().any(|(known, _)| known.pod == pod.pod);
        waiting(book.pods()).filter(is_below).map(asker).collect()
    })
}

/// Its approvals, as far as they have been read.
fn questions_of(console: Console, pod: &PodRef) -> Vec<Question> {
    let is_its = |open: &&OpenApproval| open.pod == *pod;
    console.questions.with(|questions| questions.iter().flatten().filter(is_its).cloned().map(Question::from).collect())
}
