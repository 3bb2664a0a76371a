//! Which commands are available in which state of a Pod, and why not. The server decides; this saves a round trip and
//! explains why a button is disabled.

use protocol::{ControlVerb, PodState, PodSummary};

/// Why this command is unavailable; `None` if it is available.
pub fn refusal(verb: ControlVerb, state: PodState) -> Option<&'static str> {
    use {ControlVerb as V, PodState as S};
    match (verb, state) {
        (V::Pause, S::Running | S::Waiting)
        | (V::Resume, S::Paused)
        | (V::Cancel, S::Running | S::Waiting | S::Paused)
        | (V::Stop, S::Idle | S::Running | S::Paused | S::Waiting)
        | (V::Restore, S::Stopped)
        | (V::Compact | V::Retry, S::Idle | S::Paused) => None,
        (_, S::Unreachable) => Some("its runtime does not answer"),
        (_, S::Broken) => Some("it is broken and cannot be restored"),
        (V::Stop, S::Stopped) => Some("it is already stopped"),
        (V::Pause | V::Resume | V::Cancel | V::Compact | V::Retry, S::Stopped) => {
            Some("it is stopped; restore it first")
        }
        (V::Pause, S::Paused) => Some("it is already paused"),
        (V::Pause | V::Cancel, _) => Some("nothing is running"),
        (V::Resume, _) => Some("it is not paused"),
        (V::Restore, _) => Some("it is already live"),
        (V::Compact | V::Retry, _) => Some("a run is in progress; pause or cancel it first"),
    }
}

/// Why this command is unavailable for this Pod: because of its state, or of what only its summary tells.
pub fn refusal_of(verb: ControlVerb, pod: &PodSummary) -> Option<&'static str> {
    refusal(verb, pod.state).or_else(|| (verb == ControlVerb::Retry).then(|| retry_refusal(pod)).flatten())
}

/// Why there is nothing to retry, in a state that allows a retry.
pub fn retry_refusal(pod: &PodSummary) -> Option<&'static str> {
    match pod.state {
        _ if pod.agent.is_some() => Some("its agent keeps the conversation itself; send a message"),
        _ if !pod.nothing_to_retry => None,
        PodState::Paused => Some("it is paused between calls; resume it"),
        _ => Some("every message has its answer"),
    }
}

/// Why the conversation cannot be rewound now; the rules are those of compacting.
pub fn rewind_refusal(state: PodState) -> Option<&'static str> {
    refusal(ControlVerb::Compact, state)
}

/// Returns why this Pod cannot be forked at its newest record now; an earlier record may still work.
pub fn fork_refusal(state: PodState) -> Option<&'static str> {
    match state {
        PodState::Running | PodState::Waiting => Some("a run is in progress; wait until it has ended"),
        state => peer_refusal(state),
    }
}

/// Why this Pod cannot spawn a child now.
pub fn spawn_refusal(state: PodState) -> Option<&'static str> {
    (!state.is_live()).then_some("it is not live; restore it first")
}

/// Why this Pod cannot get a peer now. Peers are metadata, so neither a run in progress nor a stop prevents it.
pub fn peer_refusal(state: PodState) -> Option<&'static str> {
    match state {
        PodState::Unreachable => Some("its runtime does not answer"),
        PodState::Broken => Some("it is broken: its records cannot be read"),
        _ => None,
    }
}

/// Why no message can be sent now.
pub fn input_refusal(state: PodState) -> Option<&'static str> {
    match state {
        PodState::Stopped => Some("This Pod is stopped. Restore it to send; your draft is kept."),
        PodState::Unreachable => Some("Its runtime does not answer. Your draft is kept."),
        PodState::Broken => Some("This Pod is broken and takes no messages."),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::pod;

    fn allowed(state: PodState) -> Vec<&'static str> {
        ControlVerb::ALL.into_iter().filter(|verb| refusal(*verb, state).is_none()).map(ControlVerb::as_str).collect()
    }

    #[test]
    fn each_state_offers_what_changes_it() {
        assert_eq!(allowed(PodState::Idle), ["stop", "compact", "retry"]);
        assert_eq!(allowed(PodState::Running), ["pause", "cancel", "stop"]);
        assert_eq!(allowed(PodState::Waiting), ["pause", "cancel", "stop"]);
        assert_eq!(allowed(PodState::Paused), ["resume", "cancel", "stop", "compact", "retry"]);
        assert_eq!(allowed(PodState::Stopped), ["restore"]);
        assert!(allowed(PodState::Unreachable).is_empty());
        assert!(allowed(PodState::Broken).is_empty());
    }

    #[test]
    fn a_retry_is_there_for_what_has_no_answer() {
        let refused = |state, nothing_to_retry, agent: Option<&str>| {
            let agent = agent.map(str::to_owned);
            refusal_of(ControlVerb::Retry, &PodSummary { nothing_to_retry, agent, ..pod("ada", state) })
        };
        assert_eq!((refused(PodState::Idle, false, None), refused(PodState::Paused, false, None)), (None, None));
        assert_eq!(refused(PodState::Idle, true, None), Some("every message has its answer"));
        assert_eq!(refused(PodState::Paused, true, None), Some("it is paused between calls; resume it"));
        assert_eq!(refused(PodState::Stopped, true, None), Some("it is stopped; restore it first"), "the state first");
        assert!(refused(PodState::Idle, false, Some("codex")).is_some());
        let answered = PodSummary { nothing_to_retry: true, ..pod("ada", PodState::Idle) };
        assert_eq!(refusal_of(ControlVerb::Compact, &answered), None);
    }

    #[test]
    fn a_pod_is_forked_whenever_it_does_nothing_and_can_be_read() {
        let forked: Vec<_> = PodState::ALL.into_iter().filter(|state| fork_refusal(*state).is_none()).collect();
        assert_eq!(forked, [PodState::Idle, PodState::Paused, PodState::Stopped]);
    }

    #[test]
    fn live_pods_take_messages_and_others_say_why_not() {
        for state in PodState::ALL {
            assert_eq!(input_refusal(state).is_none(), state.is_live(), "{state:?}");
        }
    }
}
