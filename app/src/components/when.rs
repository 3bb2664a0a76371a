use leptos::prelude::*;
use protocol::Timestamp;

use crate::{console::use_console, redrawn::redrawn};

/// How long ago, with the full time as a tooltip.
#[component]
pub(crate) fn Age(at: Timestamp) -> impl IntoView {
    let clock = use_console().clock;
    view! {
        <time class="age" datetime=at.to_string() title=move || clock.full_time(at)>
            {redrawn(move || clock.age(at))}
        </time>
    }
}

/// The time of day, and the date unless it is today: each in an element of its own, so that nothing beside it moves
/// when it is converted to the viewer's time zone. Where no script runs, it is marked as UTC.
#[component]
pub(crate) fn TimeOfDay(at: Timestamp) -> impl IntoView {
    let clock = use_console().clock;
    let words = Memo::new(move |_| clock.time(at));
    view! {
        <time
            class="moment"
            class:has-day=move || words.with(|words| words.contains(' '))
            datetime=at.to_string()
            title=move || clock.full_time(at)
        >
            {words}
            {redrawn(move || clock.is_utc().then(|| view! { <span class="utc">" UTC"</span> }.into_any()))}
        </time>
    }
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
            {redrawn(words)}
        </time>
    }
}
