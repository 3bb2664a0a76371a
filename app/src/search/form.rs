use leptos::{html::Input, prelude::*};
use leptos_router::{NavigateOptions, hooks::use_navigate};

use super::{Asked, FIELD};
use crate::live;

/// Rest after a key before the words are looked for, in milliseconds.
const REST_MS: u32 = 200;

/// A form that works without a script; with one it looks while one types, and the address goes along.
///
/// The text is the browser's own: what is typed before the page lives stays.
#[component]
pub(crate) fn SearchForm(asked: Memo<Asked>) -> impl IntoView {
    let field = NodeRef::<Input>::new();
    let typed = move || field.get_untracked().map(|field| field.value()).unwrap_or_default();
    let navigate = use_navigate();
    // What this form itself has put into the address: no reason to put it into the field.
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
            {move || within().map(|pod| view! { <input type="hidden" name="pod" value=pod /> }.into_any())}
            <button type="submit" class="button">
                "Search"
            </button>
        </form>
    }
}

/// The field follows an address that changed by other means, and has the focus when nothing is looked for.
fn keep_in_step(asked: Memo<Asked>, field: NodeRef<Input>, sent: StoredValue<String>, look: Callback<()>) {
    Effect::new(move |was_there: Option<bool>| {
        let words = asked.with(|asked| asked.words.clone());
        // A part of the page that is fetched first is drawn after its effects have run.
        let Some(field) = field.get() else { return false };
        if was_there != Some(true) {
            // Typed while the page came.
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
