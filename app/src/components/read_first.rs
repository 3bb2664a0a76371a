use std::rc::Rc;

use leptos::prelude::*;
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    UiError, codec::Fetched, components::problem::Problem, console::use_console, reconnect::Outage, redrawn::redrawn,
};

/// Data that a page needs before it can be drawn: words while it loads; if it cannot be read, the reason and a retry
/// button.
#[component]
pub(crate) fn ReadFirst<T>(
    first: Fetched<Result<T, UiError>>,
    /// The words shown while it loads.
    wait: &'static str,
    draw: fn(T) -> AnyView,
) -> impl IntoView
where
    T: Clone + Send + Sync + Serialize + DeserializeOwned + 'static,
{
    view! {
        <Suspense fallback=move || view! { <p class="hint">{wait}</p> }.into_any()>
            {redrawn(move || {
                first
                    .get()
                    .map(|read| match read {
                        Ok(read) => draw(read),
                        Err(error) => view! { <Unreadable error=error again=move || first.refetch() /> }.into_any(),
                    })
            })}
        </Suspense>
    }
}

/// Why something cannot be read, and a retry button.
#[component]
pub(crate) fn Unreadable(error: UiError, again: impl Fn() + 'static) -> impl IntoView {
    view! {
        <Problem error=Signal::stored(Some(error)) />
        <p>
            <TryAgain again=again />
        </p>
    }
}

/// The button that reads again what could not be read. After an outage it needs no press.
#[component]
pub(crate) fn TryAgain(again: impl Fn() + 'static) -> impl IntoView {
    try_again(Rc::new(again))
}

fn try_again(again: Rc<dyn Fn()>) -> AnyView {
    let console = use_console();
    let reads = again.clone();
    Effect::new(move |outage: Option<Outage>| {
        let mut outage = outage.unwrap_or_default();
        if outage.is_over(console.link.get()) {
            reads();
        }
        outage
    });
    view! {
        <button class="button" type="button" on:click=move |_| again()>
            "Try again"
        </button>
    }
    .into_any()
}
