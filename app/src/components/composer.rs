//! Where a message is written. The text is forgotten only when the server has it.

mod keeping;
mod named;
mod sending;
mod tour;

use commands::{allowed::input_refusal, is_command};
use leptos::{ev, prelude::*};
use protocol::ErrorCode;

use self::{
    keeping::keep_draft,
    named::named,
    sending::{Outgoing, send},
    tour::Tour,
};
use crate::{
    UiError,
    components::{completion::Completion, problem::Problem, queue::Queue, transcript::use_pod},
    console::use_console,
    draft::{Draft, is_long_paste, paste_words},
    live,
    reconnect::Link,
};

#[component]
pub(crate) fn Composer() -> impl IntoView {
    let pod = use_pod();
    let outgoing = Outgoing::new(use_console(), pod);
    let draft = outgoing.draft;
    keep_draft(outgoing);
    forget_outage(outgoing);
    take_back(outgoing);

    let offers = Memo::new(move |_| {
        draft.with(|draft| commands::offers(&draft.text, pod.here(), |word, begun| named(outgoing, word, begun)))
    });
    let at = RwSignal::new(None::<usize>);
    let chosen = Memo::new(move |_| {
        let last = offers.with(Vec::len).saturating_sub(1);
        at.get().unwrap_or_else(|| offers.with(|offers| commands::first_available(offers))).min(last)
    });
    let complete = move |line: &str| {
        draft.update(|draft| draft.text = format!(":{line} "));
        live::focus("message");
    };

    let on_key = move |event: ev::KeyboardEvent| {
        if event.is_composing() {
            return;
        }
        let has_offers = offers.with_untracked(|offers| !offers.is_empty());
        let step = |event: &ev::KeyboardEvent, by: isize| {
            event.prevent_default();
            let next = chosen.get_untracked().saturating_add_signed(by);
            at.set(Some(next));
            live::reveal(&format!("command-{next}"));
        };
        match event.key().as_str() {
            "Enter" if !event.shift_key() => {
                event.prevent_default();
                let chosen = offers.with_untracked(|offers| offers.get(chosen.get_untracked()).cloned());
                match chosen.filter(|offer| draft.with_untracked(|draft| !offer.is_typed_in(&draft.text))) {
                    Some(offer) if !offer.argument.is_empty() => complete(&offer.line),
                    Some(offer) => {
                        draft.update(|draft| draft.text = format!(":{}", offer.line));
                        send(outgoing);
                    }
                    None => send(outgoing),
                }
            }
            "ArrowDown" if has_offers => step(&event, 1),
            "ArrowUp" if has_offers => step(&event, -1),
            "Tab" if has_offers && !event.shift_key() => {
                event.prevent_default();
                if let Some(offer) = offers.with_untracked(|offers| offers.get(chosen.get_untracked()).cloned()) {
                    complete(&offer.line);
                }
            }
            "ArrowUp" if draft.with_untracked(|draft| draft.text.is_empty()) => {
                event.prevent_default();
                draft.update(|draft| draft.text = draft.last_sent.clone());
            }
            "Escape" if draft.with_untracked(|draft| is_command(&draft.text)) => {
                event.prevent_default();
                draft.update(|draft| draft.text.clear());
            }
            _ => (),
        }
    };
    let on_paste = move |event: ev::ClipboardEvent| {
        if let Some(text) = live::pasted_text(&event).filter(|text| is_long_paste(text)) {
            event.prevent_default();
            draft.update(|draft| draft.pastes.push(text));
        }
    };
    let refusal = move || input_refusal(pod.state.get()).map(|words| view! { <p class="refusal">{words}</p> });
    let placeholder = move || {
        let name = pod.summary.with(|summary| summary.name.to_string());
        match pod.state.get() {
            protocol::PodState::Running => format!("Message {name}. Enter queues it while it works."),
            _ => format!("Message {name}"),
        }
    };
    view! {
        <div class="composer">
            <div class="composer-inner">
                <Tour outgoing=outgoing />
                <Queue />
                {refusal}
                <Problem error=outgoing.error />
                <Chips outgoing=outgoing />
                <div class="composer-box">
                    <Completion offers=offers chosen=chosen choose=complete />
                    <textarea
                        id="message"
                        aria-label="Message"
                        rows="2"
                        autocomplete="off"
                        placeholder=placeholder
                        aria-controls="commands"
                        aria-activedescendant=move || {
                            let chosen = chosen.get();
                            offers.with(|offers| (chosen < offers.len()).then(|| format!("command-{chosen}")))
                        }
                        prop:value=move || draft.with(|draft| draft.text.clone())
                        on:input=move |event| {
                            at.set(None);
                            draft.update(|draft| draft.text = event_target_value(&event));
                        }
                        on:keydown=on_key
                        on:paste=on_paste
                    ></textarea>
                </div>
                <Bar outgoing=outgoing />
            </div>
            <noscript>
                <p class="hint">"Sending from this page needs a script. Without one: yoi send NAME TEXT."</p>
            </noscript>
        </div>
    }
    .into_any()
}

/// "The server does not answer" is not true any more once it does.
fn forget_outage(outgoing: Outgoing) {
    Effect::new(move |_| {
        let is_live = outgoing.console.link.get() == Link::Live;
        let is_outage = |error: &UiError| error.code() == ErrorCode::RuntimeUnavailable;
        if is_live && outgoing.error.with_untracked(|error| error.as_ref().is_some_and(is_outage)) {
            outgoing.error.set(None);
        }
    });
}

/// Text that the Pod gave back, or that a person wants back, is put where it can be sent again.
fn take_back(outgoing: Outgoing) {
    Effect::new(move |_| {
        let Some(returned) = outgoing.pod.returned.get() else { return };
        outgoing.pod.returned.set(None);
        if !returned.is_asked_for && !outgoing.draft.with_untracked(Draft::is_blank) {
            let words = "The model answered nothing, and the message was taken back. “Put it back” beside it brings the text here.";
            return outgoing.console.note(words);
        }
        outgoing.draft.update(|draft| draft.put_back(&returned.segments));
        if returned.is_asked_for {
            live::focus("message");
        }
    });
}

/// Long pastes, each as one thing.
#[component]
fn Chips(outgoing: Outgoing) -> impl IntoView {
    let draft = outgoing.draft;
    let chips =
        Memo::new(move |_| draft.with(|draft| draft.pastes.iter().map(|text| paste_words(text)).collect::<Vec<_>>()));
    let chip = move |(index, words): (usize, String)| {
        let remove = move |_| {
            draft.update(|draft| {
                draft.pastes.remove(index);
            });
            live::focus("message");
        };
        view! {
            <li>
                "pasted " {words}
                <button type="button" class="quiet" aria-label="Remove this paste" on:click=remove>
                    "×"
                </button>
            </li>
        }
    };
    view! {
        <Show when=move || chips.with(|chips| !chips.is_empty())>
            <ul class="chips">{move || chips.get().into_iter().enumerate().map(chip).collect_view()}</ul>
        </Show>
    }
    .into_any()
}

/// Below the text: what keys do, where the message is, and a button for thumbs.
#[component]
fn Bar(outgoing: Outgoing) -> impl IntoView {
    let pod = use_pod();
    let words = move || match (outgoing.is_sending.get(), pod.state.get()) {
        (true, _) => "saving…",
        (false, protocol::PodState::Running) => "Queue",
        _ => "Send",
    };
    let share = move || {
        pod.summary.with(|summary| {
            crate::format::percent(summary.usage.context_used, summary.usage.context_limit)
                .map(|share| format!("{share} % of context"))
        })
    };
    view! {
        <div class="composer-bar">
            <span class="key-hints">
                <kbd>":"</kbd>
                " commands "
                <kbd>"Shift Enter"</kbd>
                " new line"
            </span>
            <span class="share">{share}</span>
            <button
                type="button"
                class="button primary"
                aria-disabled=move || (outgoing.is_sending.get() || outgoing.draft.with(|draft| draft.is_blank())).to_string()
                on:click=move |_| send(outgoing)
            >
                {words}
            </button>
        </div>
    }
    .into_any()
}
