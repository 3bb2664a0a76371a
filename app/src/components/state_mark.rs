pub(crate) use commands::Sign;
use leptos::prelude::*;
use protocol::PodState;

use crate::redrawn::redrawn;

/// The SVG path of each of eight shapes, which can be told apart without colour.
pub(crate) fn outline(sign: Sign) -> &'static str {
    match sign {
        Sign::Of(PodState::Idle) => "M6 2.5a3.5 3.5 0 1 0 0 7a3.5 3.5 0 1 0 0-7z",
        Sign::Of(PodState::Running) => "M6 2a4 4 0 1 0 0 8a4 4 0 1 0 0-8z",
        Sign::Of(PodState::Paused) => "M3 2.5h2v7H3zM7 2.5h2v7H7z",
        Sign::Of(PodState::Waiting) => "M6 1l5 5-5 5-5-5z",
        Sign::Of(PodState::Stopped) => "M2.5 5.2h7v1.6h-7z",
        Sign::Of(PodState::Unreachable) => "M2.5 2.5l7 7M9.5 2.5l-7 7",
        Sign::Of(PodState::Broken) => "M2 2h8v3L8 6l2 1v3H2V7l2-1-2-1z",
        Sign::Failed => "M6 1.5l5 9H1z",
    }
}

/// A mark's shape. Its class gives it its colour; it always stands beside the word.
#[component]
pub(crate) fn StateShape(#[prop(into)] sign: Signal<Sign>) -> impl IntoView {
    view! {
        <svg class=move || format!("mark mark-{}", sign.get().word()) viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
            <path d=move || outline(sign.get()) />
        </svg>
    }
}

/// Shape and word.
#[component]
pub(crate) fn StateWord(#[prop(into)] sign: Signal<Sign>) -> impl IntoView {
    view! {
        <span class=move || format!("state state-{}", sign.get().word()) title=move || sign.get().meaning()>
            <StateShape sign=sign />
            {redrawn(move || sign.get().word())}
        </span>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_signs_have_the_same_shape() {
        let mut shapes: Vec<_> = PodState::ALL.into_iter().map(Sign::Of).chain([Sign::Failed]).map(outline).collect();
        shapes.sort_unstable();
        shapes.dedup();
        assert_eq!(shapes.len(), PodState::ALL.len() + 1);
    }
}
