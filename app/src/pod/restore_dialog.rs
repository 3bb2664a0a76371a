use commands::family::descendants;
use leptos::prelude::*;
use protocol::{PodState, PodSummary, RestoreCommand, RestoreLine};

use crate::{
    components::{deed::Deed, dialog::FormDialog},
    console::{fresh_command, use_console},
    live,
    redrawn::redrawn,
    server_fns::restore_pod,
};

/// For a Pod with children: restores it alone or with all its stopped descendants, then shows what became of each.
#[component]
pub(crate) fn RestoreDialog(pod: PodSummary) -> impl IntoView {
    let console = use_console();
    let deed = Deed::default();
    let tree = RwSignal::new(true);
    let report = RwSignal::new(Vec::<RestoreLine>::new());
    let stopped = console.pods();
    let stopped: Vec<String> = descendants(&stopped, &pod.pod)
        .into_iter()
        .filter(|(pod, _)| pod.state == PodState::Stopped)
        .map(|(pod, _)| pod.name.to_string())
        .collect();
    let names = if stopped.is_empty() { "none of them is stopped".to_owned() } else { stopped.join(", ") };
    let title = format!("Restore {}", pod.name);
    let submit = Callback::new(move |()| {
        let (pod, tree) = (pod.pod.clone(), tree.get_untracked());
        deed.begin(Box::pin(async move {
            let receipt = restore_pod(pod, fresh_command(), RestoreCommand { tree }).await?;
            match receipt.report.is_empty() {
                true => live::close_dialog("restore"),
                false => drop(report.try_set(receipt.report)),
            }
            Ok(())
        }));
    });
    let is_over = Signal::derive(move || report.with(|report| !report.is_empty()));
    view! {
        <FormDialog id="restore" title=title submit="Restore" deed=deed is_over=is_over on_submit=submit>
            <label class="choice" class:is-hidden=move || is_over.get()>
                <input
                    type="checkbox"
                    prop:checked=move || tree.get()
                    on:change=move |event| tree.set(event_target_checked(&event))
                />
                <span>"with its children: " <b>{names}</b></span>
            </label>
            <div role="status">
                <ul class="report">{redrawn(move || report.get().into_iter().map(line).collect_view())}</ul>
            </div>
        </FormDialog>
    }
}

fn line(line: RestoreLine) -> impl IntoView {
    let (mark, class) = if line.restored { ("✓ ", "ok") } else { ("✗ ", "bad") };
    let said = match (line.restored, line.reason) {
        (true, None) => "is live again".to_owned(),
        (true, Some(missing)) => format!("is live again; {missing}"),
        (false, reason) => format!("was not restored: {}", reason.unwrap_or_else(|| "no reason was given".to_owned())),
    };
    view! {
        <li>
            <span class=class>{mark}</span>
            <b>{line.name.to_string()}</b>
            " "
            {said}
        </li>
    }
    .into_any()
}
