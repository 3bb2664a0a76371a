use leptos::prelude::*;

use crate::{UiError, format::sentence_case, live, redrawn::redrawn};

/// An error, shown where it occurred. An expired login leads to the login page.
#[component]
pub(crate) fn Problem(#[prop(into)] error: Signal<Option<UiError>>) -> impl IntoView {
    Effect::new(move |_| {
        if error.with(|error| error.as_ref().is_some_and(UiError::is_unauthorized)) {
            live::go_to_login();
        }
    });
    view! {
        <div role="alert" class="problem-place">
            {redrawn(move || {
                error
                    .get()
                    .map(|error| {
                        view! {
                            <p class="problem" title=error.code().title()>
                                {sentence_case(error.sentence())}
                            </p>
                        }.into_any()
                    })
            })}
        </div>
    }
}
