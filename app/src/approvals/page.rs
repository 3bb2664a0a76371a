use leptos::prelude::*;
use protocol::{OpenApproval, OpenRequest, PodRef};

use crate::{
    UiError,
    approvals::{
        question::{Question, QuestionCard, answer_from_anywhere},
        request::RequestCard,
        several::{SelectBox, Selected, SeveralBar},
    },
    codec::fetched,
    components::{abroad::abroad, link::pod_link, page::Page, read_first::ReadFirst, with_pods::WithPods},
    console::{pod_href, use_console},
    redrawn::redrawn,
    server_fns::{open_approvals, open_requests},
};

/// `/approvals`: every open approval of every Pod, oldest first, to be answered here.
#[component]
pub(crate) fn ApprovalsPage() -> impl IntoView {
    let first = fetched(|| (), |()| async { Ok::<_, UiError>((open_approvals().await?, open_requests().await?)) });
    view! {
        <Page title="Approvals" class="inbox">
            <ReadFirst
                first=first
                wait="Loading approvals…"
                draw=|(questions, requests)| view! { <Inbox first=questions requests=requests /> }.into_any()
            />
        </Page>
    }
}

/// The approvals shown, and which of them are still open. An answered one stays, with its answer, until you leave the
/// page: nothing disappears while you are about to press it.
#[derive(Clone, Copy)]
struct Shown {
    questions: RwSignal<Vec<OpenApproval>>,
    open: RwSignal<Vec<(PodRef, String)>>,
    /// Those that are to be answered together.
    selected: Selected,
}

#[component]
fn Inbox(first: Vec<OpenApproval>, requests: Vec<OpenRequest>) -> impl IntoView {
    let console = use_console();
    let selected = Selected::new(Vec::new());
    let shown = Shown { open: RwSignal::new(keys(&first)), questions: RwSignal::new(first), selected };
    Effect::new(move |before: Option<()>| {
        // The first value may be older than the list that came with the page.
        if let Some(fresh) = console.questions.get().filter(|_| before.is_some()) {
            shown.open.set(keys(&fresh));
            shown
                .selected
                .update(|selected| selected.retain(|key| shown.open.with_untracked(|open| open.contains(key))));
            shown.questions.update(|questions| merge(questions, fresh));
        }
    });
    let asked = Asked { open: RwSignal::new(requests.clone()), shown: RwSignal::new(requests) };
    Effect::new(move |before: Option<()>| {
        if let Some(fresh) = console.requests.get().filter(|_| before.is_some()) {
            let is_new = |request: &OpenRequest| {
                asked.shown.with_untracked(|shown| shown.iter().all(|known| known.request_id != request.request_id))
            };
            let news: Vec<_> = fresh.iter().filter(|request| is_new(request)).cloned().collect();
            asked.shown.update(|shown| shown.extend(news));
            asked.open.set(fresh);
        }
    });
    let pods = Memo::new(move |_| shown.questions.with(|questions| askers(questions)));
    view! {
        <p class="hint" role="status">
            {redrawn(move || words(shown.open.with(Vec::len), asked.open.with(Vec::len)))}
        </p>
        <For each=move || asked.shown.get() key=|request| request.request_id.clone() let:request>
            <AskedToMeet request=request asked=asked />
        </For>
        <For each=move || pods.get() key=Clone::clone let:pod>
            <OfPod pod=pod shown=shown />
        </For>
        <SeveralBar selected=selected />
    }
}

/// Peer requests, treated like approvals: an answered one stays until you leave the page.
#[derive(Clone, Copy)]
struct Asked {
    shown: RwSignal<Vec<OpenRequest>>,
    open: RwSignal<Vec<OpenRequest>>,
}

#[component]
fn AskedToMeet(request: OpenRequest, asked: Asked) -> impl IntoView {
    let id = request.request_id.clone();
    let is_open = Memo::new(move |_| asked.open.with(|open| open.iter().any(|open| open.request_id == id)));
    view! { <RequestCard request=request is_open=is_open /> }
}

fn words(questions: usize, requests: usize) -> String {
    let asked = match requests {
        0 => return question_words(questions),
        1 => "1 peer request.".to_owned(),
        count => format!("{count} peer requests."),
    };
    if questions == 0 { asked } else { format!("{asked} {}", question_words(questions)) }
}

fn question_words(count: usize) -> String {
    match count {
        0 => "No approvals pending. When a Pod needs permission, its question appears here, in its transcript and in the \
              terminal."
            .to_owned(),
        1 => "1 approval pending.".to_owned(),
        count => format!("{count} approvals pending, oldest first."),
    }
}

#[component]
fn OfPod(pod: PodRef, shown: Shown) -> impl IntoView {
    let console = use_console();
    let whose = shown.questions.with_untracked(|questions| questions.iter().find(|open| open.pod == pod).cloned());
    let parent = whose.as_ref().and_then(|open| open.parent.clone());
    let leader = move || {
        let parent = parent.clone()?;
        let name = console.pod(&parent).map_or_else(|| "another Pod".to_owned(), |pod| pod.name.to_string());
        Some(view! { <span class="hint">"a child of " {pod_link(&parent, name)}</span> }.into_any())
    };
    let (href, home) = (pod_href(&pod), abroad(&pod));
    let mine = Memo::new(move |_| {
        shown.questions.with(|questions| {
            questions.iter().filter(|open| open.pod == pod).cloned().map(Question::from).collect::<Vec<_>>()
        })
    });
    view! {
        <section class="asker">
            <h2>
                <a class="pod-link" href=href>
                    {whose.map(|open| open.name.to_string())}
                    {home}
                </a>
                <WithPods>{leader.clone()}</WithPods>
            </h2>
            <For each=move || mine.get() key=|question| question.id.clone() let:question>
                <Listed question=question shown=shown />
            </For>
        </section>
    }
}

/// One approval in the list; if it is answered elsewhere, it shows that answer.
#[component]
fn Listed(question: Question, shown: Shown) -> impl IntoView {
    let key = (question.pod.clone(), question.id.clone());
    let is_open = Memo::new(move |_| shown.open.with(|open| open.contains(&key)));
    let answered = answer_from_anywhere(&question, is_open);
    let (key, label) = ((question.pod.clone(), question.id.clone()), format!("Select {}", question.tool));
    // A form is filled in by itself, and an agent's own options are chosen one by one.
    let may_be_one_of_several = question.options.is_empty() && question.arguments.get("schema").is_none();
    view! {
        <Show when=move || may_be_one_of_several && is_open.get() && answered.with(Option::is_none)>
            <SelectBox key=key.clone() label=label.clone() selected=shown.selected />
        </Show>
        <QuestionCard question=question answered=answered />
    }
}

fn keys(questions: &[OpenApproval]) -> Vec<(PodRef, String)> {
    questions.iter().map(|open| (open.pod.clone(), open.approval.id.clone())).collect()
}

/// Appends the new ones; those already shown keep their places.
fn merge(shown: &mut Vec<OpenApproval>, fresh: Vec<OpenApproval>) {
    let known = keys(shown);
    shown.extend(fresh.into_iter().filter(|open| !known.contains(&(open.pod.clone(), open.approval.id.clone()))));
}

/// The Pods that ask, the one that has waited longest first.
fn askers(questions: &[OpenApproval]) -> Vec<PodRef> {
    let mut pods: Vec<PodRef> = Vec::new();
    for open in questions {
        if !pods.contains(&open.pod) {
            pods.push(open.pod.clone());
        }
    }
    pods
}

#[cfg(test)]
mod tests {
    use protocol::{Approval, PodState};

    use super::*;
    use commands::samples::pod;

    fn open(name: &str, id: &str) -> OpenApproval {
        let pod = pod(name, PodState::Waiting);
        let (id, tool) = (id.to_owned(), "Bash".to_owned());
        let (arguments, asked_at) = (serde_json::Value::Null, protocol::Timestamp::UNIX_EPOCH);
        let approval = Approval::open(id, tool, arguments, asked_at);
        OpenApproval { pod: pod.pod, name: pod.name, parent: None, approval }
    }

    #[test]
    fn what_was_answered_stays_in_its_place_and_what_is_new_comes_behind() {
        let mut shown = vec![open("ada", "q1"), open("bob", "q2")];
        merge(&mut shown, vec![open("bob", "q2"), open("ada", "q3")]);
        let ids: Vec<_> = shown.iter().map(|open| open.approval.id.as_str()).collect();
        assert_eq!(ids, ["q1", "q2", "q3"]);
        assert_eq!(askers(&shown), [open("ada", "q1").pod, open("bob", "q2").pod]);
    }

    #[test]
    fn what_waits_is_told_requests_first() {
        assert!(words(0, 0).starts_with("No approvals pending."));
        assert_eq!(words(0, 1), "1 peer request.");
        assert_eq!(words(1, 2), "2 peer requests. 1 approval pending.");
    }

    #[test]
    fn the_same_id_in_two_pods_is_two_questions() {
        let mut shown = vec![open("ada", "q1")];
        merge(&mut shown, vec![open("ada", "q1"), open("bob", "q1")]);
        assert_eq!((shown.len(), keys(&shown).len()), (2, 2));
    }
}
