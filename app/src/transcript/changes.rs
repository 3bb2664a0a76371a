use leptos::prelude::*;
use protocol::Seq;

use super::markup::Markup;
use crate::live;

/// A compaction: the summary that the model reads in place of what came before.
#[component]
pub(crate) fn CompactedView(summary: String, kept_from_seq: Seq) -> impl IntoView {
    view! {
        <details class="compacted">
            <summary on:click=|_| live::log_stop_following()>
                {format!("compacted: the model reads this summary instead of the records before {kept_from_seq}")}
            </summary>
            <Markup text=Signal::stored(summary) />
        </details>
    }
}
