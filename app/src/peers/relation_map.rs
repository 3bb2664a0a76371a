//! The layout of the map: where each Pod stands, and the lines between them. Pure: the server and the browser draw
//! the same.
//!
//! Parents stand above their children. Trees whose Pods are peers stand next to each other. A row too long for the
//! screen wraps, and lines to its continuation go around what is between. Pods without parent, children or peers are
//! only counted.

mod lines;
mod places;
mod routes;
#[cfg(test)]
mod tests;

use protocol::{PodName, PodRef, PodSummary};

use self::places::Graph;
use crate::{
    components::{abroad::named_from_here, state_mark::Sign},
    server_fns::RelationsFound,
};

/// The maximum number of Pods in a row: on a wide screen, on a medium one and on a phone.
pub(crate) const COLUMNS_WIDE: i32 = 6;
pub(crate) const COLUMNS_MIDDLING: i32 = 3;
pub(crate) const COLUMNS_NARROW: i32 = 2;

/// Pixels between the centres of neighbouring Pods.
const PITCH_X: i32 = 176;
const PITCH_Y: i32 = 100;
pub(crate) const NODE_WIDTH: i32 = 136;
pub(crate) const NODE_HEIGHT: i32 = 36;
const MARGIN: i32 = 24;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RelationMap {
    pub(crate) width: i32,
    pub(crate) height: i32,
    pub(crate) nodes: Vec<Node>,
    pub(crate) edges: Vec<Edge>,
    /// The number of Pods without any relation, which are not drawn.
    pub(crate) alone: usize,
}

/// A Pod and the position of its centre.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    pub(crate) pod: PodRef,
    pub(crate) name: PodName,
    pub(crate) sign: Sign,
    pub(crate) x: i32,
    pub(crate) y: i32,
}

impl Node {
    /// Its name, with its runtime where that is not this server.
    pub(crate) fn told(&self) -> String {
        named_from_here(&self.name, &self.pod)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Line {
    Leads,
    Knows,
    /// There is an open peer request between them.
    Asked,
}

impl Line {
    /// The words between the two names in the table.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Leads => "parent of",
            Self::Knows => "is a peer of",
            Self::Asked => "peer request to",
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Edge {
    pub(crate) from: (PodRef, PodName),
    pub(crate) to: (PodRef, PodName),
    pub(crate) line: Line,
    /// The target of a click: the messages between two peers, or the child's page.
    pub(crate) href: String,
    /// An SVG path.
    pub(crate) path: String,
    /// A short label beside the line, and the position of the middle of its baseline.
    pub(crate) label: String,
    pub(crate) label_at: (i32, i32),
    /// The full detail, for the table.
    pub(crate) detail: String,
}

/// Draws the map of these Pods, with at most `columns` in a row.
pub(crate) fn draw(pods: &[PodSummary], found: &RelationsFound, columns: i32) -> RelationMap {
    let graph = Graph::new(pods, found, columns);
    let block = graph.block();
    let mut nodes: Vec<Node> = block
        .places
        .iter()
        .map(|place| {
            let pod = graph.pods[place.pod];
            Node {
                pod: pod.pod.clone(),
                name: pod.name.clone(),
                sign: Sign::of(pod),
                x: MARGIN + NODE_WIDTH / 2 + place.half_column * PITCH_X / 2,
                y: MARGIN + NODE_HEIGHT / 2 + place.row * PITCH_Y,
            }
        })
        .collect();
    // In reading order.
    nodes.sort_by_key(|node| (node.y, node.x));
    let (columns, rows) = (block.width.max(1), block.height.max(1));
    let width = 2 * MARGIN + NODE_WIDTH + (columns - 1) * PITCH_X;
    let edges = lines::edges(&nodes, width, pods, found);
    let lowest = edges.iter().map(|edge| edge.label_at.1 + MARGIN).max().unwrap_or_default();
    RelationMap {
        width,
        height: lowest.max(2 * MARGIN + NODE_HEIGHT + (rows - 1) * PITCH_Y),
        nodes,
        edges,
        alone: pods.len() - graph.pods.len(),
    }
}
