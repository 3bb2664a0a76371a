//! What the Pod has changed so far, in short: a button in its heading, and a list beside the transcript.

use leptos::{prelude::*, task::spawn_local};
use protocol::{Changes, PodState};

use crate::{
    changes::{changes_href, mark_of},
    console::{PodContext, use_pod},
    format::counted,
    live,
    redrawn::redrawn,
    server_fns::changed_files,
};

/// The most files that are listed beside the transcript.
const LISTED_MAX: usize = 12;

/// What is known of the Pod's changes; nothing before it has been read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Changed(RwSignal<Option<Changes>>);

impl Changed {
    /// Reads the changes once the page has been taken over, and again whenever the Pod comes to rest.
    pub(crate) fn provide(pod: PodContext) {
        let changed = Self(RwSignal::default());
        provide_context(changed);
        let rests = Memo::new(move |_| pod.state.get() != PodState::Running);
        Effect::new(move |_| {
            if rests.get() {
                live::once_taken_over(move || changed.read(pod));
            }
        });
    }

    fn read(self, pod: PodContext) {
        let Some(address) = pod.pod.try_get_value() else { return };
        spawn_local(async move {
            // Without an answer there is nothing to show; the page of changes says why.
            if let Ok(changes) = changed_files(address).await {
                self.0.try_set(Some(changes));
            }
        });
    }

    fn some(self) -> Option<Changes> {
        self.0.get().filter(|changes| !changes.files.is_empty())
    }
}

/// *Review 4 files +61 −34*, if anything has changed.
#[component]
pub(crate) fn ReviewButton() -> impl IntoView {
    let changed = expect_context::<Changed>();
    let href = use_pod().pod.with_value(changes_href);
    redrawn(move || {
        let href = href.clone();
        changed.some().map(|changes| {
            let count = counted(changes.files.len() as u64, "file");
            view! {
                <a class="button review-button" href=href>
                    "Review " <span>{count}</span> " " <b class="is-added">"+" {changes.added}</b> " "
                    <b class="is-removed">"−" {changes.removed}</b>
                </a>
            }
            .into_any()
        })
    })
}

/// The changed files, beside the transcript.
#[component]
pub(crate) fn ChangedFiles() -> impl IntoView {
    let changed = expect_context::<Changed>();
    let href = use_pod().pod.with_value(changes_href);
    redrawn(move || {
        let href = href.clone();
        changed.some().map(|changes| {
            let more = changes.files.len().saturating_sub(LISTED_MAX);
            let rows = changes.files.into_iter().take(LISTED_MAX).map(|file| {
                let (sign, word) = mark_of(file.status);
                view! {
                    <li>
                        <abbr class=word title=word>
                            {sign}
                        </abbr>
                        <span title=file.path.clone()>
                            <bdi>{file.path.clone()}</bdi>
                        </span>
                        <small>
                            <b class="added">"+" {file.added}</b> " " <b class="removed">"−" {file.removed}</b>
                        </small>
                    </li>
                }
                .into_any()
            });
            let rows = rows.collect_view();
            view! {
                <section class="changed">
                    <h2>"Changed " <a href=href>"Review"</a></h2>
                    <ul>{rows}</ul>
                    {(more > 0).then(|| view! { <small>"and " {more} " more"</small> }.into_any())}
                </section>
            }
            .into_any()
        })
    })
}
