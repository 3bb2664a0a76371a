use leptos::{prelude::*, task::spawn_local};
use protocol::{OpenRequest, PodRef, RequestCommand, RequestDecision};

use crate::{
    UiError,
    components::{abroad::abroad, problem::Problem, when::Since},
    console::{fresh_command, pod_href},
    live,
    server_fns::decide_request,
};

/// A request to be introduced: who asks whom, and why. `is_open` turns false when it was answered elsewhere.
#[component]
pub(crate) fn RequestCard(request: OpenRequest, #[prop(into)] is_open: Signal<bool>) -> impl IntoView {
    let decided = RwSignal::new(None::<RequestDecision>);
    let OpenRequest { request_id, from, from_name, to, to_name, note, at, .. } = request;
    let label = format!("{from_name} asks to be a peer of {to_name}");
    let (from_href, to_href) = (pod_href(&from), pod_href(&to));
    let (from_home, to_home) = (abroad(&from), abroad(&to));
    let shows_acts = Memo::new(move |_| is_open.get() && decided.get().is_none());
    let outcome = move || match (decided.get(), is_open.get()) {
        (Some(RequestDecision::Accept), _) => Some("accepted: they are peers now"),
        (Some(RequestDecision::Decline), _) => Some("declined: they are not peers"),
        (None, false) => Some("answered elsewhere, withdrawn or expired"),
        (None, true) => None,
    };
    view! {
        <article class="request" class:ask=move || shows_acts.get() tabindex="-1" aria-label=label>
            <header>
                <p>
                    <a class="pod-link" href=from_href>{from_name.to_string()} {from_home}</a>
                    " asks to be a peer of "
                    <a class="pod-link" href=to_href>{to_name.to_string()} {to_home}</a>
                </p>
                <span class="figure"><Since at=at /></span>
            </header>
            {note.map(|note| view! { <blockquote>{note}</blockquote> }.into_any())}
            <p class="hint" role="status">{outcome}</p>
            <div class:is-hidden=move || !shows_acts.get()>
                <small>"They would see each other and could send each other messages. Neither gets the other's files, control or output."</small>
                <RequestActs to=to request_id=request_id decided=decided />
            </div>
        </article>
    }
    .into_any()
}

/// Accept or decline, for the Pod that was asked.
#[component]
pub(crate) fn RequestActs(to: PodRef, request_id: String, decided: RwSignal<Option<RequestDecision>>) -> impl IntoView {
    let error = RwSignal::new(None::<UiError>);
    let is_sending = RwSignal::new(false);
    let decide = move |decision: RequestDecision| {
        if is_sending.get_untracked() {
            return;
        }
        is_sending.set(true);
        error.set(None);
        let (to, request_id) = (to.clone(), request_id.clone());
        spawn_local(async move {
            let done = decide_request(to, fresh_command(), request_id, RequestCommand { decision }).await;
            is_sending.try_set(false);
            match done {
                Ok(_) => {
                    decided.try_set(Some(decision));
                    live::focus_content();
                }
                Err(refusal) => drop(error.try_set(Some(refusal))),
            }
        });
    };
    let decline = decide.clone();
    view! {
        <div class="request-acts">
            <button
                type="button"
                class="button primary"
                aria-disabled=move || is_sending.get().to_string()
                on:click=move |_| decide(RequestDecision::Accept)
            >
                "Accept"
            </button>
            <button
                type="button"
                class="button"
                aria-disabled=move || is_sending.get().to_string()
                on:click=move |_| decline(RequestDecision::Decline)
            >
                "Decline"
            </button>
        </div>
        <Problem error=error />
    }
    .into_any()
}
