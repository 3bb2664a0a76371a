//! The Pod's task list, as its model keeps it.

use leptos::prelude::*;
use protocol::PlanEntry;
use transcript::unseen;

use crate::{console::use_pod, redrawn::redrawn};

/// Shows nothing if there is no list.
#[component]
pub(super) fn Tasks() -> impl IntoView {
    let detail = use_pod().detail;
    let tasks = Memo::new(move |_| detail.with(|detail| detail.tasks.clone()));
    redrawn(move || {
        let tasks = tasks.get();
        (!tasks.is_empty()).then(|| {
            let done = tasks.iter().filter(|task| task.status == "completed").count();
            let count = tasks.len();
            view! {
                <section class="tasks" aria-label="Tasks">
                    <h2>"Tasks " <small>{done} " of " {count}</small></h2>
                    <ol class="plain">{tasks.into_iter().map(line).collect_view()}</ol>
                </section>
            }
            .into_any()
        })
    })
}

/// One step of a task list or of an agent's plan.
pub(super) fn line(task: PlanEntry) -> AnyView {
    let (class, mark, word) = match task.status.as_str() {
        "completed" => ("task-done", "✓", "done: "),
        "in_progress" => ("task-now", "◐", "in progress: "),
        _ => ("task-later", "○", ""),
    };
    view! {
        <li class=class>
            <span aria-hidden="true">{mark}</span>
            " "
            <span class="visually-hidden">{word}</span>
            {unseen::shown(&task.content).into_owned()}
        </li>
    }
    .into_any()
}
