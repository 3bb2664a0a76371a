use leptos::prelude::*;

/// One line of text with its label and a hint.
#[component]
pub(crate) fn TextField(
    id: &'static str,
    #[prop(into)] label: String,
    value: RwSignal<String>,
    #[prop(default = "text")] kind: &'static str,
    #[prop(optional, into)] hint: String,
    /// Id of a `datalist` with suggestions.
    #[prop(optional)]
    list: Option<&'static str>,
    #[prop(optional)] autocomplete: Option<&'static str>,
) -> impl IntoView {
    let hint_id = format!("{id}-hint");
    view! {
        <div class="field">
            <label for=id>{label}</label>
            <input
                id=id
                type=kind
                autocomplete=autocomplete
                autocapitalize="off"
                spellcheck="false"
                list=list
                aria-describedby=hint_id.clone()
                prop:value=move || value.get()
                on:input=move |event| value.set(event_target_value(&event))
            />
            <small id=hint_id>{hint}</small>
        </div>
    }
}
