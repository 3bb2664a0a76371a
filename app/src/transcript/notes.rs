use leptos::prelude::*;
use protocol::{Access, ChildChange, ScopeRule};
use transcript::{
    Block, BlockKind, ChildStep, unseen,
    words::{child_words, command_ended, duration_words},
};

use crate::{components::link::pod_link, redrawn::redrawn};

/// A single line between blocks: something about a child, a wait, a rewind.
#[component]
pub(crate) fn NoteLine(block: RwSignal<Block>) -> impl IntoView {
    redrawn(move || view! { <p class="note-line">{block.with(|block| line(&block.kind))}</p> }.into_any())
}

fn line(kind: &BlockKind) -> AnyView {
    match kind {
        BlockKind::Retry { attempt, wait_ms, code, detail, .. } => {
            let words = format!("Retrying in {} (attempt {attempt}): {detail} ({code})", duration_words(*wait_ms));
            let words = unseen::shown(&words).into_owned();
            view! { <span class="is-waiting">{words}</span> }.into_any()
        }
        BlockKind::ChildEvent { what, child, detail } => {
            let what = match what {
                ChildChange::TurnEnded => "ended its turn",
                ChildChange::Errored => "failed",
                ChildChange::ShutDown => "shut down",
            };
            let detail =
                detail.as_deref().map(|detail| view! { <q>{unseen::shown(detail).into_owned()}</q> }.into_any());
            view! {
                "child "
                {pod_link(&child.pod, &child.name)}
                <span>{what}</span>
                {detail}
            }
            .into_any()
        }
        kind @ BlockKind::CommandEnded { exit_code, .. } => {
            let words = unseen::shown(&command_ended(kind)).into_owned();
            let class = if matches!(exit_code, None | Some(0)) { "" } else { "is-failed" };
            view! { <span class=class>{words}</span> }.into_any()
        }
        BlockKind::Child { what, child, scope } => {
            let rules = scope.iter().map(|rule| {
                let (access, only) = rule_words(rule);
                view! { <span>{access} " " <code>{unseen::shown(&rule.path).into_owned()}</code> {only}</span> }
                    .into_any()
            });
            let lent = match (what, scope.is_empty()) {
                (ChildStep::Stopped, _) => "loans returned",
                (_, true) => "nothing lent",
                (ChildStep::Spawned, false) => "lent:",
                (ChildStep::ScopeChanged, false) => "lent now:",
            };
            let rules = (*what != ChildStep::Stopped).then(|| rules.collect_view());
            view! {
                "child "
                {pod_link(&child.pod, &child.name)}
                <span>{child_words(*what)} "; " {lent}</span>
                {rules}
            }
            .into_any()
        }
        BlockKind::Rewound { to_seq } => {
            let words = format!("rewound to record {to_seq}: what is dimmed above is no longer in the context");
            view! { <span class="rewound">{words}</span> }.into_any()
        }
        _ => ().into_any(),
    }
}

/// `read`, `write` or `denied`, and a note if the rule covers only the folder itself.
pub(crate) fn rule_words(rule: &ScopeRule) -> (&'static str, Option<&'static str>) {
    let access = match rule.access {
        Access::Read => "read",
        Access::Write => "write",
        Access::Deny => "denied",
    };
    (access, (!rule.recursive).then_some(" (this folder only)"))
}
