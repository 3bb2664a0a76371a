//! The dialog that makes two Pods peers: which peer, what it means, why; then the outcome, in the same place.

mod chooser;
mod meeting;
mod outcome;

use leptos::prelude::*;

use self::{chooser::Chooser, meeting::Meeting, outcome::OutcomeView};
use crate::{
    components::{dialog::FormDialog, text_field::TextField},
    console::{Introduction, use_console},
    live,
    peers::peering,
    redrawn::redrawn,
};

#[component]
pub(crate) fn PeerDialog(introduction: Introduction) -> impl IntoView {
    let console = use_console();
    let meeting = Meeting::new(console, &introduction);
    let title = match introduction.chooses_source {
        true => "Make two Pods peers".to_owned(),
        false => format!("Add a peer to {}", meeting.source_name()),
    };
    // If the command already named the peer, focus the submit button so that Enter adds it; adding a peer is
    // harmless. If it cannot be added, focus the cancel button.
    if let Some(chosen) = meeting.chosen.get_untracked() {
        let id = if chosen.refusal.is_none() { "peer-submit" } else { "peer-cancel" };
        Effect::new(move |_| live::focus_soon(id));
    }
    let is_over = Signal::derive(move || meeting.answer.with(Option::is_some));
    let failure = move || {
        let code = meeting.deed.error.with(|error| error.as_ref().map(|error| error.code()))?;
        let name = meeting.chosen.with(|chosen| chosen.as_ref().map(|choice| choice.name.clone()));
        let words = peering::failure_words(code, &name.unwrap_or_else(|| "the other Pod".to_owned()));
        Some(view! { <p class="peer-failed">{words}</p> }.into_any())
    };
    view! {
        <FormDialog
            id="peer"
            title=title
            submit="Add peer"
            deed=meeting.deed
            is_over=is_over
            on_submit=Callback::new(move |()| meeting.introduce())
        >
            <div class="peer-steps" class:is-hidden=move || is_over.get()>
                <Chooser meeting=meeting chooses_source=introduction.chooses_source />
                <Sentence meeting=meeting />
                <div class:is-hidden=move || meeting.chosen.with(Option::is_none)>
                    <TextField
                        id="peer-note"
                        label="Note, optional"
                        value=meeting.note
                        hint="For whoever answers the request; no model reads it."
                    />
                </div>
            </div>
            <OutcomeView meeting=meeting />
            {redrawn(failure)}
        </FormDialog>
    }
}

/// What adding this peer does and does not do, or why it cannot be added.
#[component]
fn Sentence(meeting: Meeting) -> impl IntoView {
    let words = move || {
        let choice = meeting.chosen.get()?;
        Some(match choice.refusal {
            Some(reason) => view! { <b>{choice.name}</b> " " {reason} "." }.into_any(),
            None => view! {
                <b>{meeting.source_name()}</b>
                " and "
                <b>{choice.name}</b>
                " will see each other and can send each other messages. Neither gets the other's files, control or output."
            }
            .into_any(),
        })
    };
    view! {
        <p id="peer-sentence" class="peer-sentence" role="status">
            {redrawn(words)}
        </p>
    }
}
