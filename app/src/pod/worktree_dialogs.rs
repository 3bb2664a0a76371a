//! What people do with the git state of a Pod's folder: commit, merge its own work tree, discard it.

use leptos::prelude::*;
use protocol::{CommitCommand, ErrorCode, PodSummary, WorktreeCommand, WorktreeVerb};

use crate::{
    UiError,
    components::{deed::Deed, dialog::FormDialog, text_field::TextField},
    console::{fresh_command, use_console},
    live,
    redrawn::redrawn,
    server_fns::{change_worktree, commit_changes},
};

/// Commits everything that is changed in the Pod's folder.
#[component]
pub(crate) fn CommitDialog(pod: PodSummary) -> impl IntoView {
    let console = use_console();
    let message = RwSignal::new(String::new());
    let deed = Deed::default();
    let on = pod.git.as_ref().map(|git| format!(" on {}", git.branch)).unwrap_or_default();
    let facts = format!(
        "Commits everything that is changed in {}{on}. Hooks do not run; the author comes from git's settings.",
        pod.cwd
    );
    let title = format!("Commit the changes of {}", pod.name);
    let submit = Callback::new(move |()| {
        let message = message.get_untracked();
        if message.trim().is_empty() {
            return deed.refuse(UiError::new(ErrorCode::InvalidInput, "write what the commit does"));
        }
        let (name, pod) = (pod.name.clone(), pod.pod.clone());
        deed.begin(Box::pin(async move {
            let command = CommitCommand { message, paths: None };
            let done = commit_changes(pod, fresh_command(), command).await?;
            live::close_dialog("commit");
            let files = if done.files.len() == 1 { "file" } else { "files" };
            console.note(format!("{name}: committed {} {files}.", done.files.len()));
            Ok(())
        }));
    });
    view! {
        <FormDialog id="commit" title=title submit="Commit" deed=deed on_submit=submit>
            <TextField id="commit-message" label="Message" value=message hint="What the commit does, in a line." />
            <p class="facts">{facts}</p>
        </FormDialog>
    }
}

/// Merges the branch of the Pod's own work tree, or removes both.
#[component]
pub(crate) fn WorktreeDialog(pod: PodSummary, verb: WorktreeVerb) -> impl IntoView {
    let console = use_console();
    let deed = Deed::default();
    let words = Words::of(&pod, verb);
    // The server names what would be lost; only then it can be removed nevertheless.
    let is_forced = Memo::new(move |_| {
        deed.error.with(|error| error.as_ref().is_some_and(|error| error.code() == ErrorCode::NotMerged))
    });
    let begin = move |force: bool| {
        let (name, pod) = (pod.name.clone(), pod.pod.clone());
        deed.begin(Box::pin(async move {
            let command = WorktreeCommand { verb, into: None, force };
            let done = change_worktree(pod, fresh_command(), command).await.map_err(would_lose)?;
            live::close_dialog("worktree");
            console.note(format!("{name}: {}.", done.words()));
            Ok(())
        }));
    };
    let force = begin.clone();
    let paths = move || {
        let paths = deed.error.with(|error| error.as_ref().map(|error| error.0.paths.clone()).unwrap_or_default());
        (!paths.is_empty()).then(|| {
            let items = paths.into_iter().map(|path| view! { <li><code>{path}</code></li> }.into_any()).collect_view();
            view! { <ul class="facts">{items}</ul> }.into_any()
        })
    };
    let force = StoredValue::new(force);
    view! {
        <FormDialog
            id="worktree"
            title=words.title
            submit=words.submit
            cancel="Keep it"
            is_danger={verb == WorktreeVerb::Discard}
            deed=deed
            is_over=is_forced
            on_submit=Callback::new(move |()| begin(false))
        >
            <p>{words.facts}</p>
            {paths}
            {redrawn(move || {
                is_forced
                    .get()
                    .then(|| {
                        view! {
                            <p>
                                <button
                                    type="button"
                                    id="worktree-force"
                                    class="button danger"
                                    on:click=move |_| force.with_value(|force| force(true))
                                >
                                    "Discard it anyway"
                                </button>
                            </p>
                        }.into_any()
                    })
            })}
        </FormDialog>
    }
}

/// The refusal in this dialog's words: its button does what a request says with a field.
fn would_lose(mut refusal: UiError) -> UiError {
    if refusal.code() == ErrorCode::NotMerged
        && let Some((loss, _)) = refusal.0.detail.split_once(';')
    {
        refusal.0.detail = format!("{loss}; merge or commit first, or discard it anyway");
    }
    refusal
}

/// What the dialog says.
struct Words {
    title: String,
    facts: String,
    submit: &'static str,
}

impl Words {
    fn of(pod: &PodSummary, verb: WorktreeVerb) -> Self {
        let branch = pod.git.as_ref().map(|git| git.branch.as_str()).unwrap_or("its branch");
        let from = pod.git.as_ref().and_then(|git| git.from.as_deref()).unwrap_or("the branch that it came from");
        match verb {
            WorktreeVerb::Merge => Self {
                title: format!("Merge {branch} into {from}"),
                facts: format!(
                    "Everything that {} committed on {branch} is merged into {from}; where {from} is checked out, the \
                     files change too. The work tree stays. Nothing is done if there are conflicts or uncommitted changes.",
                    pod.name
                ),
                submit: "Merge",
            },
            WorktreeVerb::Discard => Self {
                title: format!("Discard the work tree of {}", pod.name),
                facts: format!(
                    "This removes the work tree {} and its branch {branch}. {} stays, with its transcript and without a folder. \
                     If commits or changes would be lost, you are asked once more.",
                    pod.cwd, pod.name
                ),
                submit: "Discard",
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use commands::samples;
    use protocol::{ApiError, GitView, PodState};

    use super::*;

    #[test]
    fn a_refusal_names_the_button_and_not_the_field() {
        let said = "removing the work tree of refunds would lose 1 file not committed (a); merge or commit first, or \
                    send `force` to remove it nevertheless";
        let refusal = would_lose(ApiError::new(ErrorCode::NotMerged, said).with_paths(vec!["a".to_owned()]).into());
        assert_eq!(
            refusal.sentence(),
            "removing the work tree of refunds would lose 1 file not committed (a); merge or commit first, or discard \
             it anyway"
        );
        assert_eq!((refusal.code(), refusal.0.paths), (ErrorCode::NotMerged, vec!["a".to_owned()]));
    }

    #[test]
    fn a_merge_names_both_branches_and_a_discard_what_goes() {
        let mut pod = samples::pod("refunds", PodState::Idle);
        pod.git = Some(GitView {
            branch: "refund-rounding".to_owned(),
            dirty: false,
            ahead: 2,
            behind: 0,
            added: 0,
            removed: 0,
            worktree: Some("/src/orchard.worktrees/refund-rounding".to_owned()),
            from: Some("main".to_owned()),
            repository: "orchard".to_owned(),
        });
        let merge = Words::of(&pod, WorktreeVerb::Merge);
        assert_eq!(merge.title, "Merge refund-rounding into main");
        let discard = Words::of(&pod, WorktreeVerb::Discard);
        assert_eq!(discard.title, "Discard the work tree of refunds");
        assert!(discard.facts.contains(&pod.cwd) && discard.facts.contains("its branch refund-rounding."));
    }

    #[test]
    fn what_would_be_lost_is_said_in_the_words_of_the_dialog() {
        let sentence = "removing the work tree of a would lose 1 commit; merge or commit first, or send `force`";
        let said = would_lose(UiError::new(ErrorCode::NotMerged, sentence)).0.detail;
        assert_eq!(
            said,
            "removing the work tree of a would lose 1 commit; merge or commit first, or discard it anyway"
        );
        let busy = would_lose(UiError::new(ErrorCode::Busy, "it works; wait")).0.detail;
        assert_eq!(busy, "it works; wait");
    }
}
