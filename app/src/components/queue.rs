use leptos::prelude::*;
use protocol::QueuedInput;

use crate::components::transcript::use_pod;

/// Messages that are stored and wait for the present run to end.
#[component]
pub(crate) fn Queue() -> impl IntoView {
    let pod = use_pod();
    let queued = Memo::new(move |_| pod.detail.with(|detail| detail.queued.clone()));
    view! {
        <Show when=move || queued.with(|queued| !queued.is_empty())>
            <ol class="queue" aria-label="Queued messages">
                <For each=move || queued.get() key=|input| input.command_id.clone() let:input>
                    <li>
                        <span class="tag">"queued"</span>
                        <span class="queued-text">{words(&input)}</span>
                    </li>
                </For>
            </ol>
        </Show>
    }
    .into_any()
}

fn words(input: &QueuedInput) -> String {
    input.segments.iter().map(|segment| segment.as_text().into_owned()).collect::<Vec<_>>().join(" ")
}
