use leptos::{prelude::*, task::spawn_local};
use protocol::{ErrorCode, FileStatus, RewindCommand, RewindPreview, Seq};
use transcript::unseen;

use crate::{
    UiError,
    components::{deed::Deed, dialog::FormDialog},
    console::{PodContext, fresh_command},
    format::counted,
    live,
    redrawn::redrawn,
    rows::Leaving,
    server_fns::{rewind_pod, rewind_preview},
};

/// Shows how much would leave the model's context, and rewinds only while that is still true.
#[component]
pub(crate) fn RewindDialog(pod: PodContext, to: Seq) -> impl IntoView {
    let deed = Deed::default();
    let leaving = RwSignal::new(pod.rows.leaving(to).unwrap_or_default());
    let message = pod.rows.message_after(to).map(|text| {
        view! {
            <p>"Back to before this message:"</p>
            <blockquote class="rewind-to">{unseen::shown(&text).into_owned()}</blockquote>
        }
        .into_any()
    });
    let has_moved =
        move || deed.error.with(|error| error.as_ref().is_some_and(|error| error.code() == ErrorCode::HeadMoved));
    let look_again = move |_| {
        leaving.set(pod.rows.leaving(to).unwrap_or_default());
        deed.error.set(None);
        live::focus("rewind-cancel");
    };
    let files = FilesToo::read(pod, to);
    let is_over = Signal::derive(move || leaving.with(|leaving| leaving.blocks == 0) || has_moved());
    let submit = Callback::new(move |()| {
        let Some(target) = pod.pod.try_get_value() else { return };
        let context = RewindCommand::context(to, leaving.get_untracked().head);
        let (files, overwrite) = (files.is_wanted.get_untracked(), files.overwrites.get_untracked());
        let command = RewindCommand { files, overwrite: files && overwrite, ..context };
        deed.begin(Box::pin(async move {
            rewind_pod(target, fresh_command(), command).await.map_err(moved)?;
            live::close_dialog("rewind");
            Ok(())
        }));
    });
    view! {
        <FormDialog id="rewind" title="Rewind" submit="Rewind" deed=deed is_over=is_over on_submit=submit>
            {message}
            <div role="status" class="facts">
                <p>{redrawn(move || leaving.with(words))}</p>
                <p>"The transcript keeps it all, dimmed."</p>
            </div>
            {redrawn(move || files.view())}
            {redrawn(move || {
                has_moved()
                    .then(|| {
                        view! {
                            <p>
                                <button type="button" class="button" on:click=look_again>
                                    "Try again"
                                </button>
                            </p>
                        }.into_any()
                    })
            })}
        </FormDialog>
    }
}

/// The files that the Pod has changed since, and whether they are brought back.
#[derive(Clone, Copy)]
struct FilesToo {
    found: RwSignal<Option<Result<RewindPreview, UiError>>>,
    is_wanted: RwSignal<bool>,
    overwrites: RwSignal<bool>,
}

impl FilesToo {
    fn read(pod: PodContext, to: Seq) -> Self {
        let files =
            Self { found: RwSignal::default(), is_wanted: RwSignal::default(), overwrites: RwSignal::default() };
        if let Some(target) = pod.pod.try_get_value() {
            spawn_local(async move {
                let found = rewind_preview(target, to).await;
                files.found.try_set(Some(found));
            });
        }
        files
    }

    fn view(self) -> AnyView {
        let preview = match self.found.get() {
            None => return view! { <p class="hint">"Reading the files…"</p> }.into_any(),
            Some(Err(error)) => {
                let words = format!("Files stay as they are: {}.", error.sentence());
                return view! { <p class="hint">{words}</p> }.into_any();
            }
            Some(Ok(preview)) if preview.files.is_empty() => {
                return view! { <p class="hint">"No file has been changed since."</p> }.into_any();
            }
            Some(Ok(preview)) => preview,
        };
        let has_others = preview.files.iter().any(|file| file.others);
        let rows = preview.files.iter().take(FILES_MAX).map(|file| {
            let verb = match file.status {
                FileStatus::Added => "brought back",
                FileStatus::Modified => "changed back",
                FileStatus::Deleted => "removed",
            };
            let others = if file.others { ", though somebody else has changed it since" } else { "" };
            view! { <li><code>{unseen::shown(&file.path).into_owned()}</code> " is " {verb} {others}</li> }.into_any()
        });
        let more = preview.files.len().saturating_sub(FILES_MAX);
        let overwrites = has_others.then(|| {
            view! {
                <label class="choice">
                    <input
                        type="checkbox"
                        prop:checked=move || self.overwrites.get()
                        on:change=move |event| self.overwrites.set(event_target_checked(&event))
                    />
                    <span>"Also where somebody else has changed a file"</span>
                </label>
            }
            .into_any()
        });
        view! {
            <fieldset class="rewind-files">
                <label class="choice">
                    <input
                        type="checkbox"
                        prop:checked=move || self.is_wanted.get()
                        on:change=move |event| self.is_wanted.set(event_target_checked(&event))
                    />
                    <span>"Bring the files back, too"</span>
                </label>
                <ul>{rows.collect_view()}</ul>
                {(more > 0).then(|| view! { <p class="hint">{format!("and {more} more")}</p> }.into_any())}
                {overwrites}
            </fieldset>
        }
        .into_any()
    }
}

/// The most files that are listed.
const FILES_MAX: usize = 12;

fn words(leaving: &Leaving) -> String {
    match leaving.blocks {
        0 => "Nothing after this message is in the context.".to_owned(),
        blocks => format!(
            "{} of {} will leave the context.",
            counted(blocks as u64, "block"),
            counted(leaving.turns as u64, "turn")
        ),
    }
}

fn moved(refusal: UiError) -> UiError {
    match refusal.code() {
        ErrorCode::HeadMoved => {
            UiError::new(ErrorCode::HeadMoved, "The Pod has moved on since you looked, so nothing was rewound")
        }
        _ => refusal,
    }
}
