use std::sync::Arc;

use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::{use_params_map, use_query_map};
use protocol::{ErrorCode, FileChange, FileStatus, GitView, PodRef, RevertCommand, Since, UndoCommand};

use super::{
    commit::{BranchBox, CommitBox, Committed},
    drafts::Drafts,
    file::FileView,
    kept::Kept,
    lines::commented,
    mark_of,
    meanwhile::Meanwhile,
    seen::Seen,
    side::{SEND, Side},
    undo::Undo,
};
use crate::{
    UiError,
    codec::fetched,
    components::{deed::Deed, read_first::TryAgain},
    console::{Console, fresh_command, pod_href, use_console},
    format::{counted, sentence_case},
    live,
    redrawn::redrawn,
    server_fns::{ChangesData, pod_changes, revert_change, undo_revert},
};

/// `/pods/{runtime_id}/{worker_id}/changes`: files on the left, hunks in the middle, comments on the right.
#[component]
pub(crate) fn ChangesPage() -> impl IntoView {
    let params = use_params_map();
    let query = use_query_map();
    let wanted = Memo::new(move |_| {
        let part = |name: &str| params.with(|params| params.get(name).unwrap_or_default());
        let since = query.with(|query| query.get("since"));
        let since = Since::ALL.into_iter().find(|one| since.as_deref() == Some(one.as_str())).unwrap_or_default();
        (format!("{}/{}", part("runtime_id"), part("worker_id")), since)
    });
    let address = Memo::new(move |_| wanted.with(|(address, _)| address.clone()));
    let kept = Kept::of(address);
    let lasting = Lasting {
        drafts: Drafts::of(address, kept),
        seen: Seen(kept),
        undo: Undo::of(address),
        at: RwSignal::default(),
        is_read: StoredValue::default(),
    };
    let page = fetched(move || wanted.get(), |(pod, since)| pod_changes(pod, since));
    let again = Callback::new(move |()| page.refetch());
    view! {
        <main id="main" class="page changes" tabindex="-1">
            <Transition fallback=|| view! { <p class="hint">"Reading the files…"</p> }.into_any()>
                {redrawn(move || {
                    page.get()
                        .map(|loaded| match loaded {
                            Ok(data) => view! { <ChangesView data=data lasting=lasting again=again /> }.into_any(),
                            Err(error) => {
                                view! { <Missing error=error wanted=wanted.get_untracked() again=again /> }.into_any()
                            }
                        })
                })}
            </Transition>
        </main>
    }
}

#[component]
fn Missing(error: UiError, wanted: (String, Since), again: Callback<()>) -> impl IntoView {
    let is_gone = matches!(error.code(), ErrorCode::PodNotFound | ErrorCode::RuntimeNotFound);
    let title = if is_gone { "No such Pod" } else { "Changes unavailable" };
    let again = (!is_gone).then(|| view! { <TryAgain again=move || again.run(()) /> }.into_any());
    let (address, since) = wanted;
    let start = (since != Since::Start).then(|| {
        view! {
            <a class="button" href="?since=start">
                "Since start"
            </a>
        }
        .into_any()
    });
    view! {
        <Title text=title />
        <section class="missing">
            <h1>{title}</h1>
            <p>{sentence_case(error.sentence())}</p>
            <p>
                {again} " " {start} " "
                <a class="button" href=format!("/pods/{address}")>
                    "Transcript"
                </a>
            </p>
        </section>
    }
}

/// The state that survives when the changes are read again.
#[derive(Clone, Copy)]
struct Lasting {
    drafts: Drafts,
    seen: Seen,
    undo: Undo,
    at: RwSignal<(usize, usize)>,
    /// Whether the changes have been read before.
    is_read: StoredValue<bool>,
}

/// What the parts of the page share.
#[derive(Clone, Copy)]
pub(super) struct Review {
    pub(super) console: Console,
    pub(super) pod: StoredValue<PodRef>,
    pub(super) since: Since,
    pub(super) files: StoredValue<Arc<[FileChange]>>,
    pub(super) drafts: Drafts,
    pub(super) seen: Seen,
    /// Reads the changes again.
    pub(super) again: Callback<()>,
    pub(super) deed: Deed,
    /// The newest revert, which can be undone.
    undo: Undo,
    /// A revert that would delete a file and waits for confirmation: the path and the hunk.
    sure: RwSignal<Option<(String, Option<String>)>>,
    /// The hunk that keys act on: the number of its file, and its own in that file.
    at: RwSignal<(usize, usize)>,
}

impl Review {
    /// Takes a hunk or a file back. Asks first where that deletes the file.
    pub(super) fn revert(self, file: &FileChange, hunk: Option<String>) {
        let asked = Some((file.path.clone(), hunk.clone()));
        if file.status == FileStatus::Added && self.sure.get_untracked() != asked {
            self.at.set(self.place_of(file, hunk.as_deref()));
            self.sure.set(asked);
            return live::focus_soon(SURE);
        }
        self.sure.set(None);
        let version = hunk.is_none().then(|| file.version.clone());
        let command = RevertCommand { path: file.path.clone(), hunk, since: self.since, version };
        let pod = self.pod.get_value();
        self.deed.begin(Box::pin(async move {
            let done = revert_change(pod, fresh_command(), command).await?;
            self.console.note(format!("Reverted {}.", done.path));
            self.undo.put(UndoCommand { path: done.path, before: done.before, after: done.after });
            self.again.try_run(());
            Ok(())
        }));
    }

    fn place_of(self, file: &FileChange, hunk: Option<&str>) -> (usize, usize) {
        let number = self.files.with_value(|files| files.iter().position(|one| one.path == file.path));
        let of_hunk = hunk.and_then(|id| file.hunks.iter().position(|one| one.id == id));
        (number.unwrap_or_default(), of_hunk.unwrap_or_default())
    }

    fn take_back(self) {
        let pod = self.pod.get_value();
        self.deed.begin(Box::pin(async move {
            let Some(command) = self.undo.take() else { return Ok(()) };
            undo_revert(pod, fresh_command(), command).await?;
            self.again.try_run(());
            Ok(())
        }));
    }

    /// The hunk of this file whose revert waits for confirmation, if any.
    pub(super) fn asks_about(self, path: &str) -> Option<Option<String>> {
        self.sure.with(|sure| sure.as_ref().filter(|(asked, _)| asked == path).map(|(_, hunk)| hunk.clone()))
    }

    /// Leaves the file as it is.
    pub(super) fn keep(self) {
        self.sure.set(None);
        self.focus_hunk();
    }

    /// Keys act on this hunk from now on.
    pub(super) fn stand_at(self, place: (usize, usize)) {
        self.at.set(place);
    }

    /// Focuses the hunk that keys act on, once what is pending has been drawn.
    pub(super) fn focus_hunk(self) {
        live::focus_soon(&hunk_id(self.at.get_untracked()));
    }

    /// Does what a key means. Returns false if it means nothing here. What changes something acts only on a hunk that has
    /// the focus; otherwise it goes there.
    fn press(self, key: &str) -> bool {
        let files = self.files.get_value();
        let (file, hunk) = self.at.get_untracked();
        let Some(present) = files.get(file) else { return false };
        let has_focus = live::has_focus_within(&hunk_id((file, hunk)));
        match key {
            "v" | "c" | "x" if !has_focus => self.step(&files, true),
            "j" | "k" => self.step(&files, key == "j"),
            "v" => self.seen.flip(present),
            "c" => match present.hunks.get(hunk).and_then(commented) {
                Some(line) => self.drafts.begin(&present.path, line),
                None => return false,
            },
            "x" => match present.hunks.get(hunk) {
                Some(hunk) => self.revert(present, Some(hunk.id.clone())),
                None => return false,
            },
            "S" => live::focus(SEND),
            _ => return false,
        }
        true
    }

    /// Goes to the next or the previous hunk.
    fn step(self, files: &[FileChange], forward: bool) {
        let all: Vec<(usize, usize)> = files
            .iter()
            .enumerate()
            .flat_map(|(file, change)| (0..change.hunks.len().max(1)).map(move |hunk| (file, hunk)))
            .collect();
        let now = all.iter().position(|place| *place == self.at.get_untracked()).unwrap_or_default();
        let is_begun = live::has_focus_within(&hunk_id(self.at.get_untracked()));
        let next = match (is_begun, forward) {
            (false, _) => now,
            (true, true) => (now + 1).min(all.len().saturating_sub(1)),
            (true, false) => now.saturating_sub(1),
        };
        if let Some(place) = all.get(next) {
            self.at.set(*place);
            live::focus(&hunk_id(*place));
        }
    }
}

/// The id of the button that says yes to a revert that deletes a file.
pub(super) const SURE: &str = "revert-sure";

/// The place that keys act on in files with so many hunks: this one or, if it is gone, the one before.
fn still_there((file, hunk): (usize, usize), hunks: &[usize]) -> (usize, usize) {
    match hunks.get(file) {
        Some(count) => (file, hunk.min(count.saturating_sub(1))),
        None => (hunks.len().saturating_sub(1), 0),
    }
}

/// The id of a hunk's element.
pub(super) fn hunk_id((file, hunk): (usize, usize)) -> String {
    format!("hunk-{file}-{hunk}")
}

#[component]
fn ChangesView(data: ChangesData, lasting: Lasting, again: Callback<()>) -> impl IntoView {
    let console = use_console();
    let ChangesData { pod, changes, drafts } = data;
    let address = pod.pod.clone();
    lasting.seen.0.take(&address, drafts);
    Effect::new(move |_| lasting.seen.0.add_own());
    let files: Arc<[FileChange]> = changes.files.into();
    let review = Review {
        console,
        since: changes.since,
        files: StoredValue::new(files.clone()),
        drafts: lasting.drafts,
        seen: lasting.seen,
        again,
        deed: Deed::default(),
        undo: lasting.undo,
        sure: RwSignal::default(),
        at: lasting.at,
        pod: StoredValue::new(pod.pod.clone()),
    };
    let hunks: Vec<usize> = files.iter().map(|file| file.hunks.len()).collect();
    review.at.set(still_there(review.at.get_untracked(), &hunks));
    if lasting.is_read.get_value() {
        // The hunk that had the focus may be gone.
        live::focus_card(&hunk_id(review.at.get_untracked()));
    }
    lasting.is_read.set_value(true);
    console.page_keys.set_value(Some(Callback::new(move |key: String| review.press(&key))));
    on_cleanup(move || console.page_keys.set_value(None));
    let count = files.len();
    let seen = {
        let files = files.clone();
        Memo::new(move |_| files.iter().filter(|file| review.seen.has(file)).count())
    };
    let name = pod.name.to_string();
    let place = pod.git.as_ref().map(place_view);
    let branch = pod
        .git
        .clone()
        .filter(|git| git.worktree.is_some())
        .map(|git| view! { <BranchBox pod=pod.clone() git=git /> }.into_any());
    let git = pod.git.clone().filter(|_| count > 0);
    let commit = git.map(|git| match git.dirty {
        true => view! { <CommitBox review=review git=git files=files.clone() /> }.into_any(),
        false => view! { <Committed git=git /> }.into_any(),
    });
    let error = move || {
        review.deed.error.get().map(|error| {
            let look = move |_| {
                review.deed.error.set(None);
                review.again.run(());
            };
            view! {
                <div class="problem" role="alert">
                    {sentence_case(error.sentence())} " "
                    <button type="button" class="button" on:click=look>
                        "Look again"
                    </button>
                </div>
            }
            .into_any()
        })
    };
    let notes = changes.notes.into_iter().map(sentence_of);
    let left_out = changes.left_out.into_iter().map(|one| format!("{} is left out: {}.", one.path, one.why));
    let notes: Vec<String> = notes.chain(left_out).collect();
    let nothing = (count == 0).then(|| {
        view! {
            <section class="changes-none">
                <h2>"Nothing has changed"</h2>
                <p>"Files that " {name.clone()} " or its commands change appear here."</p>
            </section>
        }
        .into_any()
    });
    let views = files
        .iter()
        .cloned()
        .enumerate()
        .map(|(number, file)| view! { <FileView review=review number=number file=file /> }.into_any());
    view! {
        <Title text=format!("Changes of {name}") />
        <header class="changes-head">
            <a class="back" href=pod_href(&pod.pod)>
                "‹ "
                {name.clone()}
            </a>
            <h1>"Changes"</h1>
            {place}
            <nav class="changes-since" aria-label="Compare with">
                {[(Since::Turn, "Last turn"), (Since::Start, "Since start"), (Since::Branch, "Branch")]
                    .map(|(since, words)| {
                        let is_here = (since == review.since).then_some("page");
                        view! {
                            <a href=format!("?since={}", since.as_str()) aria-current=is_here>
                                {words}
                            </a>
                        }
                            .into_any()
                    })}
            </nav>
            <span class="changes-counts">
                {counted(count as u64, "file")} " " <b class="added">"+" {changes.added}</b> " "
                <b class="removed">"−" {changes.removed}</b>
            </span>
            {redrawn(move || {
                review.undo
                    .path()
                    .map(|path| {
                        view! {
                            <button type="button" class="button" title=path on:click=move |_| review.take_back()>
                                "Undo revert"
                            </button>
                        }
                            .into_any()
                    })
            })}
            <span class="changes-seen" role="status">
                {redrawn(move || seen.get())} " of " {count} " seen "
                <progress max=count.max(1) value=move || seen.get() aria-hidden="true"></progress>
            </span>
        </header>
        {error}
        <Meanwhile review=review pod=pod />
        <div class="changes-body">
            <Index review=review files=files.clone() notes=notes />
            <section class="changes-files" aria-label="Changed files">
                {nothing}
                {views.collect_view()}
            </section>
            <Side review=review name=name>
                {commit}
                {branch}
            </Side>
        </div>
    }
}

/// The branch and its repository.
fn place_view(git: &GitView) -> AnyView {
    let repository = (!git.repository.is_empty()).then(|| format!(" in {}", git.repository));
    view! {
        <small class="changes-place">
            <code>{git.branch.clone()}</code>
            {repository}
        </small>
    }
    .into_any()
}

fn sentence_of(note: String) -> String {
    format!("{}.", sentence_case(&note))
}

/// The list of files, by folder.
#[component]
fn Index(review: Review, files: Arc<[FileChange]>, notes: Vec<String>) -> impl IntoView {
    let mut before: Option<String> = None;
    let rows = files.iter().enumerate().map(|(number, file)| {
        let (folder, name) = file.path.rsplit_once('/').unwrap_or(("", &file.path));
        let (folder, name) = (folder.to_owned(), name.to_owned());
        let heading = (before.as_ref() != Some(&folder) && !folder.is_empty()).then(|| folder.clone());
        before = Some(folder);
        let (sign, word) = mark_of(file.status);
        let path = file.path.clone();
        let comments = move || match review.drafts.count(&path) {
            0 => None,
            count => Some(view! { <span class="badge">{count}</span> }.into_any()),
        };
        let is_seen = {
            let file = file.clone();
            move || review.seen.has(&file)
        };
        let counts = (file.added, file.removed);
        view! {
            {heading.map(|folder| view! { <h2>{folder}</h2> }.into_any())}
            <a class="changes-row" class:is-seen=is_seen href=format!("#file-{number}") title=file.path.clone()>
                <abbr class=word title=word>
                    {sign}
                </abbr>
                <span>{name}</span>
                {redrawn(comments)}
                <small>
                    <b class="added">"+" {counts.0}</b> " " <b class="removed">"−" {counts.1}</b>
                </small>
            </a>
        }
        .into_any()
    });
    let rows = rows.collect_view();
    view! {
        <nav class="changes-index" aria-label="Files">
            {rows}
            {notes.into_iter().map(|note| view! { <p class="hint">{note}</p> }.into_any()).collect_view()}
            <ul class="changes-keys">
                <li>
                    <kbd>"j"</kbd> " " <kbd>"k"</kbd> " hunk"
                </li>
                {[("c", "comment"), ("v", "seen"), ("x", "revert"), ("S", "to Send")]
                    .map(|(key, what)| view! { <li><kbd>{key}</kbd> " " {what}</li> }.into_any())}
            </ul>
        </nav>
    }
}

#[cfg(test)]
mod tests {
    use super::still_there;

    #[test]
    fn after_a_revert_keys_act_on_what_is_left_there() {
        let at = |place| still_there(place, &[1, 3, 0]);
        assert_eq!([at((1, 1)), at((1, 3)), at((2, 1)), at((3, 2))], [(1, 1), (1, 2), (2, 0), (2, 0)]);
        assert_eq!(still_there((0, 0), &[]), (0, 0));
    }
}
