use leptos::prelude::*;

use crate::{components::when::TimeOfDay, console::use_console, live, redrawn::redrawn};

/// Whether this page is connected to the server. Separate from any Pod's state; after a gap it says how the page
/// caught up.
#[component]
pub(crate) fn ConnectionLine() -> impl IntoView {
    let console = use_console();
    view! {
        <div class="connection">
            {redrawn(move || console.is_outdated.get().then(|| view! { <Outdated /> }.into_any()))}
            <p role="status" class="gap">
                {redrawn(move || console.gap_words.get())}
            </p>
            {redrawn(move || {
                console.stale_since.get().map(|at| view! { <span class="since">"As of " <TimeOfDay at=at /></span> }.into_any())
            })}
            <p role="status" class=move || console.link.get().class() title=move || console.link.get().next()>
                <i aria-hidden="true"></i>
                {redrawn(move || console.link.get().words())}
            </p>
        </div>
    }
}

/// Says that this page runs an older build than the server.
#[component]
fn Outdated() -> impl IntoView {
    view! {
        <p role="status" class="outdated">
            <span>"The server was updated."</span>
            <button class="quiet" type="button" title="Drafts are kept" on:click=|_| live::reload()>
                "Reload"
            </button>
        </p>
    }
}
