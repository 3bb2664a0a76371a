use leptos::prelude::*;
use serde_json::{Map, Value};

use crate::live;

/// A record of a newer kind: shown as it is, not dropped.
#[component]
pub(crate) fn UnknownView(kind: String, fields: Map<String, Value>) -> impl IntoView {
    let text = serde_json::to_string_pretty(&fields).unwrap_or_default();
    view! {
        <details class="unknown">
            <summary on:click=|_| live::log_stop_following()>
                "Record of an unknown kind: " <code>{kind}</code>
            </summary>
            <pre>{text}</pre>
        </details>
    }
}
