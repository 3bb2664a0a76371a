use leptos::prelude::*;

use crate::components::copy_button::CopyButton;

/// Code with its language and a way to copy it.
#[component]
pub(crate) fn CodeBlock(language: Option<String>, text: String) -> impl IntoView {
    let copied = text.clone();
    let label = language.clone().map_or_else(|| "Code".to_owned(), |language| format!("Code, {language}"));
    view! {
        <figure class="code">
            <figcaption>
                <span>{language}</span>
                <CopyButton label="copy" text=move || copied.clone() />
            </figcaption>
            <pre tabindex="0" role="group" aria-label=label>
                <code>{text}</code>
            </pre>
        </figure>
    }
    .into_any()
}
