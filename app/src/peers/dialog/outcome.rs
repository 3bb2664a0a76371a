use leptos::prelude::*;
use protocol::{PeerAnswer, PeerLink, PodRef};

use super::meeting::Meeting;
use crate::{
    console::exchange_href,
    live,
    peers::{
        revoke_button::{RevokeButton, UndoRevokeButton},
        withdraw_button::WithdrawButton,
    },
    redrawn::redrawn,
};

/// The two Pods and their current relation, for as long as the dialog is open.
#[component]
pub(super) fn OutcomeView(meeting: Meeting) -> impl IntoView {
    // The server's answer counts until the relation has been seen once; after that, the relation itself.
    let stands = Memo::new(move |before: Option<&Option<(PeerAnswer, Option<PeerLink>)>>| {
        let answer = meeting.answer.get()?;
        let seen = meeting.known.with(|known| known.iter().find(|view| view.pod == answer.peer).map(|view| view.link));
        let was_told = before.is_some_and(Option::is_some);
        let told = answer.state;
        Some((answer, if was_told { seen } else { seen.or(Some(told)) }))
    });
    view! {
        <div class="peer-outcome" role="status">
            {redrawn(move || stands.get().map(|(answer, link)| standing(meeting, answer, link)))}
        </div>
    }
}

/// Who has to accept the request: where both Pods are on one server, it is you.
fn pending_words(source: &PodRef, peer: &PodRef) -> &'static str {
    match source.runtime_id == peer.runtime_id {
        true => "Accept it in Approvals; it expires after 24 hours.",
        false => "It has to be accepted there, and expires after 24 hours.",
    }
}

fn standing(meeting: Meeting, answer: PeerAnswer, link: Option<PeerLink>) -> AnyView {
    let PeerAnswer { source, peer, .. } = answer;
    let (a, b) = untrack(|| (meeting.source_name(), meeting.peer_name(&peer)));
    let names = format!("{a} and {b}");
    let pair = view! { <b>{a.clone()}</b> " and " <b>{b.clone()}</b> }.into_any();
    match link {
        Some(PeerLink::Linked) => view! {
            <p><span class="ok">"✓ "</span> {pair} " are peers now."</p>
            <p><a href=exchange_href(&source, &peer) on:click=|_| live::close_dialog("peer")>"Messages between them"</a></p>
            <div class="peer-acts"><RevokeButton pod=source peer=peer names=names /></div>
        }
        .into_any(),
        Some(PeerLink::Pending) => view! {
            <p><b>{a}</b> ": peer request sent to " <b>{b}</b> "."</p>
            <p class="hint">{pending_words(&source, &peer)}</p>
            <div class="peer-acts"><WithdrawButton pod=source peer=peer /></div>
        }
        .into_any(),
        Some(PeerLink::OneSided) => view! {
            <p><span class="bad">"✗ "</span> {pair} ": one-sided, so no messages get through: the other server was removed here. Add it again, or unpeer them."</p>
            <div class="peer-acts"><RevokeButton pod=source peer=peer names=names /></div>
        }
        .into_any(),
        Some(PeerLink::Expired) => {
            view! { <p>{pair} " are not peers: nobody answered within 24 hours. You can send the request again."</p> }.into_any()
        }
        Some(PeerLink::Declined) | None => view! {
            <p>{pair} " are not peers: the request was declined or withdrawn, or the peer was removed."</p>
            <div class="peer-acts"><UndoRevokeButton pod=source peer=peer /></div>
        }
        .into_any(),
    }
}
