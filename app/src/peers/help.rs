use leptos::prelude::*;

use crate::{components::dialog::Modal, live};

/// `:help peer`: what being peers means, and what it does not.
#[component]
pub(crate) fn PeerHelp() -> impl IntoView {
    view! {
        <Modal id="help" title="Peers".to_owned()>
            <div class="fields">
                <p>
                    "Two Pods that are peers find each other in ListPods and can write to each other with SendToPeerPod."
                </p>
                <p>
                    "Neither gets the other's files, control or output, and no other Pod sees them. A Pod can be both a child and a peer, with the rights of both."
                </p>
                <dl class="keys">
                    <dt><kbd>"p"</kbd></dt>
                    <dd>"Add a peer; or drag one Pod onto another in the list"</dd>
                    <dt><code>":peer NAME"</code></dt>
                    <dd>"Make another Pod a peer of this one"</dd>
                    <dt><code>":unpeer NAME"</code></dt>
                    <dd>"Remove a peer from either side, or withdraw a request"</dd>
                    <dt><kbd>"g m"</kbd></dt>
                    <dd>"Map of all Pods"</dd>
                </dl>
                <p>
                    "A new peer changes no conversation. If a Pod's peer policy is “ask”, you accept the request in Approvals; if it is “closed”, the Pod refuses. A message is held when too many automatic steps led to it, or too many come too fast: release or drop it on its card."
                </p>
            </div>
            <div class="acts">
                <button class="button" type="button" on:click=|_| live::close_dialog("help")>
                    "Close"
                </button>
            </div>
        </Modal>
    }
}
