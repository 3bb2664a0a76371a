//! The names of a Pod's states: the same in the browser, the terminal and the command line.

use protocol::{PodState, PodSummary};

/// What a Pod's mark shows: its state, or that its last run failed. A failed Pod is idle but must not look like it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sign {
    Of(PodState),
    Failed,
}

impl Sign {
    /// The sign of a Pod in the list.
    pub fn of(pod: &PodSummary) -> Self {
        Self::in_state(pod.state, pod.needs_you)
    }

    /// An idle Pod needs you only if its last run failed. Other states have signs of their own.
    pub fn in_state(state: PodState, needs_you: bool) -> Self {
        match state {
            PodState::Idle if needs_you => Self::Failed,
            state => Self::Of(state),
        }
    }

    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        PodState::ALL.into_iter().map(Self::Of).chain([Self::Failed])
    }

    /// The state in which the API has Pods with this sign; not all Pods in it need have it.
    pub fn state(self) -> PodState {
        match self {
            Self::Of(state) => state,
            Self::Failed => PodState::Idle,
        }
    }

    /// Its name, which is the API's own where there is one.
    pub fn word(self) -> &'static str {
        match self {
            Self::Of(state) => state.as_str(),
            Self::Failed => "failed",
        }
    }

    /// What it means, for those who see it for the first time.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Of(PodState::Idle) => "ready for a message",
            Self::Of(PodState::Running) => "the model or a tool is running",
            Self::Of(PodState::Paused) => "the run is paused; resume continues it",
            Self::Of(PodState::Waiting) => "waiting for your answer",
            Self::Of(PodState::Stopped) => "stopped until it is restored",
            Self::Of(PodState::Unreachable) => "its runtime does not answer",
            Self::Of(PodState::Broken) => "its records cannot be read",
            Self::Failed => "the last run failed; ready for a message",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::samples::pod;

    #[test]
    fn each_state_has_one_name_which_is_the_apis() {
        let words: Vec<_> = Sign::all().map(Sign::word).collect();
        for state in PodState::ALL {
            assert_eq!(serde_json::to_value(state).unwrap(), Sign::Of(state).word());
        }
        assert_eq!(words.iter().collect::<BTreeSet<_>>().len(), words.len());
        assert_eq!(Sign::all().map(Sign::meaning).collect::<BTreeSet<_>>().len(), words.len());
    }

    #[test]
    fn a_failed_run_is_told_until_the_next_one() {
        let failed = PodSummary { needs_you: true, ..pod("ada", PodState::Idle) };
        assert_eq!((Sign::of(&failed), Sign::of(&failed).word()), (Sign::Failed, "failed"));
        assert_eq!(Sign::of(&pod("ada", PodState::Idle)), Sign::Of(PodState::Idle));
        for state in [PodState::Running, PodState::Waiting, PodState::Paused, PodState::Broken] {
            assert_eq!(Sign::in_state(state, true), Sign::Of(state));
        }
    }
}
