use leptos::prelude::*;
use protocol::{PodRef, PodSummary, Seq};

use crate::{
    codec::fetched,
    components::{link::far_pod_link, page::Page, read_first::ReadFirst, with_pods::WithPods},
    console::use_console,
    format::counted,
    peers::{
        map_picture::MapPicture,
        map_table::MapTable,
        relation_map::{self, COLUMNS_MIDDLING, COLUMNS_NARROW, COLUMNS_WIDE, Line, RelationMap},
    },
    reading::{First, Reading},
    redrawn::redrawn,
    server_fns::{Program, RelationsFound, relations},
};

/// Minimum time between two reads of the relations, in milliseconds.
const READING_MS_MIN: u32 = 2_000;

/// `/map`: children and peers, as a picture and as a table.
#[component]
pub(crate) fn MapPage() -> impl IntoView {
    let first = fetched(|| (), |()| relations());
    view! {
        <Page title="Map" class="map">
            <ReadFirst
                first=first
                wait="Loading the map…"
                draw=|found| view! { <WithPods><Drawn found=found.clone() /></WithPods> }.into_any()
            />
        </Page>
    }
}

#[component]
fn Drawn(found: RelationsFound) -> impl IntoView {
    let console = use_console();
    let found = RwSignal::new(found);
    keep_read(found);
    // Tokens and activities change all the time and are not on the map, so ignore them.
    let bones = Memo::new(move |_| console.pods().into_iter().map(bare).collect::<Vec<_>>());
    let drawn = move |columns| {
        Memo::new(move |_| bones.with(|pods| found.with(|found| relation_map::draw(pods, found, columns))))
    };
    let (map, middling, narrow) = (drawn(COLUMNS_WIDE), drawn(COLUMNS_MIDDLING), drawn(COLUMNS_NARROW));
    let is_blank = Memo::new(move |_| map.with(|map| map.nodes.is_empty()));
    redrawn(move || match is_blank.get() {
        true => view! {
            <p class="hint">
                "No Pod has a child or a peer yet. The menu on a Pod's page adds a peer, as "
                <kbd>"p"</kbd> " does, or spawns a child."
            </p>
            <Programs found=found />
        }
        .into_any(),
        false => view! {
            <Legend map=map />
            // CSS shows one of them by the width of the screen, so all three are in the first paint.
            <MapPicture map=map class="is-wide" />
            <MapPicture map=middling class="is-middling" />
            <MapPicture map=narrow class="is-narrow" />
            <MapTable map=map />
            <Programs found=found />
        }
        .into_any(),
    })
}

/// Programs that act on Pods from outside, over MCP; nothing if there are none.
#[component]
fn Programs(found: RwSignal<RelationsFound>) -> impl IntoView {
    let console = use_console();
    let row = move |program: Program| {
        let acted = format!("{} in the last day", counted(program.actions.into(), "action"));
        let names = program.pods.iter().filter_map(|pod| console.pod(pod));
        let names: Vec<AnyView> =
            names.map(|pod| view! { " " {far_pod_link(&pod.pod, pod.name)} }.into_any()).collect();
        view! {
            <li>
                <b>{program.name}</b>
                " " <a href="/audit">{acted}</a>
                {names}
            </li>
        }
        .into_any()
    };
    let drawn = move |programs: Vec<Program>| {
        view! {
            <section class="map-programs" aria-labelledby="map-programs">
                <h2 id="map-programs">"Programs over MCP"</h2>
                <ul>{programs.into_iter().map(row).collect_view()}</ul>
            </section>
        }
        .into_any()
    };
    redrawn(move || Some(found.with(|found| found.programs.clone())).filter(|programs| !programs.is_empty()).map(drawn))
}

#[component]
fn Legend(map: Memo<RelationMap>) -> impl IntoView {
    let alone = move || match map.with(|map| map.alone) {
        0 => String::new(),
        count => format!("{} without children or peers not shown", counted(count as u64, "Pod")),
    };
    let has_asked = Memo::new(move |_| map.with(|map| map.edges.iter().any(|edge| edge.line == Line::Asked)));
    view! {
        <p class="hint legend">
            <span class="legend-leads">"parent of"</span>
            <span class="legend-knows">"peers, with the messages of the last hour"</span>
            {redrawn(move || has_asked.get().then(|| view! { <span class="legend-asked">{Line::Asked.words()}</span> }.into_any()))}
            <span>{redrawn(alone)}</span>
        </p>
    }
}

/// Only the fields that the map shows.
fn bare(pod: PodSummary) -> PodSummary {
    PodSummary {
        activity: None,
        state_reason: None,
        head_seq: Seq(0),
        updated_at: pod.created_at,
        unread: 0,
        queued_count: 0,
        usage: Default::default(),
        ..pod
    }
}

/// Reads the relations again whenever the journal of a Pod with peers or children grows, since any record may be
/// about them.
fn keep_read(found: RwSignal<RelationsFound>) {
    let console = use_console();
    let heads = move || {
        let head = |pod: PodSummary| (pod.pod, pod.head_seq, pod.relations.peers, pod.relations.children);
        let is_tied = |pod: &PodSummary| pod.relations.peers + pod.relations.children > 0;
        let tied = console.pods().into_iter().filter(is_tied).map(head).collect::<Vec<(PodRef, Seq, u32, u32)>>();
        (tied, console.requests.with(|requests| requests.as_ref().map(Vec::len)))
    };
    Reading::follow(READING_MS_MIN, First::IsKnown, heads, move || async move {
        if let Ok(fresh) = relations().await {
            found.try_set(fresh);
        }
    });
}
