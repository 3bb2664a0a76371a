use leptos::prelude::*;

use crate::{components::dialog::Modal, live};

/// `:help peer`: what it is to be introduced, and what it is not.
#[component]
pub(crate) fn PeerHelp() -> impl IntoView {
    view! {
        <Modal id="help" title="Peers".to_owned()>
            <div class="fields">
                <p>
                    "Two Pods that were introduced are peers. Each finds the other in ListPods and can write to it with SendToPeerPod."
                </p>
                <p>
                    "Neither gets files, control, or output of the other, and nobody else sees either. A Pod can be a child and a peer at once and keeps both rights."
                </p>
                <dl class="keys">
                    <dt><kbd>"p"</kbd></dt>
                    <dd>"introduce a Pod; or drag one onto another in the list"</dd>
                    <dt><code>":peer NAME"</code></dt>
                    <dd>"introduce this Pod to another one"</dd>
                    <dt><code>":unpeer NAME"</code></dt>
                    <dd>"end a link from either side, or withdraw a request"</dd>
                    <dt><kbd>"g m"</kbd></dt>
                    <dd>"the map of all of them"</dd>
                </dl>
                <p>
                    "An introduction touches no conversation. A Pod whose policy is to ask has to accept it in Approvals; a closed one refuses. A message is held when it is too far from a person or comes too fast: release or drop it on its card."
                </p>
            </div>
            <div class="acts">
                <button class="button" type="button" on:click=|_| live::close_dialog("help")>
                    "Close"
                </button>
            </div>
        </Modal>
    }
    .into_any()
}
