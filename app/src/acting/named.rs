//! The Pods that a command can name, as completion offers them.

use commands::{
    Named, Sign, lower,
    peering::{NAMED_MAX, known, telling_name},
};

use protocol::{AgentChoice, Mode, PodSummary};

use super::AtHand;
use crate::{console::Console, peers::peering};

/// Pods whose name matches the part typed so far (`begun`) after the command `word`.
pub(crate) fn named(console: Console, at: Option<&AtHand>, word: &str, begun: &str) -> Vec<Named> {
    let peers = at.map(AtHand::peers).unwrap_or_default();
    match (word, at) {
        ("peer", Some(at)) => console.with_pods(|pods| {
            let all = peering::choices(pods, &at.summary.pod, &peers);
            let fitting = peering::fitting(&all, begun).into_iter().take(NAMED_MAX);
            fitting.map(|choice| Named { name: choice.name, what: choice.what, refusal: choice.refusal }).collect()
        }),
        ("unpeer", Some(_)) => known(&peers, begun),
        ("mode", Some(at)) => modes(&at.offers().modes, begun),
        ("open", _) => console.with_pods(|pods| {
            let fits = |pod: &&PodSummary| lower(pod.name.as_str()).starts_with(&lower(begun));
            let named =
                |pod| Named { name: telling_name(pods, pod), what: Sign::of(pod).word().to_owned(), refusal: None };
            pods.iter().filter(fits).take(NAMED_MAX).map(named).collect()
        }),
        _ => Vec::new(),
    }
}

/// The Pod's own modes, and those of its agent that have other names.
fn modes(of_agent: &[AgentChoice], begun: &str) -> Vec<Named> {
    let own = Mode::ALL.map(|mode| (mode.as_str().to_owned(), mode.about().to_owned()));
    let others = of_agent.iter().filter(|mode| mode.id.parse::<Mode>().is_err());
    let others = others.map(|mode| (mode.id.clone(), format!("{}, of its agent", mode.name)));
    let fits = |(name, _): &(String, String)| lower(name).contains(&lower(begun));
    let named = |(name, what)| Named { name, what, refusal: None };
    own.into_iter().chain(others).filter(fits).map(named).collect()
}
