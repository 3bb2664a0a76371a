use leptos::prelude::*;
use leptos_router::hooks::use_location;

use crate::live;

/// How long after the focus has left it is looked where it went, in milliseconds.
const LEAVING_MS: u32 = 50;

/// What has no room beside the other things. Without a script it opens as any `details` does; with one it closes with
/// Escape, with another page, and when the focus goes elsewhere.
#[component]
pub(crate) fn Menu(
    /// Its element's id, one per menu.
    id: &'static str,
    label: &'static str,
    children: Children,
) -> impl IntoView {
    let path = use_location().pathname;
    let is_open = RwSignal::new(false);
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
            on:focusout=move |_| live::after(LEAVING_MS, move || {
                if !live::is_at(id) {
                    is_open.try_set(false);
                }
            })
            on:keydown=move |event| {
                if event.key() == "Escape" && is_open.get_untracked() {
                    event.prevent_default();
                    is_open.set(false);
                    live::focus(&format!("{id}-summary"));
                }
            }
        >
            <summary
                id=format!("{id}-summary")
                on:click=move |event| {
                    event.prevent_default();
                    is_open.update(|is_open| *is_open = !*is_open);
                }
            >
                {label}
            </summary>
            <div class="menu-list" on:click=move |_| is_open.set(false)>
                {children()}
            </div>
        </details>
    }
    .into_any()
}
