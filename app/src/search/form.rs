use leptos::{html::Input, prelude::*};
use leptos_router::{NavigateOptions, hooks::use_navigate};

use super::{Asked, FIELD};
use crate::{live, redrawn::redrawn};

/// How long typing must pause before the search runs, in milliseconds.
const REST_MS: u32 = 200;

/// A form that works without a script; with one it searches as you type and keeps the address in step.
///
/// The input's value is the browser's own, so that text typed before hydration is kept.
#[component]
pub(crate) fn SearchForm(asked: Memo<Asked>) -> impl IntoView {
    let field = NodeRef::<Input>::new();
    let typed = move || field.get_untracked().map(|field| field.value()).unwrap_or_default();
    let navigate = use_navigate();
    // The words that this form itself put into the address, which must not be written back into the field.
    let sent = StoredValue::new(asked.with_untracked(|asked| asked.words.clone()));
    let look = Callback::new(move |()| {
        let Some(next) = asked.try_with_untracked(|asked| asked.with_words(&typed())) else { return };
        if asked.with_untracked(|asked| asked.words != next.words) {
            sent.set_value(next.words.clone());
            navigate(&next.href(), NavigateOptions { replace: true, scroll: false, ..Default::default() });
        }
    });
    let keys = StoredValue::new(0_u64);
    let pressed = move || {
        keys.update_value(|keys| *keys += 1);
        keys.get_value()
    };
    let on_input = move |_| {
        let mine = pressed();
        live::after(REST_MS, move || {
            if keys.try_get_value() == Some(mine) {
                look.run(());
            }
        });
    };
    let on_submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        pressed();
        look.run(());
    };
    keep_in_step(asked, field, sent, look);
    let within = move || asked.with(|asked| asked.pod.clone());
    view! {
        <form class="search-form" role="search" action="/search" method="get" on:submit=on_submit>
            <input
                id=FIELD
                type="search"
                name="q"
                aria-label="Search for"
                placeholder="Search all transcripts"
                autocomplete="off"
                spellcheck="false"
                value=asked.with_untracked(|asked| asked.words.clone())
                node_ref=field
                on:input=on_input
                on:keydown=|event| {
                    if event.key() == "ArrowDown" {
                        event.prevent_default();
                        live::move_row(1);
                    }
                }
            />
            {redrawn(move || within().map(|pod| view! { <input type="hidden" name="pod" value=pod /> }.into_any()))}
            <button type="submit" class="button">
                "Search"
            </button>
        </form>
    }
}

/// Updates the field when the address changes by other means, and focuses it when nothing is searched for.
fn keep_in_step(asked: Memo<Asked>, field: NodeRef<Input>, sent: StoredValue<String>, look: Callback<()>) {
    Effect::new(move |was_there: Option<bool>| {
        let words = asked.with(|asked| asked.words.clone());
        // In a lazily fetched part the field is drawn after its effects have run.
        let Some(field) = field.get() else { return false };
        if was_there != Some(true) {
            // Search for what was typed while the page was loading.
            look.run(());
        } else if sent.get_value() != words {
            field.set_value(&words);
            sent.set_value(words.clone());
        }
        if words.is_empty() {
            live::begin_in(FIELD);
        }
        true
    });
}
