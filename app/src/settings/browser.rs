//! The settings that apply to this browser only and are stored in it.

use leptos::prelude::*;

use super::Section;
use crate::preferences::{SendKey, Theme};

#[component]
pub(crate) fn BrowserSection() -> impl IntoView {
    let theme = RwSignal::new(Theme::default());
    let send_key = RwSignal::new(SendKey::default());
    // Only the browser knows them; the server renders the defaults.
    Effect::new(move |_| {
        theme.set(Theme::kept());
        send_key.set(SendKey::kept());
    });
    let of_theme = move |choice: Theme| {
        let choose = move || {
            choice.choose();
            theme.set(choice);
        };
        view! { <Choice name="theme" title=choice.title() is_chosen=Signal::derive(move || theme.get() == choice) choose=choose /> }.into_any()
    };
    let of_key = move |choice: SendKey, title: &'static str| {
        let choose = move || {
            choice.keep();
            send_key.set(choice);
        };
        view! { <Choice name="send-key" title=title is_chosen=Signal::derive(move || send_key.get() == choice) choose=choose /> }.into_any()
    };
    view! {
        <Section id="browser" title="This browser">
            <p class="hint">"Kept in this browser only."</p>
            <fieldset class="choices">
                <legend>"Colours"</legend>
                {Theme::ALL.map(of_theme).collect_view()}
            </fieldset>
            <fieldset class="choices">
                <legend>"Sending a message"</legend>
                {of_key(SendKey::Enter, "Enter sends, Shift Enter is a new line")}
                {of_key(SendKey::CtrlEnter, "Ctrl Enter sends, Enter is a new line")}
            </fieldset>
            <noscript>
                <p class="hint">"This needs JavaScript."</p>
            </noscript>
        </Section>
    }
}

#[component]
fn Choice(
    name: &'static str,
    title: &'static str,
    is_chosen: Signal<bool>,
    choose: impl Fn() + 'static,
) -> impl IntoView {
    view! {
        <label>
            <input type="radio" name=name prop:checked=move || is_chosen.get() on:change=move |_| choose() />
            {title}
        </label>
    }
}
