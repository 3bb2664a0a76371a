use leptos::prelude::*;
use protocol::{PodState, PodSummary};
use transcript::words::state_words;

/// What the mark of a Pod says: its state, or that its last run failed. Such a Pod is idle, and must not look like it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    Of(PodState),
    Failed,
}

impl Sign {
    /// Of a Pod in the list.
    pub(crate) fn of(pod: &PodSummary) -> Self {
        Self::in_state(pod.state, pod.needs_you)
    }

    /// An idle Pod that needs somebody needs them because its last run failed. Other states have marks of their own.
    pub(crate) fn in_state(state: PodState, needs_you: bool) -> Self {
        match state {
            PodState::Idle if needs_you => Self::Failed,
            state => Self::Of(state),
        }
    }

    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Of(state) => state_words(state),
            Self::Failed => "failed",
        }
    }

    /// In the names of its classes.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Of(state) => state.as_str(),
            Self::Failed => "failed",
        }
    }

    /// Eight shapes that can be told apart without colour.
    pub(crate) fn outline(self) -> &'static str {
        match self {
            Self::Of(PodState::Idle) => "M6 2.5a3.5 3.5 0 1 0 0 7a3.5 3.5 0 1 0 0-7z",
            Self::Of(PodState::Running) => "M6 2a4 4 0 1 0 0 8a4 4 0 1 0 0-8z",
            Self::Of(PodState::Paused) => "M3 2.5h2v7H3zM7 2.5h2v7H7z",
            Self::Of(PodState::Waiting) => "M6 1l5 5-5 5-5-5z",
            Self::Of(PodState::Stopped) => "M2.5 5.2h7v1.6h-7z",
            Self::Of(PodState::Unreachable) => "M2.5 2.5l7 7M9.5 2.5l-7 7",
            Self::Of(PodState::Broken) => "M2 2h8v3L8 6l2 1v3H2V7l2-1-2-1z",
            Self::Failed => "M6 1.5l5 9H1z",
        }
    }
}

/// A mark's shape. It has its colour by its class and is always beside the word.
#[component]
pub(crate) fn StateShape(#[prop(into)] sign: Signal<Sign>) -> impl IntoView {
    view! {
        <svg class=move || format!("mark mark-{}", sign.get().as_str()) viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
            <path d=move || sign.get().outline() />
        </svg>
    }
    .into_any()
}

/// Shape and word.
#[component]
pub(crate) fn StateWord(#[prop(into)] sign: Signal<Sign>) -> impl IntoView {
    view! {
        <span class=move || format!("state state-{}", sign.get().as_str())>
            <StateShape sign=sign />
            {move || sign.get().words()}
        </span>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;
    use commands::samples::pod;

    #[test]
    fn a_failed_run_is_told_wherever_a_pod_is_and_ends_with_the_next_one() {
        let failed = PodSummary { needs_you: true, ..pod("ada", PodState::Idle) };
        assert_eq!((Sign::of(&failed), Sign::of(&failed).words()), (Sign::Failed, "failed"));
        assert_eq!(Sign::of(&pod("ada", PodState::Idle)), Sign::Of(PodState::Idle));
        for state in [PodState::Running, PodState::Waiting, PodState::Paused, PodState::Broken] {
            assert_eq!(Sign::in_state(state, true), Sign::Of(state));
        }
    }

    #[test]
    fn no_two_signs_have_the_same_shape() {
        let mut shapes: Vec<_> =
            PodState::ALL.into_iter().map(Sign::Of).chain([Sign::Failed]).map(Sign::outline).collect();
        shapes.sort_unstable();
        shapes.dedup();
        assert_eq!(shapes.len(), PodState::ALL.len() + 1);
    }
}
