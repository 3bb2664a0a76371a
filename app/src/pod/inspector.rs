mod agent;
mod audit;
mod commands;
mod context_meter;
mod family;
mod network;
mod peers;
mod previews;
mod scope;
mod tasks;

use leptos::{ev, prelude::*};
use transcript::{
    unseen,
    words::{ESTIMATED, about_cost, about_tokens, auto_resume_words, fallback_words},
};

use self::{
    agent::Agent, audit::Audit, commands::Commands, context_meter::ContextMeter, family::Family,
    network::NetworkChoice, peers::Peers, previews::Previews, scope::Scope, tasks::Tasks,
};
use crate::{
    components::{state_mark::StateWord, when::Since},
    console::{Over, drawn_over, pod_href, use_pod},
    format::percent,
    live::{self, Memory},
    pod::changed::ChangedFiles,
    redrawn::redrawn,
    settings::permissions::{message_words, peer_words, reasoning_words, verb, warned},
    usage::RunsLine,
};

/// The name under which the browser remembers that the rest is open.
const MORE: &str = "inspect-more";

/// Everything about this Pod besides its transcript.
#[component]
pub(crate) fn Inspector() -> impl IntoView {
    let pod = use_pod();
    let transcript = pod.pod.with_value(pod_href);
    view! {
        <aside class="inspect" aria-label="Details">
            <a class="button to-transcript" href=transcript>
                "Transcript of " {redrawn(move || pod.summary.with(|summary| summary.name.to_string()))}
            </a>
            <Tasks />
            <Commands />
            <ChangedFiles />
            <Agent />
            <Family />
            <Peers />
            <div class="inspect-foot">
                <ContextMeter />
                <More />
            </div>
        </aside>
    }
}

/// What is looked up now and then. Drawn once it is opened; open or closed, it stays so on every Pod's page.
#[component]
fn More() -> impl IntoView {
    let is_open = RwSignal::new(false);
    Effect::new(move |_| is_open.set(live::kept(Memory::Local, MORE).is_some()));
    let flip = move |event: ev::MouseEvent| {
        event.prevent_default();
        is_open.update(|is_open| *is_open = !*is_open);
        live::remember(Memory::Local, MORE, is_open.get_untracked().then_some("open"));
    };
    let body = move || is_open.get().then(|| drawn_over(Over::Facts));
    view! {
        <details class="more inspect-more" prop:open=move || is_open.get()>
            <summary on:click=flip>"Folder, scope, usage, rules, audit"</summary>
            {redrawn(body)}
        </details>
    }
}

/// What [`More`] contains.
#[component]
pub(crate) fn AllFacts() -> impl IntoView {
    view! {
        <Facts />
        <Scope />
        <Previews />
        <UsageFacts />
        <Rules />
        <Audit />
    }
}

#[component]
fn Facts() -> impl IntoView {
    let pod = use_pod();
    let reason = move || pod.summary.with(|summary| summary.state_reason.clone());
    let activity =
        move || pod.summary.with(|summary| summary.activity.as_deref().map(|doing| unseen::shown(doing).into_owned()));
    let summary = pod.summary;
    // An agent has a section of its own.
    let provider = move || summary.with(|summary| summary.agent.is_none().then(|| summary.provider.clone()));
    let thinking = move || pod.detail.with(|detail| detail.thinking);
    view! {
        <section>
            <h2>"Pod"</h2>
            <dl>
                <dt>"name"</dt>
                <dd>{redrawn(move || summary.with(|summary| summary.name.to_string()))}</dd>
                <dt>"state"</dt>
                <dd>
                    <StateWord sign=Signal::derive(move || pod.sign()) />
                    {redrawn(move || reason().map(|reason| view! { <small>{reason}</small> }.into_any()))}
                </dd>
                {redrawn(move || activity().map(|activity| view! { <dt>"doing"</dt><dd>{activity}</dd> }.into_any()))}
                <dt>"model"</dt>
                <dd>{redrawn(move || summary.with(|summary| summary.model.clone()))}</dd>
                {redrawn(move || provider().map(|provider| view! { <dt>"provider"</dt><dd>{provider}</dd> }.into_any()))}
                {redrawn(move || thinking().map(|level| view! { <dt>"thinking"</dt><dd>{level.as_str()}</dd> }.into_any()))}
                <dt>"folder"</dt>
                <dd>
                    <code>{redrawn(move || summary.with(|summary| summary.cwd.clone()))}</code>
                </dd>
                {redrawn(move || {
                    pod.git()
                        .and_then(|git| Some((git.worktree?, git.from)))
                        .map(|(path, from)| {
                            let from = from.map(|from| format!(" (from {from})")).unwrap_or_default();
                            let path = match summary.with(|summary| summary.cwd == path) {
                                true => "this folder".into_any(),
                                false => view! { <code>{path}</code> }.into_any(),
                            };
                            view! {
                                <dt>"work tree"</dt>
                                <dd>{path} {from}</dd>
                            }.into_any()
                        })
                })}
                <dt>"runtime"</dt>
                <dd>{redrawn(move || summary.with(|summary| summary.pod.runtime_id.to_string()))}</dd>
                <dt>"created"</dt>
                <dd>{redrawn(move || view! { <Since at=summary.with(|summary| summary.created_at) /> }.into_any())}</dd>
                <dt>"records"</dt>
                <dd>
                    {redrawn(move || {
                        pod.rows.status.with(|(head, _)| (*head).max(summary.with(|summary| summary.head_seq))).to_string()
                    })}
                </dd>
            </dl>
        </section>
    }
}

#[component]
fn UsageFacts() -> impl IntoView {
    let usage = use_pod().summary;
    let figure = move |read: fn(&protocol::Usage) -> u64| {
        usage.with(|summary| about_tokens(read(&summary.usage), summary.usage.estimated))
    };
    let cost =
        move || usage.with(|summary| about_cost(summary.usage.cost, summary.usage.currency, summary.usage.estimated));
    let is_estimated = Memo::new(move |_| usage.with(|summary| summary.usage.estimated));
    let estimated = move || is_estimated.get().then(|| view! { <small>{ESTIMATED} "."</small> }.into_any());
    let cached = move || {
        usage
            .with(|summary| percent(summary.usage.cached, summary.usage.input))
            .map_or_else(|| "–".to_owned(), |share| format!("{share} %"))
    };
    let detail = use_pod().detail;
    let budget = move || {
        detail.with(|detail| {
            let used = detail.budget_used.map(|used| format!(" · {} % used", used.percent)).unwrap_or_default();
            detail.summary.budget.map(|budget| format!("{}{used}", budget.words()))
        })
    };
    view! {
        <section>
            <h2>"Usage"</h2>
            <dl>
                <dt>"in"</dt>
                <dd>{redrawn(move || figure(|usage| usage.input))}</dd>
                <dt>"out"</dt>
                <dd>{redrawn(move || figure(|usage| usage.output))}</dd>
                <dt>"cached"</dt>
                <dd>{redrawn(cached)}</dd>
                <dt>"cost"</dt>
                <dd>{redrawn(cost)}</dd>
                {redrawn(move || budget().map(|words| view! { <dt>"budget"</dt><dd>{words}</dd> }.into_any()))}
            </dl>
            {redrawn(estimated)}
            <RunsLine />
        </section>
    }
}

#[component]
fn Rules() -> impl IntoView {
    let detail = use_pod().detail;
    let reasoning = move || detail.with(|detail| reasoning_words(detail.reasoning));
    let peers = move || detail.with(|detail| peer_words(detail.peer_policy));
    let wakes = move || detail.with(|detail| message_words(detail.wake_on_peer));
    let limits = move || auto_resume_words(detail.with(|detail| detail.auto_resume));
    let fallback = move || {
        let names = detail.with(|detail| fallback_words(&detail.fallback));
        (!names.is_empty()).then(|| view! { <dt>"fallback"</dt><dd>{names}</dd> }.into_any())
    };
    let permissions = move || {
        let rules = detail.with(|detail| detail.permissions.clone());
        let rule = |rule: protocol::PermissionRule| {
            let pattern = rule.pattern.map(|pattern| view! { " " <code>{pattern}</code> }.into_any());
            let folder = rule.folder.map(|folder| view! { " in " <code>{folder}</code> }.into_any());
            view! {
                <dt>{rule.tool}</dt>
                <dd>{verb(rule.decision)} {pattern} {folder}</dd>
            }
            .into_any()
        };
        rules.into_iter().map(rule).collect_view()
    };
    let warnings = move || warned(detail.with(|detail| detail.warnings.clone()));
    view! {
        <section>
            <h2>"Rules"</h2>
            <dl>
                <dt>"reasoning"</dt>
                <dd>{redrawn(reasoning)}</dd>
                <dt>"peers"</dt>
                <dd>{redrawn(peers)}</dd>
                <dt>"a message"</dt>
                <dd>{redrawn(wakes)}</dd>
                <dt>"usage limit"</dt>
                <dd>{redrawn(limits)}</dd>
                {redrawn(fallback)}
                <dt>"network"</dt>
                <dd>
                    <NetworkChoice />
                </dd>
                {redrawn(permissions)}
            </dl>
            {redrawn(warnings)}
        </section>
    }
}
