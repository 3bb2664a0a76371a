use commands::{
    allowed::{peer_refusal, refusal, refusal_of},
    sharing::{also_here, also_here_words},
};
use leptos::prelude::*;
use protocol::{ControlVerb, GitView, PodState, PodSummary, WorktreeVerb};

use crate::{
    acting::{control, introduce, label, spawn},
    components::{abroad::abroad, menu::Menu, state_mark::StateWord},
    console::{Console, Dialog, PodContext, export_href, print_href, use_console, use_pod},
    format::short_path,
    pod::changed::ReviewButton,
    redrawn::redrawn,
    transcript::find,
};

/// The Pod's name, its state, and the actions available now.
#[component]
pub(crate) fn PodHead() -> impl IntoView {
    let console = use_console();
    let pod = use_pod();
    let name = move || pod.summary.with(|summary| summary.name.to_string());
    let meta = move || pod.summary.with(|summary| facts(console, pod, summary));
    let about = move || {
        pod.summary.with(|summary| match console.with_pods(|pods| also_here_words(pods, summary)) {
            Some(others) => format!("{}\n{others}", summary.cwd),
            None => summary.cwd.clone(),
        })
    };
    view! {
        <header class="head">
            <a class="back" href="/" aria-label="All Pods">
                "‹"
            </a>
            <h1>{redrawn(name)}</h1>
            {pod.pod.with_value(abroad)}
            <span role="status">
                <StateWord sign=Signal::derive(move || pod.sign()) />
            </span>
            <button
                type="button"
                class="head-model"
                title="Change the model"
                on:click=move |_| console.dialog.set(Some(Dialog::Model(Box::new(untrack(|| pod.as_it_is())))))
            >
                {redrawn(move || pod.summary.with(|summary| summary.model.clone()))}
            </button>
            <span class="meta" title=about>
                {redrawn(meta)}
            </span>
            <ReviewButton />
            <a class="button details-link" href="?pane=details">
                "Details"
            </a>
            <div class="verbs" role="toolbar" aria-label="This Pod">
                {[ControlVerb::Resume, ControlVerb::Restore]
                    .into_iter()
                    .map(|verb| view! { <Verb verb=verb /> }.into_any())
                    .collect_view()}
                <button
                    type="button"
                    class="button verb-peer"
                    title=move || match peer_refusal(pod.state.get()) {
                        None => "Add a peer (p)".to_owned(),
                        Some(reason) => format!("Peer: {reason}"),
                    }
                    aria-disabled=move || peer_refusal(pod.state.get()).is_some().to_string()
                    on:click=move |_| introduce(console, &untrack(|| pod.as_it_is()), String::new())
                >
                    "Peer"
                    <kbd>"p"</kbd>
                </button>
                <More console=console pod=pod />
            </div>
        </header>
    }
}

/// Its mode first, because it is what may be cut last.
fn facts(console: Console, pod: PodContext, summary: &PodSummary) -> String {
    let git = pod.git();
    let mut facts = vec![pod.detail.with(|detail| format!("mode {}", detail.mode.words()))];
    // The repository is called like its folder, or like the folder that a work tree was made from.
    facts.extend(git.is_none().then(|| short_path(&summary.cwd)));
    facts.extend(git.as_ref().map(branch_words));
    facts.extend(console.with_pods(|pods| match also_here(pods, summary).len() {
        0 => None,
        1 => Some("1 other here".to_owned()),
        others => Some(format!("{others} others here")),
    }));
    let relations = [(summary.relations.peers, "peer", "peers"), (summary.relations.children, "child", "children")];
    for (count, one, many) in relations.into_iter().filter(|(count, ..)| *count > 0) {
        facts.push(format!("{count} {}", if count == 1 { one } else { many }));
    }
    facts.join(" · ")
}

/// A button that is shown when it may matter, and explains itself when it is unavailable.
#[component]
fn Verb(verb: ControlVerb) -> impl IntoView {
    let console = use_console();
    let pod = use_pod();
    let reason = Memo::new(move |_| refusal(verb, pod.state.get()));
    let title = move || match reason.get() {
        None => label(verb).to_owned(),
        Some(reason) => format!("{}: {reason}", label(verb)),
    };
    view! {
        <button
            type="button"
            class=format!("button verb-{}", verb.as_str())
            class:is-hidden=move || is_out_of_place(verb, pod.state.get())
            title=title
            aria-disabled=move || reason.get().is_some().to_string()
            on:click=move |_| control(console, &untrack(|| pod.as_it_is()), verb)
        >
            {label(verb)}
        </button>
    }
}

/// Whether the verb is hidden in this state: Resume and Restore are only for a Pod that does not work by itself.
fn is_out_of_place(verb: ControlVerb, state: PodState) -> bool {
    let is_down = matches!(state, PodState::Stopped | PodState::Broken | PodState::Unreachable);
    match verb {
        ControlVerb::Resume => state != PodState::Paused,
        ControlVerb::Restore => !is_down,
        // A run is stopped beside the message field; the rest is in the menu.
        ControlVerb::Pause | ControlVerb::Cancel | ControlVerb::Stop | ControlVerb::Compact | ControlVerb::Retry => {
            false
        }
    }
}

/// The menu of verbs that have no room. Choosing one closes it.
#[component]
fn More(console: Console, pod: PodContext) -> impl IntoView {
    let is_open = RwSignal::new(false);
    pod.presence.on_turn(move |_| is_open.set(false));
    let act = move |words: &'static str, press: fn(Console, PodSummary)| {
        view! {
            <button type="button" on:click=move |_| press(console, untrack(|| pod.as_it_is()))>
                {words}
            </button>
        }
        .into_any()
    };
    let delete = move |_| {
        let pod = Box::new(pod.summary.get_untracked());
        console.dialog.set(Some(Dialog::Delete { pod, is_named: false }));
    };
    let has_git = Memo::new(move |_| pod.git().is_some());
    let has_tree = Memo::new(move |_| pod.git().is_some_and(|git| git.worktree.is_some()));
    let of_git = move || {
        has_git.get().then(|| act("Commit…", |console, pod| console.dialog.set(Some(Dialog::Commit(Box::new(pod))))))
    };
    let of_tree = move || {
        has_tree.get().then(|| {
            let merge = act("Merge its branch…", |console, pod| worktree(console, pod, WorktreeVerb::Merge));
            let discard = act("Discard its work tree…", |console, pod| worktree(console, pod, WorktreeVerb::Discard));
            (merge, discard).into_any()
        })
    };
    view! {
        <Menu id="pod-more" label="⋯" name="More" class="button" is_open=is_open>
            <MenuVerb verb=ControlVerb::Pause words="Pause" />
            <MenuVerb verb=ControlVerb::Cancel words="Cancel the run" />
            <MenuVerb verb=ControlVerb::Stop words="Archive" />
            <MenuVerb verb=ControlVerb::Retry words="Retry" />
            {act(label(ControlVerb::Compact), |console, pod| control(console, &pod, ControlVerb::Compact))}
            {act("Fork…", |console, pod| console.dialog.set(Some(Dialog::Fork(Box::new(pod), None))))}
            {redrawn(of_git)}
            {redrawn(of_tree)}
            {act("Spawn a child…", |console, pod| spawn(console, &pod, String::new()))}
            {act("Add a peer…", |console, pod| introduce(console, &pod, String::new()))}
            <PodFiles />
            <button type="button" title="Your own shell in its folder (Ctrl `)" on:click=move |_| pod.shows_terminal.set(true)>
                "Terminal"
            </button>
            {act("Model…", |console, pod| console.dialog.set(Some(Dialog::Model(Box::new(pod)))))}
            {act("Rename…", |console, pod| console.dialog.set(Some(Dialog::Rename(Box::new(pod)))))}
            <button type="button" class="is-danger" on:click=delete>
                "Delete…"
            </button>
        </Menu>
    }
}

fn worktree(console: Console, pod: PodSummary, verb: WorktreeVerb) {
    console.dialog.set(Some(Dialog::Worktree(Box::new(pod), verb)));
}

/// `⎇ refund-rounding in orchard, not committed, 2 ahead`.
fn branch_words(git: &GitView) -> String {
    let place = if git.repository.is_empty() { String::new() } else { format!(" in {}", git.repository) };
    let state = git.state_words().into_iter().fold(String::new(), |words, word| format!("{words}, {word}"));
    format!("⎇ {}{place}{state}", git.branch)
}

/// Menu entries: find in the transcript, print and export it.
#[component]
fn PodFiles() -> impl IntoView {
    let pod = use_pod().pod;
    let jsonl = pod
        .with_value(|pod| format!("/api/v1/runtimes/{}/workers/{}/export?format=jsonl", pod.runtime_id, pod.worker_id));
    view! {
        <button type="button" on:click=|_| find::open()>
            "Find…"
        </button>
        <a href=pod.with_value(print_href) rel="external">
            "Full transcript"
        </a>
        <a href=pod.with_value(export_href) rel="external" download="">
            "Export Markdown"
        </a>
        <a href=jsonl rel="external" download="">
            "Export JSONL"
        </a>
    }
}

/// A menu entry for a verb, shown where the state allows it.
#[component]
fn MenuVerb(verb: ControlVerb, words: &'static str) -> impl IntoView {
    let console = use_console();
    let pod = use_pod();
    view! {
        <button
            type="button"
            class=format!("verb-{}", verb.as_str())
            class:is-hidden=move || refusal_of(verb, &pod.as_it_is()).is_some()
            on:click=move |_| control(console, &untrack(|| pod.as_it_is()), verb)
        >
            {words}
        </button>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_state_allows_has_its_button() {
        for state in PodState::ALL {
            for verb in ControlVerb::ALL {
                assert!(refusal(verb, state).is_some() || !is_out_of_place(verb, state), "{verb:?} in {state:?}");
            }
        }
    }
}
