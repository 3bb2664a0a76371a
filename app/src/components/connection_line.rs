use leptos::prelude::*;

use crate::{components::when::TimeOfDay, console::use_console};

/// Whether this page hears the server. It stands apart from any Pod's state, and says what it did after a gap.
#[component]
pub(crate) fn ConnectionLine() -> impl IntoView {
    let console = use_console();
    view! {
        <div class="connection">
            <p role="status" class="gap">
                {move || console.gap_words.get()}
            </p>
            {move || {
                console.stale_since.get().map(|at| view! { <span class="since">"shown as of " <TimeOfDay at=at /></span> })
            }}
            <p role="status" class=move || console.link.get().class()>
                <i aria-hidden="true"></i>
                {move || console.link.get().words()}
            </p>
        </div>
    }
    .into_any()
}
