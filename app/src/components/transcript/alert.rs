use leptos::prelude::*;
use protocol::AlertLevel;

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
            <span>{source}</span>
            {text}
        </p>
    }
    .into_any()
}
