use commands::family::descendants;
use leptos::prelude::*;
use protocol::{PodRef, PodSummary, ScopeRule};

use crate::{
    acting::spawn,
    components::{
        link::pod_link,
        state_mark::{Sign, StateShape},
        with_pods::WithPods,
    },
    console::{Console, PodContext, use_console, use_pod},
    format::counted,
    redrawn::redrawn,
};

/// The Pod's parent and its descendants.
#[component]
pub(crate) fn Family() -> impl IntoView {
    let console = use_console();
    let pod = use_pod();
    let parent = Memo::new(move |_| {
        let parent = pod.summary.with(|summary| summary.relations.parent.clone())?;
        let name = console.pod(&parent).map(|parent| parent.name.to_string());
        Some((parent, name.unwrap_or_else(|| "a Pod not in the list".to_owned())))
    });
    let led_by = move || {
        parent.get().map(|(parent, name)| {
            view! {
                <section>
                    <h2>"Parent"</h2>
                    {pod_link(&parent, name)}
                </section>
            }
            .into_any()
        })
    };
    view! {
        <WithPods>{redrawn(led_by)}</WithPods>
        <section>
            <h2>"Children"</h2>
            <WithPods>
                <Children console=console pod=pod />
            </WithPods>
            <button type="button" class="quiet spawn" on:click=move |_| spawn(console, &untrack(|| pod.as_it_is()), String::new())>
                "Spawn a child…"
            </button>
        </section>
    }
}

/// One line of the tree.
#[derive(Debug, Clone, PartialEq)]
struct Line {
    pod: PodRef,
    name: String,
    sign: Sign,
    depth: usize,
    /// The scope lent to it by this Pod; only for its own children.
    lent: Option<Vec<ScopeRule>>,
}

#[component]
fn Children(console: Console, pod: PodContext) -> impl IntoView {
    let lines = Memo::new(move |_| pod.detail.with(|detail| console.with_pods(|pods| lines(pods, detail))));
    let line = |line: Line| {
        let lent = line.lent.map(|rules| match rules.len() {
            0 => "nothing lent".to_owned(),
            count => format!("{} lent", counted(count as u64, "path")),
        });
        let class = ["child", "child child-2", "child child-3", "child child-4"][line.depth.min(3)];
        view! {
            <li class=class>
                <StateShape sign=Signal::stored(line.sign) />
                {pod_link(&line.pod, line.name)}
                <small>
                    {line.sign.word()} {lent.map(|lent| view! { " · " {lent} }.into_any())}
                </small>
            </li>
        }
        .into_any()
    };
    view! {
        <ul class="children">{redrawn(move || lines.get().into_iter().map(line).collect_view())}</ul>
        {redrawn(move || lines.with(Vec::is_empty).then(|| view! { <small>"none"</small> }.into_any()))}
    }
}

/// The Pod's children in the order in which they were spawned, each followed by its descendants. The list of Pods has
/// the newest state; a child that is not in it is shown as this Pod's detail has it.
fn lines(pods: &[PodSummary], detail: &protocol::PodDetail) -> Vec<Line> {
    let mut lines = Vec::new();
    for child in &detail.children {
        let listed = pods.iter().find(|pod| pod.pod == child.pod);
        lines.push(Line {
            pod: child.pod.clone(),
            name: listed.map_or(&child.name, |pod| &pod.name).to_string(),
            sign: listed.map_or(Sign::Of(child.state), Sign::of),
            depth: 0,
            lent: Some(child.scope.clone()),
        });
        lines.extend(descendants(pods, &child.pod).into_iter().map(|(below, depth)| Line {
            pod: below.pod.clone(),
            name: below.name.to_string(),
            sign: Sign::of(below),
            depth: depth + 1,
            lent: None,
        }));
    }
    lines
}
