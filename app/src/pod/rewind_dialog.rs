use leptos::prelude::*;
use protocol::{ErrorCode, RewindCommand, Seq};
use transcript::unseen;

use crate::{
    UiError,
    components::{deed::Deed, dialog::FormDialog},
    console::{PodContext, fresh_command},
    format::counted,
    live,
    rows::Leaving,
    server_fns::rewind_pod,
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
    let is_over = Signal::derive(move || leaving.with(|leaving| leaving.blocks == 0) || has_moved());
    let submit = Callback::new(move |()| {
        let Some(target) = pod.pod.try_get_value() else { return };
        let command = RewindCommand { to_seq: to, expected_head: leaving.get_untracked().head };
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
                <p>{move || leaving.with(words)}</p>
                <p>"The transcript keeps it all, dimmed. Changed files stay as they are."</p>
            </div>
            {move || {
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
            }}
        </FormDialog>
    }
}

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
