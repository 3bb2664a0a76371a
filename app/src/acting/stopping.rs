//! The one way to stop a run: at once, with the queued messages back in the composer.
//!
//! The server ends the run and takes the messages back in one step, and gives a repeat of the command the first answer
//! again. So the command's id is kept in this browser until its answer is on the page, or kept for the next page of the
//! Pod: neither a lost connection nor a page that is left loses a message.

use commands::allowed::refusal;
use leptos::{prelude::*, task::spawn_local};
use protocol::{CommandId, ControlVerb, ErrorCode, Interrupted, PodRef, PodState, Segment};

use crate::{
    UiError, codec,
    console::{Console, Returned, fresh_command},
    live::{self, Memory},
    server_fns::interrupt_pod,
};

/// How often to ask for the answer while the server is away, and for how long.
const AGAIN_MS: u32 = 1_000;
const AGAIN_MAX: u32 = 60;
/// For how long a page that is opened again continues what an earlier one began.
const GOES_ON_MS: i64 = 60_000;

/// Whether there is a run that *Stop* and Escape end, also while a question waits.
pub(crate) fn has_run(state: PodState) -> bool {
    matches!(state, PodState::Running | PodState::Waiting)
}

/// Ends the run and puts its queued messages back into the Pod's composer. While that is under way, does nothing.
pub(crate) fn stop_run(console: Console, pod: PodRef, state: PodState) {
    if let Some(reason) = refusal(ControlVerb::Cancel, state) {
        return console.note(format!("There is no run to stop: {reason}"));
    }
    if begin(console, &pod) {
        let id = fresh_command();
        live::remember(Memory::Local, &under_way(&pod), Some(&format!("{} {id}", live::now_ms())));
        spawn_local(carry_out(console, pod, id));
    }
}

/// Goes on with a stop whose answer did not reach the page that asked for it.
pub(crate) fn go_on(console: Console, pod: &PodRef) {
    let Some(begun) = live::kept(Memory::Local, &under_way(pod)) else { return };
    match asked(&begun, live::now_ms()) {
        Some(id) if begin(console, pod) => spawn_local(carry_out(console, pod.clone(), id)),
        Some(_) => (),
        None => live::remember(Memory::Local, &under_way(pod), None),
    }
}

/// Takes what came back while no page of the Pod was open.
pub(crate) fn take_kept(pod: &PodRef) -> Vec<Segment> {
    let name = came_back(pod);
    let kept = live::kept(Memory::Local, &name).and_then(|text| codec::read(&text).ok());
    if kept.is_some() {
        live::remember(Memory::Local, &name, None);
    }
    kept.unwrap_or_default()
}

fn came_back(pod: &PodRef) -> String {
    format!("yoi:back:{pod}")
}

fn under_way(pod: &PodRef) -> String {
    format!("yoi:stopping:{pod}")
}

/// The command that was kept, unless it is too old.
fn asked(begun: &str, now_ms: i64) -> Option<CommandId> {
    let (at, id) = begun.split_once(' ')?;
    let is_recent = at.parse().is_ok_and(|at: i64| now_ms.saturating_sub(at) < GOES_ON_MS);
    CommandId::parse(id).ok().filter(|_| is_recent)
}

/// Returns false if a stop of this Pod is under way.
fn begin(console: Console, pod: &PodRef) -> bool {
    let is_new = console.stopping.with_value(|stopping| !stopping.contains(pod));
    if is_new {
        console.stopping.update_value(|stopping| stopping.push(pod.clone()));
    }
    is_new
}

async fn carry_out(console: Console, pod: PodRef, id: CommandId) {
    let done = answer(&pod, &id).await;
    console.stopping.update_value(|stopping| stopping.retain(|other| *other != pod));
    match done {
        Ok(interrupted) => {
            give_back(console, &pod, interrupted);
            live::remember(Memory::Local, &under_way(&pod), None);
        }
        // Whether it was done is not known: the next page of the Pod asks again.
        Err(refusal) if refusal.code() == ErrorCode::RuntimeUnavailable => console.fail(&refusal),
        Err(refusal) => {
            live::remember(Memory::Local, &under_way(&pod), None);
            // The run ended by itself meanwhile.
            if refusal.code() != ErrorCode::NotRunning {
                console.fail(&refusal);
            }
        }
    }
    let viewed = console.viewed.get_untracked().filter(|view| view.pod.with_value(|viewed| *viewed == pod));
    viewed.into_iter().for_each(|view| view.refresh());
}

/// Sends the command until it is answered.
async fn answer(pod: &PodRef, id: &CommandId) -> Result<Interrupted, UiError> {
    let mut attempts = 0;
    loop {
        match interrupt_pod(pod.clone(), id.clone()).await {
            Err(error) if error.code() == ErrorCode::RuntimeUnavailable && attempts < AGAIN_MAX => {
                attempts += 1;
                live::rest(AGAIN_MS).await;
            }
            done => return done,
        }
    }
}

/// Puts the messages behind what is being written to the Pod: on its page, or kept for its next page if none is open.
fn give_back(console: Console, pod: &PodRef, interrupted: Interrupted) {
    let segments = joined(interrupted);
    if segments.is_empty() {
        return;
    }
    let viewed = console.viewed.get_untracked().filter(|view| view.pod.with_value(|viewed| viewed == pod));
    if let Some(view) = viewed {
        view.detail.try_update(|detail| detail.queued.clear());
        let returned = Returned { segments: segments.clone(), is_asked_for: true };
        if view.returned.try_set(Some(returned)).is_none() {
            return;
        }
    }
    let mut kept = take_kept(pod);
    kept.extend(segments);
    live::remember(Memory::Local, &came_back(pod), serde_json::to_string(&kept).ok().as_deref());
}

/// All messages as one, in their order. The message field begins a line with each segment.
fn joined(interrupted: Interrupted) -> Vec<Segment> {
    interrupted.queued.into_iter().flat_map(|input| input.segments).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_is_gone_on_with_for_a_minute() {
        let begun = "1000 k-1";
        assert_eq!(asked(begun, 1000 + GOES_ON_MS - 1).unwrap().as_str(), "k-1");
        assert_eq!(asked(begun, 1000 + GOES_ON_MS), None);
        assert_eq!((asked("", 0), asked("soon k-1", 0), asked("1000", 0)), (None, None, None));
    }

    #[test]
    fn escape_stops_a_run_that_waits_for_an_answer() {
        assert!(has_run(PodState::Running) && has_run(PodState::Waiting));
        assert!(!has_run(PodState::Idle) && !has_run(PodState::Paused));
    }
}
