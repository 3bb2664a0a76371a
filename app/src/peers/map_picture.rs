use leptos::prelude::*;

use crate::{
    components::state_mark::outline,
    console::pod_href,
    peers::relation_map::{Edge, Line, NODE_HEIGHT, NODE_WIDTH, Node, RelationMap},
    redrawn::redrawn,
};

/// How many characters of a name fit into its box.
const NAME_CHARS_MAX: usize = 14;

/// The map as a drawing. Its lines are links for the mouse only: the table below has the same links for the keyboard.
#[component]
pub(crate) fn MapPicture(
    map: Memo<RelationMap>,
    /// The class that decides on which screens it is shown.
    class: &'static str,
) -> impl IntoView {
    let size = move || map.with(|map| (map.width, map.height));
    view! {
        <div class=format!("map-scroll {class}") tabindex="0" role="region" aria-label="Map of children and peers">
            <svg
                class="map-picture"
                width=move || size().0
                height=move || size().1
                viewBox=move || format!("0 0 {} {}", size().0, size().1)
                role="group"
                aria-label="Pods with their children and peers; the table below says the same"
            >
                {redrawn(move || map.with(|map| map.edges.iter().map(edge_view).collect_view()))}
                {redrawn(move || map.with(|map| map.nodes.iter().map(node_view).collect_view()))}
            </svg>
        </div>
    }
}

fn edge_view(edge: &Edge) -> impl IntoView + use<> {
    // A line is as strong as its traffic.
    let class = match edge.line {
        Line::Leads if edge.label.is_empty() => "edge edge-leads",
        Line::Leads => "edge edge-leads edge-lends",
        Line::Knows if edge.label.is_empty() => "edge edge-knows",
        Line::Knows => "edge edge-knows edge-busy",
        Line::Asked => "edge edge-asked",
    };
    let (x, y) = edge.label_at;
    let label = format!("{} {} {}: {}", edge.from.1, edge.line.words(), edge.to.1, edge.detail);
    view! {
        <g class=class aria-hidden="true">
            <a href=edge.href.clone() tabindex="-1" aria-label=label>
                <path class="edge-reach" d=edge.path.clone() />
                <path class="edge-line" d=edge.path.clone() />
                <text x=x y=y>
                    {edge.label.clone()}
                </text>
            </a>
        </g>
    }
    .into_any()
}

fn node_view(node: &Node) -> impl IntoView + use<> {
    let (left, top) = (node.x - NODE_WIDTH / 2, node.y - NODE_HEIGHT / 2);
    let name = node.told();
    let short = short(&name, node.name.as_str());
    let mark = format!("mark mark-{}", node.sign.word());
    view! {
        <g class=format!("node node-{}", node.sign.word())>
            <a href=pod_href(&node.pod) aria-label=format!("{name}, {}", node.sign.word())>
                <rect x=left y=top width=NODE_WIDTH height=NODE_HEIGHT rx="8" />
                <g class=mark transform=format!("translate({} {})", left + 10, node.y - 6)>
                    <path d=outline(node.sign) />
                </g>
                <text x=left + 30 y=node.y + 4>
                    {short}
                </text>
            </a>
        </g>
    }
    .into_any()
}

/// Cuts the name but not its runtime, which is what tells two Pods of one name apart.
fn short(told: &str, name: &str) -> String {
    if told.chars().count() <= NAME_CHARS_MAX {
        return told.to_owned();
    }
    let home = told.strip_prefix(name).unwrap_or_default();
    let room = NAME_CHARS_MAX.saturating_sub(home.chars().count() + 1).max(NAME_CHARS_MAX / 3);
    name.chars().take(room).chain(['…']).chain(home.chars().take(NAME_CHARS_MAX - room)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_is_cut_and_keeps_its_runtime() {
        assert_eq!(short("ada@box", "ada"), "ada@box");
        assert_eq!(short("reconciliations", "reconciliations"), "reconciliatio…");
        assert_eq!(short("far-away-pods@box", "far-away-pods"), "far-away-…@box");
    }
}
