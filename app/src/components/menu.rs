use leptos::{ev, prelude::*};
use leptos_router::hooks::use_location;

use crate::live;

/// How long after the focus has left the menu to check where it went, in milliseconds.
const LEAVING_MS: u32 = 50;

/// A menu of secondary actions. Without a script it opens like any `details`; with one it closes on Escape, on
/// navigation, and when the focus goes elsewhere.
#[component]
pub(crate) fn Menu(
    /// The element's id, one per menu.
    id: &'static str,
    label: &'static str,
    /// The accessible name, where the label is only a sign.
    #[prop(optional)]
    name: Option<&'static str>,
    #[prop(optional)] class: Option<&'static str>,
    #[prop(optional)] is_open: RwSignal<bool>,
    children: Children,
) -> impl IntoView {
    let path = use_location().pathname;
    Effect::new(move |before: Option<String>| {
        let now = path.get();
        if before.is_some_and(|before| before != now) {
            is_open.set(false);
        }
        now
    });
    view! {
        <details
            id=id
            class="menu"
            prop:open=move || is_open.get()
            on:focusout=move |_| close_when_left(id, is_open)
            on:keydown=move |event| close_on_escape(id, is_open, &event)
        >
            <summary id=summary_id(id) class=class aria-label=name on:click=move |event| flip(id, is_open, &event)>
                {label}
            </summary>
            <div class="menu-list" on:click=move |_| is_open.set(false)>
                {children()}
            </div>
        </details>
    }
}

/// The id of the menu's visible part.
fn summary_id(id: &str) -> String {
    format!("{id}-summary")
}

/// Opens or closes the menu. Sets the focus explicitly, because not every browser does so on a press and the menu
/// closes when it loses the focus.
fn flip(id: &'static str, is_open: RwSignal<bool>, event: &ev::MouseEvent) {
    event.prevent_default();
    is_open.update(|is_open| *is_open = !*is_open);
    if is_open.get_untracked() {
        live::focus(&summary_id(id));
    }
}

/// Closes the menu once the focus is somewhere else.
fn close_when_left(id: &'static str, is_open: RwSignal<bool>) {
    live::after(LEAVING_MS, move || {
        if !live::is_at(id) {
            is_open.try_set(false);
        }
    });
}

fn close_on_escape(id: &'static str, is_open: RwSignal<bool>, event: &ev::KeyboardEvent) {
    if event.key() == "Escape" && is_open.get_untracked() {
        event.prevent_default();
        is_open.set(false);
        live::focus(&summary_id(id));
    }
}
