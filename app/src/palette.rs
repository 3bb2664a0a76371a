//! The palette: Pods, pages and commands in one list. A line that begins with `:` is a command, as in the composer.

mod list;
mod search;

use leptos::{ev, prelude::*, task::spawn_local};
use leptos_router::hooks::use_navigate;
use protocol::PodRef;

use self::{
    list::PaletteList,
    search::{Found, Next, Search},
};
use crate::{
    acting,
    components::{dialog::Modal, problem::Problem},
    console::{Dialog, use_console},
    live,
};

#[component]
pub(crate) fn PaletteDialog(pod: Option<PodRef>) -> impl IntoView {
    let console = use_console();
    let search = Search::new(console, pod);
    let navigate = use_navigate();
    // Another dialog can take the focus only after this one has given it back.
    let after = Callback::new(move |()| match search.next.try_update_value(Option::take).flatten() {
        None => (),
        Some(Next::Dialog(dialog)) => console.dialog.set(Some(*dialog)),
        Some(Next::Visit(href)) => navigate(&href, Default::default()),
        Some(Next::Write(text)) => {
            if let Some(at) = untrack(|| search.at_hand()) {
                at.write(text);
            }
        }
        Some(Next::Run(command)) => {
            let (at, navigate) = (untrack(|| search.at_hand()), navigate.clone());
            spawn_local(async move {
                match acting::run(console, at, command).await {
                    Ok(Some(href)) => navigate(&href, Default::default()),
                    Ok(None) => (),
                    Err(refusal) => console.fail(&refusal),
                }
            });
        }
    });
    let label = move || match search.at_hand() {
        Some(at) => format!("Pods, pages, commands to {}", at.summary.name),
        None => "Pods, pages, commands".to_owned(),
    };
    view! {
        <Modal id="palette" title="Palette".to_owned() after=after>
            <div class="palette">
                <input
                    id="palette-field"
                    type="text"
                    role="combobox"
                    autofocus=true
                    autocomplete="off"
                    autocapitalize="off"
                    spellcheck="false"
                    aria-label=label
                    placeholder=label
                    aria-autocomplete="list"
                    aria-expanded="true"
                    aria-controls="palette-list"
                    aria-activedescendant=move || search.chosen.get().map(|chosen| format!("palette-{chosen}"))
                    prop:value=move || search.typed.get()
                    on:input=move |event| search.type_in(event_target_value(&event))
                    on:keydown=move |event| on_key(search, &event)
                />
                <PaletteList search=search />
                <Problem error=search.error />
                <p class="palette-keys hint" aria-hidden="true">
                    <kbd>"↑"</kbd>
                    <kbd>"↓"</kbd>
                    " choose "
                    <kbd>"Enter"</kbd>
                    " do it "
                    <kbd>":"</kbd>
                    " commands "
                    <kbd>"Esc"</kbd>
                    " close"
                </p>
            </div>
        </Modal>
    }
}

fn on_key(search: Search, event: &ev::KeyboardEvent) {
    if event.is_composing() {
        return;
    }
    let step = |by: isize| {
        event.prevent_default();
        search.step(by);
        if let Some(chosen) = search.chosen.get_untracked() {
            live::reveal(&format!("palette-{chosen}"));
        }
    };
    match event.key().as_str() {
        "ArrowDown" => step(1),
        "ArrowUp" => step(-1),
        "PageDown" => step(8),
        "PageUp" => step(-8),
        "Enter" => {
            event.prevent_default();
            search.enter();
        }
        "Tab" if search.complete() => event.prevent_default(),
        _ => (),
    }
}

/// Opens the palette for this Pod, or closes it if it is open.
pub(crate) fn flip(console: crate::console::Console, pod: Option<PodRef>) {
    match console.dialog.with_untracked(|dialog| dialog.is_some()) {
        true => live::close_dialog("palette"),
        false => console.dialog.set(Some(Dialog::Palette(pod))),
    }
}
