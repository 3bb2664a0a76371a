use leptos::prelude::*;
use protocol::{OpenRequest, PodRef, RequestCommand, RequestDecision};

use crate::{
    components::{
        deed::{Deed, DeedButton},
        link::far_pod_link,
        problem::Problem,
        when::Since,
    },
    console::fresh_command,
    live,
    redrawn::redrawn,
    server_fns::decide_request,
};

/// A peer request: who asks whom, and why. `is_open` turns false when it is answered elsewhere.
#[component]
pub(crate) fn RequestCard(request: OpenRequest, #[prop(into)] is_open: Signal<bool>) -> impl IntoView {
    let decided = RwSignal::new(None::<RequestDecision>);
    let OpenRequest { request_id, from, from_name, to, to_name, note, at, .. } = request;
    let card = card_id(&request_id);
    let label = format!("{from_name} asks to be a peer of {to_name}");
    let shows_acts = Memo::new(move |_| is_open.get() && decided.get().is_none());
    let outcome = move || match (decided.get(), is_open.get()) {
        (Some(RequestDecision::Accept), _) => Some("accepted: they are peers now"),
        (Some(RequestDecision::Decline), _) => Some("declined: they are not peers"),
        (None, false) => Some("answered elsewhere, withdrawn or expired"),
        (None, true) => None,
    };
    view! {
        <article id=card class="request" class:ask=move || shows_acts.get() tabindex="-1" aria-label=label>
            <header>
                <p>
                    {far_pod_link(&from, from_name)}
                    " asks to be a peer of "
                    {far_pod_link(&to, to_name)}
                </p>
                <span class="figure"><Since at=at /></span>
            </header>
            {note.map(|note| view! { <blockquote>{note}</blockquote> }.into_any())}
            <p class="hint" role="status">{redrawn(outcome)}</p>
            <div class:is-hidden=move || !shows_acts.get()>
                <small>"They would see each other and could send each other messages. Neither gets the other's files, control or output."</small>
                <RequestActs to=to request_id=request_id decided=decided />
            </div>
        </article>
    }
}

fn card_id(request_id: &str) -> String {
    format!("request-{request_id}")
}

/// The accept and decline buttons, for the Pod that was asked.
#[component]
pub(crate) fn RequestActs(to: PodRef, request_id: String, decided: RwSignal<Option<RequestDecision>>) -> impl IntoView {
    let deed = Deed::default();
    let decide = move |decision: RequestDecision| {
        let (to, request_id) = (to.clone(), request_id.clone());
        deed.begin(Box::pin(async move {
            decide_request(to, fresh_command(), request_id.clone(), RequestCommand { decision }).await?;
            decided.try_set(Some(decision));
            live::focus_card(&card_id(&request_id));
            Ok(())
        }));
    };
    let decline = decide.clone();
    view! {
        <div class="request-acts">
            <DeedButton
                deed=deed
                words="Accept"
                class="button primary"
                press=move || decide(RequestDecision::Accept)
            />
            <DeedButton deed=deed words="Decline" press=move || decline(RequestDecision::Decline) />
        </div>
        <Problem error=deed.error />
    }
}
