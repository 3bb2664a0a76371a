//! How far the plan of the Pod's agent is, or the Pod's task list, beside the message field: the inspector has all of
//! it.

use leptos::prelude::*;
use protocol::PlanEntry;
use transcript::{unseen, words::plan_words};

use crate::{console::use_pod, redrawn::redrawn};

/// Shows nothing without a plan, or once every step is done.
#[component]
pub(super) fn PlanLine() -> impl IntoView {
    let detail = use_pod().detail;
    let words = Memo::new(move |_| {
        detail.with(|detail| match &detail.session {
            Some(session) => words(&session.plan).map(|words| ("Plan", words)),
            None => words(&detail.tasks).map(|words| ("Tasks", words)),
        })
    });
    redrawn(move || {
        words.get().map(|(title, words)| view! { <p class="plan-line"><b>{title}</b> " " {words}</p> }.into_any())
    })
}

fn words(plan: &[PlanEntry]) -> Option<String> {
    let is_open = plan.iter().any(|entry| entry.status != "completed");
    let plan = serde_json::to_value(plan).ok().filter(|_| is_open)?;
    Some(unseen::shown(&plan_words(&plan)).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_shown_until_all_of_it_is_done() {
        let step = |content: &str, status: &str| PlanEntry {
            content: content.into(),
            priority: "high".into(),
            status: status.into(),
        };
        let plan = [step("look", "completed"), step("mend", "in_progress")];
        assert_eq!(words(&plan).as_deref(), Some("1 of 2 done, now: mend"));
        assert_eq!((words(&[step("look", "completed")]), words(&[])), (None, None));
    }
}
