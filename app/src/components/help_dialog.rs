use leptos::prelude::*;

use crate::{components::dialog::Modal, keys, live};

#[component]
pub(crate) fn HelpDialog() -> impl IntoView {
    view! {
        <Modal id="help" title="Keys".to_owned()>
            <dl class="keys">
                {keys::SHEET
                    .into_iter()
                    .map(|(key, meaning)| {
                        let keys = key.split("  ").map(|key| view! { <kbd>{key}</kbd> }).collect_view();
                        view! {
                            <dt>{keys}</dt>
                            <dd>{meaning}</dd>
                        }
                    })
                    .collect_view()}
            </dl>
            <div class="acts">
                <button class="button" type="button" on:click=|_| live::close_dialog("help")>
                    "Close"
                </button>
            </div>
        </Modal>
    }
    .into_any()
}
