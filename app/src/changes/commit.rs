use std::{collections::BTreeSet, sync::Arc};

use leptos::prelude::*;
use protocol::{CommitCommand, ErrorCode, FileChange, GitView, PodSummary, WorktreeVerb};

use super::{
    page::Review,
    saying::{Saying, Submit},
};
use crate::{
    UiError,
    components::deed::Deed,
    console::{Dialog, fresh_command, use_console},
    format::counted,
    redrawn::redrawn,
    server_fns::commit_changes,
};

/// In place of [`CommitBox`] where git has everything already: files that changed since the start may be committed.
#[component]
pub(super) fn Committed(git: GitView) -> impl IntoView {
    view! {
        <section class="changes-commit">
            <h2>"Commit"</h2>
            <p class="hint">"Nothing to commit to " {git.branch} "."</p>
        </section>
    }
}

/// Commits the changed files, or some of them. Nothing is left out at first.
#[component]
pub(super) fn CommitBox(review: Review, git: GitView, files: Arc<[FileChange]>) -> impl IntoView {
    let (deed, message) = (Deed::default(), RwSignal::new(String::new()));
    let left_out = RwSignal::new(BTreeSet::<String>::new());
    let count = files.len();
    let chosen = move || count - left_out.with(BTreeSet::len);
    let words = move || match chosen() {
        all if all == count => counted(count as u64, "file"),
        some => format!("{some} of {}", counted(count as u64, "file")),
    };
    let paths: Vec<String> = files.iter().map(|file| file.path.clone()).collect();
    let boxes = paths.iter().cloned().map(|path| file_box(path, left_out)).collect_view();
    let commit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let message = message.get_untracked();
        if message.trim().is_empty() {
            return deed.refuse(UiError::new(ErrorCode::InvalidInput, "write what the commit does"));
        }
        let left = left_out.get_untracked();
        // All of them are whatever is changed by then.
        let paths =
            (!left.is_empty()).then(|| paths.iter().filter(|path| !left.contains(*path)).cloned().collect::<Vec<_>>());
        let pod = review.pod.get_value();
        deed.begin(Box::pin(async move {
            let done = commit_changes(pod, fresh_command(), CommitCommand { message, paths }).await?;
            review.console.note(format!("Committed {}.", counted(done.files.len() as u64, "file")));
            review.again.try_run(());
            Ok(())
        }));
    };
    view! {
        <form class="changes-commit" aria-label="Commit" on:submit=commit>
            <h2>"Commit " <small>{redrawn(words)}</small></h2>
            <Saying
                id="review-commit"
                label="Message of the commit"
                rows="3"
                placeholder="What the commit does"
                text=message
            />
            <details>
                <summary>"Which files"</summary>
                {boxes}
            </details>
            <Submit
                class="button"
                deed=deed
                is_idle=Signal::derive(move || chosen() == 0)
                hint="Hooks do not run. The author comes from git's settings.".to_owned()
            >
                "Commit to "
                {git.branch}
            </Submit>
        </form>
    }
}

/// The branch of the Pod's own work tree: how far it is, merging it, discarding it.
#[component]
pub(super) fn BranchBox(pod: PodSummary, git: GitView) -> impl IntoView {
    let console = use_console();
    let from = git.from.clone().unwrap_or_else(|| "its branch".to_owned());
    let state = match (git.ahead, git.dirty) {
        (0, true) => format!("Commit first: what is not committed is not merged into {from}."),
        (0, false) => format!("Nothing to merge into {from} yet."),
        (ahead, is_dirty) => {
            let rest = if is_dirty { "; what is not committed yet is not merged" } else { "" };
            format!("{} ahead of {from}{rest}.", counted(ahead.into(), "commit"))
        }
    };
    let pod = StoredValue::new(pod);
    let ask = move |verb| console.dialog.set(Some(Dialog::Worktree(Box::new(pod.get_value()), verb)));
    view! {
        <section class="changes-commit">
            <h2>"Branch"</h2>
            <p class="hint">{state}</p>
            <p class="changes-branch">
                <button type="button" class="button" on:click=move |_| ask(WorktreeVerb::Merge)>
                    "Merge into "
                    {from}
                    "…"
                </button>
                <button type="button" class="quiet" on:click=move |_| ask(WorktreeVerb::Discard)>
                    "Discard…"
                </button>
            </p>
        </section>
    }
}

fn file_box(path: String, left_out: RwSignal<BTreeSet<String>>) -> AnyView {
    let flip = {
        let path = path.clone();
        move |_| {
            left_out.update(|left_out| {
                if !left_out.remove(&path) {
                    left_out.insert(path.clone());
                }
            });
        }
    };
    let (name, title) = (path.clone(), path.clone());
    view! {
        <label class="changes-choice" title=title>
            <input
                type="checkbox"
                prop:checked=move || left_out.with(|left_out| !left_out.contains(&path))
                on:change=flip
            />
            <span>{name}</span>
        </label>
    }
    .into_any()
}
