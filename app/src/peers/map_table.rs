use leptos::prelude::*;

use crate::{
    components::link::far_pod_link,
    peers::relation_map::{Edge, Line, RelationMap},
    redrawn::redrawn,
};

/// The same relations as the picture, one per row.
#[component]
pub(crate) fn MapTable(map: Memo<RelationMap>) -> impl IntoView {
    view! {
        <table class="map-table">
            <caption class="visually-hidden">"All children and peers"</caption>
            <thead>
                <tr>
                    <th scope="col">"Pod"</th>
                    <th scope="col">"Relation"</th>
                    <th scope="col">"Pod"</th>
                    <th scope="col">"What"</th>
                </tr>
            </thead>
            <tbody>{redrawn(move || map.with(|map| map.edges.iter().map(row).collect_view()))}</tbody>
        </table>
    }
}

fn row(edge: &Edge) -> impl IntoView + use<> {
    let link = |(pod, name): &(protocol::PodRef, protocol::PodName)| far_pod_link(pod, name);
    let detail = match edge.line {
        Line::Leads => view! { {edge.detail.clone()} }.into_any(),
        Line::Knows | Line::Asked => view! { <a href=edge.href.clone()>{edge.detail.clone()}</a> }.into_any(),
    };
    view! {
        <tr>
            <th scope="row">{link(&edge.from)}</th>
            <td>{edge.line.words()}</td>
            <td>{link(&edge.to)}</td>
            <td>{detail}</td>
        </tr>
    }
    .into_any()
}
