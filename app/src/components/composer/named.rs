//! The Pods that a command can be about, as completion offers them.

use commands::Named;
use leptos::prelude::*;
use protocol::PeerLink;
use transcript::words::state_words;

use super::sending::Outgoing;
use crate::peering;

/// So many names at most; more typing finds the others.
const NAMED_MAX: usize = 20;

/// Pods whose name fits what was `begun` after this command.
pub(super) fn named(outgoing: Outgoing, word: &str, begun: &str) -> Vec<Named> {
    let (console, pod) = (outgoing.console, outgoing.pod);
    match word {
        "peer" => console.book.with(|book| {
            let pods = book.as_ref().map_or(&[][..], |book| book.pods());
            let all = pod.peers.with(|known| pod.pod.with_value(|pod| peering::choices(pods, pod, known)));
            let fitting = peering::fitting(&all, begun).into_iter().take(NAMED_MAX);
            fitting.map(|choice| Named { name: choice.name, what: choice.what, refusal: choice.refusal }).collect()
        }),
        "unpeer" => pod.peers.with(|known| {
            let fits = |name: &str| name.to_lowercase().starts_with(&begun.to_lowercase());
            let named = known.iter().filter(|view| fits(view.name.as_str())).take(NAMED_MAX);
            named
                .map(|view| {
                    let link = if view.link == PeerLink::Pending { "requested" } else { "linked" };
                    let what = format!("{link} · {}", state_words(view.state));
                    Named { name: view.name.to_string(), what, refusal: None }
                })
                .collect()
        }),
        _ => Vec::new(),
    }
}
