use leptos::prelude::*;
use protocol::Timestamp;

use crate::console::use_console;

/// How long ago, with the whole moment as a tooltip.
#[component]
pub(crate) fn Age(at: Timestamp) -> impl IntoView {
    let clock = use_console().clock;
    view! {
        <time class="age" datetime=at.to_string() title=move || clock.full_time(at)>
            {move || clock.age(at)}
        </time>
    }
    .into_any()
}

/// The time of day.
#[component]
pub(crate) fn TimeOfDay(at: Timestamp) -> impl IntoView {
    let clock = use_console().clock;
    view! {
        <time datetime=at.to_string() title=move || clock.full_time(at)>
            {move || clock.time(at)}
        </time>
    }
    .into_any()
}

/// `just now`, `4 m ago`.
#[component]
pub(crate) fn Since(at: Timestamp) -> impl IntoView {
    let clock = use_console().clock;
    let words = move || match clock.age(at).as_str() {
        "now" => "just now".to_owned(),
        age => format!("{age} ago"),
    };
    view! {
        <time datetime=at.to_string() title=move || clock.full_time(at)>
            {words}
        </time>
    }
    .into_any()
}
