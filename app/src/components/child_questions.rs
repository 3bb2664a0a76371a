use leptos::prelude::*;
use protocol::{OpenApproval, PodRef};

use crate::{
    components::{
        question::{Question, QuestionCard},
        transcript::{summary, use_pod},
    },
    console::{Console, pod_href, use_console},
    family::descendants,
};

/// What the Pods below this one ask: whoever watches a Pod answers for those that it leads. One calm line each, which
/// opens into the question itself.
#[component]
pub(crate) fn ChildQuestions() -> impl IntoView {
    let console = use_console();
    let pod = use_pod();
    let asked = Memo::new(move |_| asked_below(console, &pod.pod.get_value()));
    view! {
        <div class="child-questions" class:is-hidden=move || asked.with(Vec::is_empty)>
            <For each=move || asked.get() key=|open| (open.pod.clone(), open.approval.id.clone()) let:open>
                <ChildQuestion open=open />
            </For>
        </div>
    }
    .into_any()
}

#[component]
fn ChildQuestion(open: OpenApproval) -> impl IntoView {
    let is_child = open.parent == Some(use_pod().pod.get_value());
    let what = if is_child { ", a child of this Pod, asks: " } else { ", led by a child of this Pod, asks: " };
    let (name, href) = (open.name.to_string(), pod_href(&open.pod));
    let tool = open.approval.tool.clone();
    let line = summary(Some(&open.approval.arguments), "");
    let question = Question::from(open);
    let answered = RwSignal::new(None);
    let is_shown = RwSignal::new(false);
    view! {
        <p>
            <span>
                <a class="pod-link" href=href>
                    {name}
                </a>
                {what} <b>{tool}</b> " " <code>{line}</code>
            </span>
            <button
                type="button"
                class="button"
                aria-expanded=move || is_shown.get().to_string()
                on:click=move |_| is_shown.update(|is_shown| *is_shown = !*is_shown)
            >
                {move || if is_shown.get() { "Close" } else { "Answer…" }}
            </button>
        </p>
        {move || is_shown.get().then(|| view! { <QuestionCard question=question.clone() answered=answered /> })}
    }
    .into_any()
}

/// Open questions of those whom this Pod leads, at whatever remove, as far as they have been read.
fn asked_below(console: Console, of: &PodRef) -> Vec<OpenApproval> {
    let below = console.book.with(|book| {
        book.as_ref().map(|book| descendants(book.pods(), of).into_iter().map(|(pod, _)| pod.pod.clone()).collect())
    });
    let below: Vec<PodRef> = below.unwrap_or_default();
    let is_below = |open: &&OpenApproval| below.contains(&open.pod) || open.parent.as_ref() == Some(of);
    console.questions.with(|questions| questions.iter().flatten().filter(is_below).cloned().collect())
}
