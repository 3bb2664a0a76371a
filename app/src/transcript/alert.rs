use leptos::prelude::*;
use protocol::AlertLevel;
use transcript::unseen;

#[component]
pub(crate) fn AlertView(level: AlertLevel, source: String, text: String) -> impl IntoView {
    let (class, word) = match level {
        AlertLevel::Note => ("alert alert-note", "note"),
        AlertLevel::Warn => ("alert alert-warn", "warning"),
        AlertLevel::Error => ("alert alert-error", "error"),
    };
    view! {
        <p class=class>
            <b>{word}</b>
            <span>{unseen::shown(&source).into_owned()}</span>
            {unseen::shown(&text).into_owned()}
        </p>
    }
}
