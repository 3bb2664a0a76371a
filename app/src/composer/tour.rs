//! A tour for new users: one line above the composer at a time.

use leptos::prelude::*;
use protocol::PodState;

use super::sending::Outgoing;
use crate::{
    live::{self, Memory},
    pods::first_minute::TOUR,
    redrawn::redrawn,
};

/// One step.
#[derive(Debug)]
struct Step {
    /// The key kept in the browser's storage, so that a reload continues with this step.
    name: &'static str,
    words: &'static str,
    /// The text that the step puts into the message field.
    text: &'static str,
    end: End,
}

/// What must happen before the next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// The step's text was sent.
    Sent,
    /// The step's text was sent, and the run is over or the page was loaded again.
    Over,
    /// The approval was answered, and the run is over.
    Answered,
    /// The Pod has a peer.
    HasPeer,
    Never,
}

const STEPS: [Step; 6] = [
    Step { name: "hello", words: "1 of 6 · Say hello: press Enter.", text: "say hello", end: End::Sent },
    Step {
        name: "stream",
        words: "2 of 6 · Press Enter and watch it stream. Then reload this page halfway through: it continues.",
        text: "stream 300 at 15",
        end: End::Over,
    },
    Step {
        name: "task",
        words: "3 of 6 · A run continues whether or not a page shows it. Now a task: press Enter. It reads a file and asks you before it changes it: allow it, or deny it.",
        text: "demo",
        end: End::Answered,
    },
    Step {
        name: "introduce",
        words: "4 of 6 · Make it a peer of bob: press Enter and confirm. They can then write to each other, and gain nothing else.",
        text: ":peer bob",
        end: End::HasPeer,
    },
    Step {
        name: "write",
        words: "5 of 6 · Let it write to bob, and let bob answer: press Enter.",
        text: r#"call SendToPeerPod {"name":"bob","message":"say hello ada\ncall SendToPeerPod {\"name\":\"ada\",\"message\":\"say nice to meet you, bob\"}"}"#,
        end: End::Sent,
    },
    Step {
        name: "done",
        words: "6 of 6 · Both transcripts have what was written; open bob in the list on the left. For a task of your own, make a Pod with a real model: its key goes into Settings, Models.",
        text: "",
        end: End::Never,
    },
];

/// Progress through the tour.
#[derive(Debug, Clone, Copy)]
struct Place {
    step: RwSignal<Option<usize>>,
    /// Whether what the present step waits for has begun: its approval has appeared, or its run.
    has_begun: StoredValue<bool>,
    /// Whether the text of the present step was sent.
    was_sent: StoredValue<bool>,
}

impl Place {
    fn step(self) -> Option<&'static Step> {
        self.step.get().and_then(|step| STEPS.get(step))
    }

    /// Goes to the next step if the present one waits for `end`.
    fn advance(self, end: End) {
        let is_so = |step: &usize| STEPS.get(*step).is_some_and(|step| step.end == end);
        if self.step.get_untracked().filter(is_so).is_some() {
            self.has_begun.set_value(false);
            self.was_sent.set_value(false);
            self.step.update(|step| *step = step.map(|step| step + 1));
        }
    }

    /// The text of the present step was sent. If that step is still shown, a reload ends it.
    fn sent(self) {
        let at = self.step.get_untracked().filter(|at| STEPS.get(*at).is_some_and(|step| step.end == End::Over));
        match at.and_then(|at| STEPS.get(at + 1)) {
            Some(next) => {
                self.was_sent.set_value(true);
                live::remember(Memory::Tab, TOUR, Some(next.name));
            }
            None => self.advance(End::Sent),
        }
    }
}

#[component]
pub(super) fn Tour(outgoing: Outgoing) -> impl IntoView {
    let place =
        Place { step: RwSignal::new(None), has_begun: StoredValue::new(false), was_sent: StoredValue::new(false) };
    follow(outgoing, place);
    Effect::new(move |_| {
        let Some(Step { name, text, .. }) = place.step() else { return };
        live::remember(Memory::Tab, TOUR, Some(name));
        if outgoing.draft.with_untracked(|draft| draft.is_blank()) && !text.is_empty() {
            outgoing.draft.update(|draft| draft.text = (*text).to_owned());
            live::focus_soon("message");
        }
    });
    redrawn(move || {
        place.step().map(|Step { words, .. }| {
            view! {
                <p class="tour" role="status">
                    <span>{*words}</span>
                    <button
                        type="button"
                        class="quiet"
                        aria-label="End the tour"
                        on:click=move |_| {
                            live::remember(Memory::Tab, TOUR, None);
                            place.step.set(None);
                        }
                    >
                        "×"
                    </button>
                </p>
            }
            .into_any()
        })
    })
}

/// Advances as the step's conditions are met.
fn follow(outgoing: Outgoing, place: Place) {
    Effect::new(move |before: Option<u32>| {
        let accepted = outgoing.accepted.get();
        match before {
            None => {
                let kept = live::kept(Memory::Tab, TOUR);
                place.step.set(kept.and_then(|name| STEPS.iter().position(|step| step.name == name)));
            }
            Some(before) if accepted > before => place.sent(),
            Some(_) => (),
        }
        accepted
    });
    Effect::new(move |_| {
        let (state, peers) = outgoing.pod.summary.with(|summary| (summary.state, summary.relations.peers));
        if place.step().is_none() {
            return;
        }
        match state {
            PodState::Waiting => place.has_begun.set_value(true),
            PodState::Running if place.was_sent.get_value() => place.has_begun.set_value(true),
            PodState::Idle if place.has_begun.get_value() => {
                let is_over = place.was_sent.get_value();
                place.advance(if is_over { End::Over } else { End::Answered });
            }
            _ => (),
        }
        if peers > 0 {
            place.advance(End::HasPeer);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_step_says_which_one_it_is_and_only_the_last_one_stays() {
        for (at, step) in STEPS.iter().enumerate() {
            assert!(step.words.starts_with(&format!("{} of {} · ", at + 1, STEPS.len())), "{step:?}");
            let is_last = at + 1 == STEPS.len();
            assert_eq!((step.end == End::Never, step.text.is_empty()), (is_last, is_last), "{step:?}");
        }
    }

    #[test]
    fn what_ada_writes_to_bob_is_json_and_so_is_what_bob_writes_back() {
        let (_, json) = STEPS[4].text.split_once(" {").unwrap();
        let sent: serde_json::Value = serde_json::from_str(&format!("{{{json}")).unwrap();
        let (_, answer) = sent["message"].as_str().unwrap().split_once("\ncall SendToPeerPod ").unwrap();
        let answer: serde_json::Value = serde_json::from_str(answer).unwrap();
        assert_eq!(answer["message"], "say nice to meet you, bob");
    }
}
