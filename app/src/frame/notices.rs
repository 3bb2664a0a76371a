use leptos::prelude::*;

use crate::{
    console::{Level, use_console},
    frame::revocations::Revocations,
};

/// Notices below the page, never covering anything that can be pressed. Notes disappear by themselves; errors stay
/// until they are dismissed.
#[component]
pub(crate) fn Notices() -> impl IntoView {
    let console = use_console();
    view! {
        <div class="notices" role="status">
            <For each=move || console.notices.get() key=|notice| notice.id let:notice>
                <p class="notice" class:notice-error=notice.level == Level::Error>
                    <span>{notice.text.clone()}</span>
                    <button
                        class="quiet"
                        type="button"
                        aria-label="Dismiss"
                        on:click=move |_| console.dismiss(notice.id)
                    >
                        "×"
                    </button>
                </p>
            </For>
            <Revocations />
        </div>
    }
}
