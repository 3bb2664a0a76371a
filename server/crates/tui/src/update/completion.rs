//! What is offered for the command that is typed, and what Tab and the arrows make of it.

use commands::{Named, Offer, Sign, fit, preselected};
use protocol::{PeerLink, PeerView, PodRef, PodState, PodSummary};

use crate::{
    composer::Composer,
    model::{LineOf, Model},
};

/// So many names at most; more typing finds the others.
const NAMED_MAX: usize = 20;

/// The offers for the line that is typed now; none when it is no command.
pub(crate) fn offers(model: &Model) -> Vec<Offer> {
    let Some(line) = model.line.as_ref().filter(|line| line.what == LineOf::Command) else { return Vec::new() };
    let text = format!(":{}", line.text.text());
    let mut offers = commands::offers(&text, model.here(), |word, begun| named(model, word, begun));
    for offer in offers.iter_mut().filter(|offer| offer.refusal.is_none()) {
        offer.refusal = super::queue::refusal(model, &offer.line);
    }
    offers.sort_by_key(|offer| offer.refusal.is_some());
    offers
}

/// Where the choice stands, if there is one.
pub(crate) fn choice(model: &Model, offers: &[Offer]) -> Option<usize> {
    let line = model.line.as_ref()?;
    let chosen = line.chosen.filter(|chosen| *chosen < offers.len());
    chosen.or_else(|| preselected(offers, &format!(":{}", line.text.text())))
}

pub(super) fn choose(model: &mut Model, step: isize) {
    let offers = offers(model);
    let at = choice(model, &offers);
    let is_chosen = model.line.as_ref().is_some_and(|line| line.chosen.is_some());
    if let Some(line) = &mut model.line
        && !offers.is_empty()
    {
        // The first press says that the choice counts, and moves it only where the line has that one already.
        let to = match (at, step) {
            (None, 1) => 0,
            (None, _) => offers.len() - 1,
            (Some(at), 1) if !is_chosen && !offers[at].is_typed_in(&format!(":{}", line.text.text())) => at,
            (Some(at), step) => (at + offers.len()).saturating_add_signed(step) % offers.len(),
        };
        line.chosen = Some(to);
    }
}

/// Puts the choice into the line, or the first that fits what has been begun.
pub(super) fn take(model: &mut Model) {
    let offers = offers(model);
    let is_begun = model.line.as_ref().is_some_and(|line| !line.text.is_empty());
    let at = choice(model, &offers).or(is_begun.then_some(0));
    let Some(offer) = at.and_then(|at| offers.get(at)) else { return };
    let wants_more = !offer.argument.is_empty();
    if let Some(line) = &mut model.line {
        line.text = Composer::with(format!("{}{}", offer.line, if wants_more { " " } else { "" }));
        line.chosen = None;
    }
}

/// The arrows have chosen a command that needs something after it.
pub(super) fn is_begun(model: &Model) -> bool {
    let offers = offers(model);
    let chosen = model.line.as_ref().and_then(|line| line.chosen).and_then(|chosen| offers.get(chosen));
    chosen.is_some_and(|offer| !offer.argument.is_empty() && offer.refusal.is_none())
}

/// What the arrows have chosen.
pub(super) fn chosen(model: &Model) -> Option<String> {
    let chosen = model.line.as_ref()?.chosen?;
    offers(model).get(chosen).map(|offer| offer.line.clone())
}

/// Pods whose name fits what was `begun` after this command.
fn named(model: &Model, word: &str, begun: &str) -> Vec<Named> {
    match (word, &model.open) {
        ("open", _) => fitting(model, begun, |_| None),
        ("peer", Some(open)) => fitting(model, begun, |pod| peer_refusal(pod, &open.pod, &open.peers)),
        ("unpeer", Some(open)) => {
            let fits = |view: &&PeerView| view.name.as_str().to_lowercase().starts_with(&begun.to_lowercase());
            open.peers.iter().filter(fits).take(NAMED_MAX).map(known).collect()
        }
        ("delete", Some(open)) => {
            let name = model.name_of(&open.pod);
            let what = "its own name, to be sure".to_owned();
            if name.starts_with(begun) { vec![Named { name, what, refusal: None }] } else { Vec::new() }
        }
        _ => Vec::new(),
    }
}

fn known(view: &PeerView) -> Named {
    let link = if view.link == PeerLink::Pending { "requested" } else { "linked" };
    Named { name: view.name.to_string(), what: format!("{link} · {}", view.state.as_str()), refusal: None }
}

fn fitting(model: &Model, begun: &str, refusal: impl Fn(&PodSummary) -> Option<&'static str>) -> Vec<Named> {
    let names: Vec<String> = model.pods.iter().map(|pod| telling_name(&model.pods, pod)).collect();
    let mut named: Vec<Named> = fit(begun, names.iter().map(String::as_str))
        .into_iter()
        .map(|fit| {
            let pod = &model.pods[fit.index];
            let what = format!("{} · {} · {}", Sign::of(pod).word(), pod.pod.runtime_id, pod.cwd);
            Named { name: names[fit.index].clone(), what, refusal: refusal(pod) }
        })
        .collect();
    // A name that is typed in full is meant, whatever fits better.
    named.sort_by_key(|pod| (pod.name != begun, pod.refusal.is_some()));
    named.truncate(NAMED_MAX);
    named
}

fn peer_refusal(pod: &PodSummary, source: &PodRef, known: &[PeerView]) -> Option<&'static str> {
    if pod.pod == *source {
        return Some("is this Pod itself");
    }
    match (known.iter().find(|view| view.pod == pod.pod), pod.state) {
        (Some(view), _) if view.link == PeerLink::Linked => Some("is a peer already"),
        (Some(view), _) if view.link == PeerLink::Pending && !view.is_asked => Some("was asked, and has not answered"),
        (_, PodState::Unreachable) => Some("its runtime does not answer"),
        (_, PodState::Broken) => Some("its record cannot be read"),
        _ => None,
    }
}

/// `bob`, or `bob@gpu-box` where there are two of this name.
fn telling_name(pods: &[PodSummary], pod: &PodSummary) -> String {
    let is_alone = pods.iter().filter(|other| other.name == pod.name).count() < 2;
    if is_alone { pod.name.to_string() } else { format!("{}@{}", pod.name, pod.pod.runtime_id) }
}
