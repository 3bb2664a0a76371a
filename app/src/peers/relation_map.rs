//! Where each Pod stands on the map, and which lines lie between them. Pure: the server and the browser draw the same.
//!
//! Parents stand above their children. Trees whose Pods know each other stand beside each other. A row that is too long
//! for a screen goes on below, and the lines to it go beside what is between. Pods that neither lead nor know anybody are
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

/// So many Pods stand beside each other at most, on a wide screen, on a middling one and on a phone.
pub(crate) const COLUMNS_WIDE: i32 = 6;
pub(crate) const COLUMNS_MIDDLING: i32 = 3;
pub(crate) const COLUMNS_NARROW: i32 = 2;

/// Pixels, from the middle of a Pod to the middle of the next one.
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
    /// Pods that have no relation, and no place.
    pub(crate) alone: usize,
}

/// A Pod and its middle.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    pub(crate) pod: PodRef,
    pub(crate) name: PodName,
    pub(crate) sign: Sign,
    pub(crate) x: i32,
    pub(crate) y: i32,
}

impl Node {
    /// Its name, with its runtime where that is not this server's own.
    pub(crate) fn told(&self) -> String {
        named_from_here(&self.name, &self.pod)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Line {
    Leads,
    Knows,
    /// One asked the other to be introduced.
    Asked,
}

impl Line {
    /// As in `ada knows bob`.
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
    /// Where a click on it leads: to what two wrote to each other, or to the child.
    pub(crate) href: String,
    /// An SVG path.
    pub(crate) path: String,
    /// A few words beside the line, and the middle of their base.
    pub(crate) label: String,
    pub(crate) label_at: (i32, i32),
    /// All of it, for the table.
    pub(crate) detail: String,
}

/// The map of these Pods, at most `columns` beside each other.
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
    // In the order in which one reads.
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
