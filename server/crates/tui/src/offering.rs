//! What is offered for the command that is typed.

use commands::{
    Named, Offer, Sign, fit,
    peering::{NAMED_MAX, cannot_be_peer, known, telling_name},
    preselected,
};
use protocol::PodSummary;

use crate::model::{LineOf, Model, Waiting};

/// The offers for the line that is typed now; none when it is no command.
pub(crate) fn offers(model: &Model) -> Vec<Offer> {
    let Some(line) = model.line.as_ref().filter(|line| line.what == LineOf::Command) else { return Vec::new() };
    let text = format!(":{}", line.text.text());
    let mut offers = commands::offers(&text, model.here(), |word, begun| named(model, word, begun));
    for offer in offers.iter_mut().filter(|offer| offer.refusal.is_none()) {
        offer.refusal = refusal(model, &offer.line);
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

/// Why this command about what waits does nothing now.
fn refusal(model: &Model, word: &str) -> Option<&'static str> {
    let waiting = model.open.as_ref()?.waiting();
    let is_held = |waiting: &Waiting| matches!(waiting, Waiting::Held { .. });
    match word {
        "unqueue" if waiting.iter().all(is_held) => Some("the queue is empty"),
        "release" | "drop" if !waiting.iter().any(is_held) => Some("no messages are held"),
        _ => None,
    }
}

/// Pods whose name fits what was `begun` after this command.
fn named(model: &Model, word: &str, begun: &str) -> Vec<Named> {
    match (word, &model.open) {
        ("open", _) => fitting(model, begun, |_| None),
        ("peer", Some(open)) => fitting(model, begun, |pod| cannot_be_peer(pod, &open.pod, &open.peers)),
        ("unpeer", Some(open)) => known(&open.peers, begun),
        ("delete", Some(open)) => {
            let name = model.name_of(&open.pod);
            let what = "its own name, to be sure".to_owned();
            if name.starts_with(begun) { vec![Named { name, what, refusal: None }] } else { Vec::new() }
        }
        _ => Vec::new(),
    }
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
