//! The Pods that a command can be about, as completion offers them.

use commands::{Named, Sign, lower};
use protocol::PeerLink;

use super::AtHand;
use crate::{console::Console, peers::peering};

/// So many names at most; more typing finds the others.
const NAMED_MAX: usize = 20;

/// Pods whose name fits what was `begun` after this command.
pub(crate) fn named(console: Console, at: Option<&AtHand>, word: &str, begun: &str) -> Vec<Named> {
    let peers = at.map(AtHand::peers).unwrap_or_default();
    let fits = |name: &str| lower(name).starts_with(&lower(begun));
    match (word, at) {
        ("peer", Some(at)) => console.with_pods(|pods| {
            let all = peering::choices(pods, &at.summary.pod, &peers);
            let fitting = peering::fitting(&all, begun).into_iter().take(NAMED_MAX);
            fitting.map(|choice| Named { name: choice.name, what: choice.what, refusal: choice.refusal }).collect()
        }),
        ("unpeer", Some(_)) => {
            let known = peers.iter().filter(|view| fits(view.name.as_str())).take(NAMED_MAX);
            known
                .map(|view| {
                    let link = if view.link == PeerLink::Pending { "request pending" } else { "peer" };
                    let what = format!("{link} · {}", view.state.as_str());
                    Named { name: view.name.to_string(), what, refusal: None }
                })
                .collect()
        }
        ("open", _) => console.with_pods(|pods| {
            let known = pods.iter().filter(|pod| fits(pod.name.as_str())).take(NAMED_MAX);
            known
                .map(|pod| Named {
                    name: peering::telling_name(pods, pod),
                    what: Sign::of(pod).word().to_owned(),
                    refusal: None,
                })
                .collect()
        }),
        _ => Vec::new(),
    }
}
