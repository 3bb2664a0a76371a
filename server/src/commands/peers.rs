use anyhow::Result;
use jiff::Timestamp;
use protocol::{CommandId, PeerAnswer, PeerCommand, PeerLink, PeerView};
use protocol::{operation::Page, operations};
use transcript::words::actor_words;

use super::{Caller, ago, name_of};
use crate::{
    cli::{PairOptions, PeerOptions},
    output,
};

/// Makes two Pods peers. The server resolves the second one, so that its refusals are in its audit.
pub(super) async fn introduce(caller: &Caller, options: PeerOptions) -> Result<()> {
    let pod = caller.resolve(&options.source).await?;
    let command = PeerCommand { target: options.target.clone(), note: options.note };
    let made = caller
        .client
        .carry_out(&CommandId::random(), &operations::Introduce { pod: pod.clone(), body: command.clone() })
        .await?;
    let answer = made.answer;
    match caller.config.json {
        true => output::json(&answer),
        false => output::line(&introduced(&options.source, &options.target, &answer)),
    }
}

/// The result of a peer request, in a sentence.
pub(super) fn introduced(source: &str, target: &str, answer: &PeerAnswer) -> String {
    match (answer.state, answer.request_id.as_deref()) {
        (PeerLink::Linked, _) => format!("{source} and {target} are peers"),
        (PeerLink::Pending, Some(id)) => {
            format!("peer request sent to {target}; `yoi accept {target} {id}` accepts it")
        }
        (state, _) => format!("{source} and {target}: {}", word(state)),
    }
}

/// Ends a pair of peers, or withdraws a request.
pub(super) async fn unlink(caller: &Caller, options: PairOptions) -> Result<()> {
    let pod = caller.resolve(&options.source).await?;
    let peer = caller.resolve(&options.target).await?;
    caller.client.carry_out(&CommandId::random(), &operations::Unlink { pod: pod.clone(), peer: peer.clone() }).await?;
    match caller.config.json {
        true => output::json(&serde_json::json!({ "source": pod, "peer": peer, "state": "unlinked" })),
        false => output::line(&format!("{} and {} are no longer peers", options.source, options.target)),
    }
}

/// Prints the peers of a Pod, and its open peer requests.
pub(super) async fn peers(caller: &Caller, target: &str) -> Result<()> {
    let pod = caller.resolve(target).await?;
    let listing = caller.client.read(&operations::Peers { pod: pod.clone(), page: Page::default() }).await?;
    if caller.config.json {
        return output::json(&listing);
    }
    if listing.items.is_empty() {
        output::note(&format!("{target} has no peers; `yoi peer {target} NAME` adds one"));
        return Ok(());
    }
    output::headed(["NAME", "STATE", "LINK", "SINCE", "BY", "REQUEST", "NOTE"], listing.items.iter().map(row))
}

fn row(peer: &PeerView) -> [String; 7] {
    let link = match (peer.link, peer.is_asked) {
        (PeerLink::Pending, true) => "request received".to_owned(),
        (PeerLink::Pending, false) => "request sent".to_owned(),
        (link, _) => word(link).to_owned(),
    };
    [
        name_of(&peer.name, &peer.pod),
        peer.state.as_str().to_owned(),
        link,
        ago(peer.since, Timestamp::now()),
        actor_words(&peer.by).to_owned(),
        peer.request_id.clone().unwrap_or_default(),
        peer.note.clone().unwrap_or_default(),
    ]
}

fn word(link: PeerLink) -> &'static str {
    match link {
        PeerLink::Linked => "peer",
        PeerLink::Pending => "pending",
        PeerLink::OneSided => "one-sided",
        PeerLink::Declined => "declined",
        PeerLink::Expired => "expired",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adding_a_peer_says_what_happened_and_what_comes_next() {
        let answer = |fields: serde_json::Value| -> PeerAnswer {
            let pod = |worker: &str| serde_json::json!({ "runtime_id": "local", "worker_id": worker });
            let mut answer = serde_json::json!({ "source": pod("1"), "peer": pod("2") });
            answer.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
            serde_json::from_value(answer).unwrap()
        };
        let linked = answer(serde_json::json!({ "state": "linked" }));
        assert_eq!(introduced("ada", "bob", &linked), "ada and bob are peers");
        let pending = answer(serde_json::json!({ "state": "pending", "request_id": "r-1" }));
        assert_eq!(introduced("ada", "bob", &pending), "peer request sent to bob; `yoi accept bob r-1` accepts it");
    }
}
