use commands::peering::telling_name;
use leptos::{ev, prelude::*};
use protocol::PodRef;

use super::meeting::Meeting;
use crate::{
    components::{abroad::abroad, state_mark::StateShape},
    live,
    peers::peering::{Choice, bare},
    redrawn::redrawn,
};

/// How many Pods are drawn; typing more narrows the list.
const SHOWN_MAX: usize = 40;

/// A field that searches Pods as you type, and below it the matches.
#[component]
pub(super) fn Chooser(meeting: Meeting, chooses_source: bool) -> impl IntoView {
    let step = move |event: &ev::KeyboardEvent, by: isize| {
        event.prevent_default();
        let last = meeting.offered.with_untracked(Vec::len).min(SHOWN_MAX).saturating_sub(1);
        let next = match meeting.at.get_untracked() {
            Some(at) => at.saturating_add_signed(by).min(last),
            None if meeting.typed.with_untracked(String::is_empty) && by > 0 => 0,
            None => 0_usize.saturating_add_signed(by).min(last),
        };
        meeting.picked.set(None);
        meeting.at.set(Some(next));
        live::reveal(&format!("peer-option-{next}"));
    };
    let on_key = move |event: ev::KeyboardEvent| match event.key().as_str() {
        "ArrowDown" => step(&event, 1),
        "ArrowUp" => step(&event, -1),
        // The first Enter picks the Pod, the second one adds it as a peer.
        "Enter" if !event.is_composing() && meeting.picked.with_untracked(Option::is_none) => {
            if let Some(choice) = meeting.chosen.get_untracked() {
                event.prevent_default();
                meeting.pick(&choice);
            }
        }
        _ => (),
    };
    let active = move || {
        let chosen = meeting.chosen.get().map(|choice| choice.pod)?;
        let index = meeting.offered.with(|offered| offered.iter().position(|choice| choice.pod == chosen))?;
        meeting.picked.with(Option::is_none).then(|| format!("peer-option-{index}"))
    };
    view! {
        {chooses_source.then(|| view! { <SourceField meeting=meeting /> }.into_any())}
        <div class="field">
            <label for="peer-name">{if chooses_source { "New peer" } else { "Which Pod" }}</label>
            <input
                id="peer-name"
                type="text"
                role="combobox"
                autofocus=true
                autocomplete="off"
                autocapitalize="off"
                spellcheck="false"
                placeholder="Name, state or folder"
                aria-autocomplete="list"
                aria-controls="peer-options"
                aria-expanded=move || meeting.picked.with(Option::is_none).to_string()
                aria-activedescendant=active
                aria-describedby="peer-sentence"
                prop:value=move || meeting.typed.get()
                on:input=move |event| {
                    meeting.picked.set(None);
                    meeting.at.set(None);
                    meeting.deed.error.set(None);
                    meeting.typed.set(event_target_value(&event));
                }
                on:keydown=on_key
            />
        </div>
        <Options meeting=meeting />
    }
}

#[component]
fn Options(meeting: Meeting) -> impl IntoView {
    let none = move || match (meeting.offered.with(Vec::is_empty), meeting.typed.with(String::is_empty)) {
        (true, true) => Some("No other Pods yet. Create one with New Pod."),
        (true, false) => Some("No matches. The server suggests similar names."),
        (false, _) => None,
    };
    view! {
        <ul
            id="peer-options"
            class="peer-options"
            class:is-hidden=move || meeting.picked.with(Option::is_some)
            role="listbox"
            aria-label="Pods"
        >
            {redrawn(move || {
                let offered = meeting.offered.get();
                offered.into_iter().take(SHOWN_MAX).enumerate().map(|(index, choice)| option(meeting, index, choice)).collect_view()
            })}
        </ul>
        {redrawn(move || none().map(|words| view! { <p class="hint">{words}</p> }.into_any()))}
    }
}

fn option(meeting: Meeting, index: usize, choice: Choice) -> impl IntoView {
    let pod = choice.pod.clone();
    let is_chosen =
        move || meeting.chosen.with(|chosen| chosen.as_ref().is_some_and(|chosen| chosen.pod == pod)).to_string();
    let said = choice.refusal.map_or_else(|| choice.what.clone(), str::to_owned);
    let (name, sign, is_refused) = (bare(&choice.name).to_owned(), choice.sign, choice.refusal.is_some());
    let home = abroad(&choice.pod).or_else(|| {
        // A Pod of this server that shares its name with another says so too.
        (name != choice.name).then(|| view! { <small class="abroad">"@local"</small> }.into_any())
    });
    view! {
        <li
            id=format!("peer-option-{index}")
            role="option"
            aria-selected=is_chosen
            aria-disabled=is_refused.to_string()
            on:click=move |_| {
                meeting.at.set(Some(index));
                meeting.pick(&choice);
                live::focus("peer-name");
            }
        >
            <StateShape sign=Signal::stored(sign) />
            <b>{name}</b>
            {home}
            <span>{said}</span>
        </li>
    }
    .into_any()
}

/// The first of the two Pods, where none is given.
#[component]
fn SourceField(meeting: Meeting) -> impl IntoView {
    let mut pods = meeting.console.pods();
    pods.sort_by(|a, b| a.name.as_str().cmp(b.name.as_str()));
    let names: Vec<String> = pods.iter().map(|pod| telling_name(&pods, pod)).collect();
    let option = move |(pod, name): (protocol::PodSummary, String)| {
        let is_it = meeting.source.with_untracked(|source| *source == pod.pod);
        view! {
            <option value=pod.pod.to_string() selected=is_it>
                {name}
            </option>
        }
        .into_any()
    };
    view! {
        <div class="field">
            <label for="peer-source">"Pod"</label>
            <select
                id="peer-source"
                on:change=move |event| {
                    if let Ok(pod) = event_target_value(&event).parse::<PodRef>() {
                        meeting.known.set(Vec::new());
                        meeting.source.set(pod);
                    }
                }
            >
                {pods.into_iter().zip(names).map(option).collect_view()}
            </select>
        </div>
    }
}
