//! Completions for the command being typed.

use commands::{
    Named, Offer, Prompt, Sign, fit,
    making::facts_of,
    peering::{NAMED_MAX, cannot_be_peer, known, telling_name},
    preselected, prompts_starting,
};
use protocol::{AgentChoice, AgentOption, Approval, Mode, PatternOffer, PodRef, PodSummary, Thinking};
use transcript::{BlockKind, words::model_words};

use crate::{
    making,
    model::{LineOf, Model, OpenPod, Waiting},
    wrap::printable,
};

/// The completions for the present line; empty if it is no command.
pub(crate) fn offers(model: &Model) -> Vec<Offer> {
    let Some(line) = &model.line else { return Vec::new() };
    match line.what {
        LineOf::Command => {}
        LineOf::Always => return always(model, line.text.text()),
        LineOf::Find | LineOf::Filter | LineOf::Key => return Vec::new(),
    }
    if let Some(offers) = making::offers(model, line.text.text()) {
        return offers;
    }
    let text = format!(":{}", line.text.text());
    let mut offers = commands::offers(&text, model.here(), |word, begun| named(model, word, begun));
    if offers.is_empty() {
        return prompts(model, line.text.text());
    }
    for offer in offers.iter_mut().filter(|offer| offer.refusal.is_none()) {
        offer.refusal = refusal(model, &offer.line);
    }
    offers.sort_by_key(|offer| offer.refusal.is_some());
    offers
}

/// Your commands and the prompts of the open Pod's MCP servers that begin like this.
fn prompts(model: &Model, begun: &str) -> Vec<Offer> {
    let Some(open) = model.open.as_ref().filter(|_| !begun.is_empty()) else { return Vec::new() };
    let found = prompts_starting(open.prompts.own.iter().chain(&open.prompts.of_servers), begun);
    let offer = |Prompt { name, what, takes_words }| {
        let argument = if takes_words { "WORDS" } else { "" };
        // A stranger has written this.
        Offer { line: printable(&name), argument, what: printable(&what), refusal: None }
    };
    found.into_iter().map(offer).collect()
}

/// The index of the chosen completion, if there is one.
pub(crate) fn choice(model: &Model, offers: &[Offer]) -> Option<usize> {
    let line = model.line.as_ref()?;
    let chosen = line.chosen.filter(|chosen| *chosen < offers.len());
    chosen.or_else(|| preselected(offers, &format!(":{}", line.text.text())))
}

/// Why this command about waiting messages is unavailable now.
fn refusal(model: &Model, word: &str) -> Option<&'static str> {
    let waiting = model.open.as_ref()?.waiting();
    let is_held = |waiting: &Waiting| matches!(waiting, Waiting::Held { .. });
    match word {
        "unqueue" if waiting.iter().all(is_held) => Some("the queue is empty"),
        "release" | "drop" if !waiting.iter().any(is_held) => Some("no messages are held"),
        _ => None,
    }
}

/// Pods whose name matches `begun` after this command.
fn named(model: &Model, word: &str, begun: &str) -> Vec<Named> {
    match (word, &model.open) {
        ("open", _) => fitting(model, begun, |_| None),
        ("peer", Some(open)) => fitting(model, begun, |pod| cannot_be_peer(pod, &open.pod, &open.peers)),
        ("model", Some(OpenPod { agent: Some(agent), .. })) => choices(&agent.offers.models, begun),
        ("mode", Some(OpenPod { agent: Some(agent), .. })) => choices(&agent.offers.modes, begun),
        ("mode", Some(_)) => modes(begun),
        ("option", Some(open)) => options(open, begun),
        ("always", Some(open)) => patterns(open, begun),
        ("model", Some(open)) => models(model, &open.pod, begun),
        ("think", Some(open)) => levels(model, &open.pod, begun),
        ("key", _) => vendors(model, begun),
        ("unpeer", Some(open)) => known(&open.peers, begun),
        ("delete", Some(open)) => {
            let name = model.name_of(&open.pod);
            let what = "its own name, to be sure".to_owned();
            if name.starts_with(begun) { vec![Named { name, what, refusal: None }] } else { Vec::new() }
        }
        _ => Vec::new(),
    }
}

/// Models for this Pod, its own provider's first.
fn models(model: &Model, pod: &PodRef, begun: &str) -> Vec<Named> {
    let (Some(choices), Some(summary)) = (&model.choices, model.summary_of(pod)) else { return Vec::new() };
    let mut providers: Vec<_> = choices.providers.iter().collect();
    providers.sort_by_key(|provider| provider.name != summary.provider);
    let named = providers.into_iter().flat_map(|provider| {
        let behind = if provider.name == summary.provider { String::new() } else { format!(" {}", provider.name) };
        provider.models.iter().map(move |model| {
            let words = [format!("of {}", provider.name), model_words(&model.facts)];
            let what = words.into_iter().filter(|words| !words.is_empty()).collect::<Vec<_>>().join(" · ");
            Named { name: format!("{}{behind}", model.name), what, refusal: None }
        })
    });
    let fits = |named: &Named| named.name.to_lowercase().contains(&begun.to_lowercase());
    named.filter(fits).take(making::OFFERED_MAX).collect()
}

/// Offers what an agent lets its client choose.
fn choices(choices: &[AgentChoice], begun: &str) -> Vec<Named> {
    let fits = |choice: &&AgentChoice| choice.id.to_lowercase().contains(&begun.to_lowercase());
    let named = |choice: &AgentChoice| Named { name: choice.id.clone(), what: choice.name.clone(), refusal: None };
    choices.iter().filter(fits).take(making::OFFERED_MAX).map(named).collect()
}

/// Offers the modes of the Pod itself.
fn modes(begun: &str) -> Vec<Named> {
    let fitting = Mode::ALL.into_iter().filter(|mode| mode.as_str().starts_with(begun));
    fitting.map(|mode| Named { name: mode.to_string(), what: mode.about().to_owned(), refusal: None }).collect()
}

/// Offers what "always" can mean for the oldest open question.
fn patterns(open: &OpenPod, begun: &str) -> Vec<Named> {
    let question = open.transcript.open_questions().next();
    let Some(BlockKind::Approval { approval_id, .. }) = question.map(|question| &question.kind) else {
        return Vec::new();
    };
    let asked = open.asked.iter().find(|asked| asked.id == *approval_id);
    asked.map(|asked| patterns_of(asked, begun)).unwrap_or_default()
}

/// The same for the approval of the list that "always" is being chosen for.
fn always(model: &Model, begun: &str) -> Vec<Offer> {
    let Some((_, approval)) = &model.always_of else { return Vec::new() };
    let offer = |Named { name, what, refusal }| Offer { line: name, argument: "", what, refusal };
    patterns_of(approval, begun).into_iter().map(offer).collect()
}

fn patterns_of(asked: &Approval, begun: &str) -> Vec<Named> {
    let named = |offer: &PatternOffer| {
        let label = offer.label.clone().unwrap_or_default();
        let what = match offer.would_have_allowed {
            0 => label,
            count => format!("{label} · {count} recent calls"),
        };
        Named { name: offer.pattern.clone(), what, refusal: None }
    };
    asked.patterns.iter().filter(|offer| offer.pattern.starts_with(begun)).map(named).collect()
}

/// Offers the agent's own answers to the oldest open question.
fn options(open: &OpenPod, begun: &str) -> Vec<Named> {
    let question = open.transcript.open_questions().next();
    let Some(BlockKind::Approval { options, .. }) = question.map(|question| &question.kind) else { return Vec::new() };
    let fits = |option: &&AgentOption| option.id.starts_with(begun);
    let named = |option: &AgentOption| {
        let what = format!("{} ({})", option.name, option.kind);
        Named { name: option.id.clone(), what, refusal: None }
    };
    options.iter().filter(fits).map(named).collect()
}

/// The thinking levels of this Pod's model; all levels if they are not known.
fn levels(model: &Model, pod: &PodRef, begun: &str) -> Vec<Named> {
    let facts = || {
        let summary = model.summary_of(pod)?;
        facts_of(&model.choices.as_ref()?.providers, &summary.provider, &summary.model)?.thinking.clone()
    };
    let levels =
        facts().unwrap_or_else(|| Thinking::ALL.to_vec()).into_iter().filter(|level| level.as_str().starts_with(begun));
    levels.map(|level| Named { name: level.to_string(), what: String::new(), refusal: None }).collect()
}

/// Providers that take a key: those configured, and those that lack only a key.
fn vendors(model: &Model, begun: &str) -> Vec<Named> {
    let Some(choices) = &model.choices else { return Vec::new() };
    let there = choices.providers.iter().filter(|provider| provider.kind != "rehearsal");
    let there = there.map(|provider| (provider.name.clone(), making::standing(provider)));
    let missing = choices.unconfigured.iter().map(|provider| (provider.kind.clone(), provider.missing.clone()));
    let fits = |(name, _): &(String, String)| name.starts_with(begun);
    let named = |(name, what)| Named { name, what, refusal: None };
    there.chain(missing).filter(fits).map(named).collect()
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
    // An exact match comes first, whatever else matches.
    named.sort_by_key(|pod| (pod.name != begun, pod.refusal.is_some()));
    named.truncate(NAMED_MAX);
    named
}
