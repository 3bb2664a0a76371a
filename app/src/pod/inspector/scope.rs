use leptos::prelude::*;
use protocol::{Access, ChildView, ScopeRule};

use crate::{components::link::pod_link, console::use_pod, redrawn::redrawn, transcript::rule_words};

/// The Pod's scope, and which parts of it are lent. A loan that has ended is not shown.
#[component]
pub(crate) fn Scope() -> impl IntoView {
    let pod = use_pod();
    let rules = move || pod.detail.with(|detail| detail.scope.clone());
    let loans = move || {
        let children = pod.detail.with(|detail| detail.children.clone());
        let loan = |child: ChildView| {
            let rules = child.scope.clone();
            rules.into_iter().map(move |rule| loan_view(&child, &rule)).collect_view()
        };
        children.into_iter().map(loan).collect_view()
    };
    view! {
        <section>
            <h2>"Scope"</h2>
            <dl>{redrawn(move || rules().iter().map(rule_view).collect_view())} {redrawn(loans)}</dl>
            {redrawn(move || rules().is_empty().then(|| view! { <small>"(none)"</small> }.into_any()))}
        </section>
    }
}

fn rule_view(rule: &ScopeRule) -> impl IntoView + use<> {
    let (access, only) = rule_words(rule);
    view! {
        <dt>{access}</dt>
        <dd>
            <code>{rule.path.clone()}</code>
            {only}
        </dd>
    }
    .into_any()
}

fn loan_view(child: &ChildView, rule: &ScopeRule) -> impl IntoView + use<> {
    let (_, only) = rule_words(rule);
    let meaning = match rule.access {
        Access::Write => format!("for writing: {} writes, this Pod can only read", child.name),
        Access::Read => "for reading: both can read".to_owned(),
        Access::Deny => "denied to it".to_owned(),
    };
    view! {
        <dt>"lent"</dt>
        <dd>
            <code>{rule.path.clone()}</code>
            {only} " → "
            {pod_link(&child.pod, &child.name)}
            <small>{meaning}</small>
        </dd>
    }
    .into_any()
}
