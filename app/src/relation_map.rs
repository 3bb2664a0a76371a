//! Where each Pod stands on the map, and which lines lie between them. Pure: the server and the browser draw the same.
//!
//! Parents stand above their children. Trees whose Pods know each other stand beside each other. A row that is too long
//! for a screen goes on below. Pods that neither lead nor know anybody are only counted.

use protocol::{Access, PeerLink, PodName, PodRef, PodSummary, RuntimeId, ScopeRule};

use crate::{
    components::state_mark::Sign,
    console::{exchange_href, pod_href},
    format::counted,
    server_fns::{PeerPair, RelationsFound},
};

/// So many Pods stand beside each other at most, on a wide screen and on a phone.
pub(crate) const COLUMNS_WIDE: i32 = 6;
pub(crate) const COLUMNS_NARROW: i32 = 2;
/// Below this depth a tree goes on as a tree of its own.
const DEPTH_MAX: usize = 24;

/// Pixels, from the middle of a Pod to the middle of the next one.
const PITCH_X: i32 = 176;
const PITCH_Y: i32 = 100;
pub(crate) const NODE_WIDTH: i32 = 136;
pub(crate) const NODE_HEIGHT: i32 = 36;
const MARGIN: i32 = 24;
/// How far the middle of a line between two of one row lies below them; more, the farther they are apart: so lines that
/// begin together do not lie on each other.
const SAG: i32 = 20;
const SAG_MORE: i32 = 9;

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
        match self.pod.runtime_id == RuntimeId::local() {
            true => self.name.to_string(),
            false => format!("{}@{}", self.name, self.pod.runtime_id),
        }
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
            Self::Leads => "leads",
            Self::Knows => "knows",
            Self::Asked => "asked to know",
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
    let edges = edges(&nodes, pods, found);
    let (width, rows) = (block.width.max(1), block.height.max(1));
    let lowest = edges.iter().map(|edge| edge.label_at.1 + MARGIN).max().unwrap_or_default();
    RelationMap {
        width: 2 * MARGIN + NODE_WIDTH + (width - 1) * PITCH_X,
        height: lowest.max(2 * MARGIN + NODE_HEIGHT + (rows - 1) * PITCH_Y),
        nodes,
        edges,
        alone: pods.len() - graph.pods.len(),
    }
}

/// The Pods that have a relation, by name, and who leads whom by index.
struct Graph<'a> {
    pods: Vec<&'a PodSummary>,
    parents: Vec<Option<usize>>,
    pairs: Vec<(usize, usize)>,
    columns: i32,
}

impl<'a> Graph<'a> {
    fn new(all: &'a [PodSummary], found: &RelationsFound, columns: i32) -> Self {
        let is_parent = |pod: &PodSummary| all.iter().any(|other| other.relations.parent.as_ref() == Some(&pod.pod));
        let is_there = |pod: &PodRef| all.iter().any(|other| other.pod == *pod);
        let is_related = |pod: &&PodSummary| {
            let is_of = |pair: &PeerPair| pair.a == pod.pod || pair.b == pod.pod;
            pod.relations.parent.as_ref().is_some_and(is_there) || is_parent(pod) || found.pairs.iter().any(is_of)
        };
        let mut pods: Vec<&PodSummary> = all.iter().filter(is_related).collect();
        pods.sort_by(|a, b| (a.name.as_str(), &a.pod).cmp(&(b.name.as_str(), &b.pod)));
        let at = |wanted: &PodRef| pods.iter().position(|pod| pod.pod == *wanted);
        let parents = pods.iter().map(|pod| pod.relations.parent.as_ref().and_then(at)).collect();
        let pairs = found.pairs.iter().filter_map(|pair| Some((at(&pair.a)?, at(&pair.b)?))).collect();
        Self { pods, parents, pairs, columns }
    }

    /// All trees, those that know each other one after the other.
    fn block(&self) -> Block {
        let mut trees: Vec<(Vec<usize>, Block)> = Vec::new();
        let mut placed = vec![false; self.pods.len()];
        let roots = (0..self.pods.len()).filter(|&pod| self.parents[pod].is_none());
        // Last come those that a ring of parents has left without a root.
        for root in roots.chain(0..self.pods.len()) {
            if !placed[root] {
                let block = self.tree(root, 0, &mut placed);
                trees.push((block.places.iter().map(|place| place.pod).collect(), block));
            }
        }
        let mut ordered = Vec::new();
        while !trees.is_empty() {
            let mut next = vec![trees.remove(0)];
            while let Some((members, block)) = next.pop() {
                let knows = |other: &[usize]| {
                    let has = |a: &usize, b: &usize| members.contains(a) && other.contains(b);
                    self.pairs.iter().any(|(a, b)| has(a, b) || has(b, a))
                };
                let (friends, rest) = trees.into_iter().partition(|(other, _)| knows(other));
                trees = rest;
                let mut friends: Vec<_> = friends;
                friends.reverse();
                next.append(&mut friends);
                ordered.push(block);
            }
        }
        shelved(ordered, self.columns)
    }

    fn tree(&self, root: usize, depth: usize, placed: &mut [bool]) -> Block {
        placed[root] = true;
        let mut children = Vec::new();
        for child in 0..self.pods.len() {
            if self.parents[child] == Some(root) && !placed[child] && depth < DEPTH_MAX {
                children.push(self.tree(child, depth + 1, placed));
            }
        }
        let mut block = shelved(children, self.columns);
        block.places.iter_mut().for_each(|place| place.row += 1);
        block.width = block.width.max(1);
        block.height += 1;
        block.places.insert(0, Place { pod: root, half_column: block.width - 1, row: 0 });
        block
    }
}

/// Pods in their places, from the upper left corner of the block.
#[derive(Debug, Default)]
struct Block {
    /// In columns and rows.
    width: i32,
    height: i32,
    places: Vec<Place>,
}

#[derive(Debug)]
struct Place {
    pod: usize,
    half_column: i32,
    row: i32,
}

/// Blocks beside each other, on as many shelves as they need.
fn shelved(blocks: Vec<Block>, columns: i32) -> Block {
    let mut whole = Block::default();
    let (mut column, mut row) = (0, 0);
    for block in blocks {
        if column > 0 && column + block.width > columns {
            (column, row) = (0, whole.height);
        }
        whole.places.extend(block.places.into_iter().map(|place| Place {
            half_column: place.half_column + 2 * column,
            row: place.row + row,
            ..place
        }));
        column += block.width;
        whole.width = whole.width.max(column);
        whole.height = whole.height.max(row + block.height);
    }
    whole
}

fn edges(nodes: &[Node], pods: &[PodSummary], found: &RelationsFound) -> Vec<Edge> {
    let node = |pod: &PodRef| nodes.iter().find(|node| node.pod == *pod);
    let led = nodes.iter().filter_map(|child| {
        let pod = pods.iter().find(|pod| pod.pod == child.pod)?;
        let parent = node(pod.relations.parent.as_ref()?)?;
        let loan = found.loans.iter().find(|loan| loan.from == parent.pod && loan.to == child.pod);
        Some(leads(parent, child, loan.map_or(&[], |loan| loan.rules.as_slice())))
    });
    let known = found.pairs.iter().filter_map(|pair| Some(knows(node(&pair.a)?, node(&pair.b)?, pair)));
    led.chain(known).collect()
}

fn leads(parent: &Node, child: &Node, lent: &[ScopeRule]) -> Edge {
    let (top, bottom) = (parent.y + NODE_HEIGHT / 2, child.y - NODE_HEIGHT / 2);
    let middle = (top + bottom) / 2;
    let (x1, x2) = (parent.x, child.x);
    let rule = |rule: &ScopeRule| format!("{} {}", access_words(rule.access), rule.path);
    let detail = match lent {
        [] => "nothing is lent".to_owned(),
        rules => format!("lends {}", rules.iter().map(rule).collect::<Vec<_>>().join(", ")),
    };
    Edge {
        from: (parent.pod.clone(), parent.name.clone()),
        to: (child.pod.clone(), child.name.clone()),
        line: Line::Leads,
        href: pod_href(&child.pod),
        path: format!("M{x1} {top}C{x1} {middle} {x2} {middle} {x2} {bottom}"),
        label: loan_label(lent),
        label_at: (x2, bottom - 6),
        detail,
    }
}

fn access_words(access: Access) -> &'static str {
    match access {
        Access::Read => "read",
        Access::Write => "write",
        Access::Deny => "deny",
    }
}

/// `lends tests`, `lends tests +2`: the last part of the first path. What is denied is no loan.
fn loan_label(lent: &[ScopeRule]) -> String {
    let mut lent = lent.iter().filter(|rule| rule.access != Access::Deny);
    let Some(first) = lent.next() else { return String::new() };
    let name: String = first.path.rsplit('/').find(|part| !part.is_empty()).unwrap_or("/").chars().take(14).collect();
    match lent.count() {
        0 => format!("lends {name}"),
        more => format!("lends {name} +{more}"),
    }
}

fn knows(a: &Node, b: &Node, pair: &PeerPair) -> Edge {
    let line = if pair.link == PeerLink::Pending { Line::Asked } else { Line::Knows };
    let (left, right) = if (a.y, a.x) <= (b.y, b.x) { (a, b) } else { (b, a) };
    let (path, label_at) = peer_path(left, right);
    let (label, detail) = match pair.link {
        PeerLink::Pending => ("asked".to_owned(), "waits for an answer".to_owned()),
        PeerLink::OneSided => ("one-sided".to_owned(), "one-sided: it carries no messages".to_owned()),
        PeerLink::Linked if pair.messages == 0 => (String::new(), "no message in the last hour".to_owned()),
        PeerLink::Linked => {
            let words = format!("{} in the last hour", counted(u64::from(pair.messages), "message"));
            (format!("{}/h", pair.messages), words)
        }
    };
    Edge {
        from: (a.pod.clone(), a.name.clone()),
        to: (b.pod.clone(), b.name.clone()),
        line,
        href: exchange_href(&a.pod, &b.pod),
        path,
        label,
        label_at,
        detail,
    }
}

/// Straight to a neighbour, in a bow below others of the row, and slantwise to another row; never where a line from a
/// parent begins or ends.
fn peer_path(a: &Node, b: &Node) -> (String, (i32, i32)) {
    let middle = (a.x + b.x) / 2;
    match (a.y == b.y, b.x - a.x) {
        (true, ..=PITCH_X) => {
            let (x1, x2) = (a.x + NODE_WIDTH / 2, b.x - NODE_WIDTH / 2);
            (format!("M{x1} {0}H{x2}", a.y), (middle, a.y - 6))
        }
        (true, _) => {
            let y = a.y + NODE_HEIGHT / 2;
            let (x1, x2) = (a.x + NODE_WIDTH / 4, b.x - NODE_WIDTH / 4);
            let sag = SAG + SAG_MORE * ((b.x - a.x) / PITCH_X - 2);
            // A bow comes half as far down as its handle.
            (format!("M{x1} {y}Q{middle} {} {x2} {y}", y + 2 * sag), (middle, y + sag + 4))
        }
        (false, _) => {
            let (y1, y2) = (a.y + NODE_HEIGHT / 2, b.y - NODE_HEIGHT / 2);
            let (x1, x2) = (a.x + NODE_WIDTH / 4, b.x + NODE_WIDTH / 4);
            (format!("M{x1} {y1}L{x2} {y2}"), ((x1 + x2) / 2 + 4, (y1 + y2) / 2))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::PodState;

    fn draw(pods: &[PodSummary], found: &RelationsFound) -> RelationMap {
        super::draw(pods, found, COLUMNS_WIDE)
    }
    use commands::samples::pod;

    use crate::server_fns::Loan;

    fn child(name: &str, parent: &str) -> PodSummary {
        let mut child = pod(name, PodState::Idle);
        child.relations.parent = Some(pod(parent, PodState::Idle).pod);
        child
    }

    fn lone(name: &str) -> PodSummary {
        pod(name, PodState::Idle)
    }

    fn pair(a: &str, b: &str, link: PeerLink, messages: u32) -> PeerPair {
        PeerPair { a: lone(a).pod, b: lone(b).pod, link, since: protocol::Timestamp::UNIX_EPOCH, messages }
    }

    fn found(pairs: Vec<PeerPair>) -> RelationsFound {
        RelationsFound { pairs, loans: Vec::new() }
    }

    fn place<'a>(map: &'a RelationMap, name: &str) -> &'a Node {
        map.nodes.iter().find(|node| node.name.as_str() == name).unwrap()
    }

    fn assert_apart(map: &RelationMap) {
        for (index, a) in map.nodes.iter().enumerate() {
            assert!(a.x >= NODE_WIDTH / 2 && a.x + NODE_WIDTH / 2 <= map.width, "{a:?} in {}", map.width);
            assert!(a.y >= NODE_HEIGHT / 2 && a.y + NODE_HEIGHT / 2 <= map.height, "{a:?} in {}", map.height);
            for b in &map.nodes[index + 1..] {
                assert!((a.x - b.x).abs() >= NODE_WIDTH || (a.y - b.y).abs() >= NODE_HEIGHT, "{a:?} on {b:?}");
            }
        }
    }

    #[test]
    fn a_parent_stands_above_the_middle_of_its_children() {
        let map = draw(&[lone("ada"), child("a1", "ada"), child("a2", "ada"), lone("eve")], &found(vec![]));
        let (ada, a1, a2) = (place(&map, "ada"), place(&map, "a1"), place(&map, "a2"));
        assert_eq!((a1.y, a2.y), (ada.y + PITCH_Y, ada.y + PITCH_Y));
        assert_eq!(ada.x * 2, a1.x + a2.x);
        assert_eq!((map.nodes.len(), map.alone), (3, 1));
        assert_apart(&map);
    }

    #[test]
    fn many_children_go_on_below_and_nobody_stands_on_another_one() {
        let mut pods = vec![lone("ada"), child("deep", "c3"), child("deeper", "deep")];
        pods.extend((0..20).map(|number| child(&format!("c{number}"), "ada")));
        let map = draw(&pods, &found(vec![]));
        assert_eq!(map.nodes.len(), 23);
        assert!(map.width <= 2 * MARGIN + NODE_WIDTH + (COLUMNS_WIDE - 1) * PITCH_X);
        assert_apart(&map);
    }

    #[test]
    fn on_a_phone_no_row_of_the_map_is_wider_than_the_screen() {
        let mut pods = vec![lone("ada"), lone("eve")];
        pods.extend((0..5).map(|number| child(&format!("c{number}"), "ada")));
        let map = super::draw(&pods, &found(vec![pair("ada", "eve", PeerLink::Linked, 1)]), COLUMNS_NARROW);
        assert_eq!((map.nodes.len(), map.width), (7, 2 * MARGIN + NODE_WIDTH + PITCH_X));
        assert_apart(&map);
    }

    #[test]
    fn those_that_know_each_other_stand_side_by_side() {
        let pods: Vec<PodSummary> = ["ada", "bob", "cat", "dan"].map(lone).into();
        let pairs = vec![pair("ada", "dan", PeerLink::Linked, 0), pair("bob", "cat", PeerLink::Linked, 0)];
        let map = draw(&pods, &found(pairs));
        let names: Vec<_> = map.nodes.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["ada", "dan", "bob", "cat"]);
        assert!(map.edges.iter().all(|edge| edge.path.contains('H')), "{:?}", map.edges);
    }

    #[test]
    fn a_child_that_is_a_peer_too_has_two_lines_apart() {
        let map = draw(&[lone("ada"), child("bob", "ada")], &found(vec![pair("ada", "bob", PeerLink::Linked, 3)]));
        let [leads, knows] = &map.edges[..] else { panic!("{:?}", map.edges) };
        assert_eq!((leads.line, knows.line), (Line::Leads, Line::Knows));
        assert_ne!(leads.path, knows.path);
        assert_eq!((leads.href.as_str(), knows.href.as_str()), ("/pods/local/bob", "/pods/local/ada/with/local/bob"));
        assert_eq!((knows.label.as_str(), knows.detail.as_str()), ("3/h", "3 messages in the last hour"));
    }

    #[test]
    fn loans_and_requests_are_told() {
        let rule = |path: &str, access| ScopeRule { path: path.to_owned(), access, recursive: true };
        let rules = vec![rule("/srv/yoi/tests", Access::Write), rule("/srv/docs", Access::Read)];
        let loans = vec![Loan { from: lone("ada").pod, to: lone("bob").pod, rules }];
        let pairs = vec![pair("eve", "ada", PeerLink::Pending, 0)];
        let map = draw(&[lone("ada"), child("bob", "ada"), lone("eve")], &RelationsFound { pairs, loans });
        assert_eq!(map.edges[0].label, "lends tests +1");
        assert_eq!(map.edges[0].detail, "lends write /srv/yoi/tests, read /srv/docs");
        assert_eq!((map.edges[1].line, map.edges[1].label.as_str()), (Line::Asked, "asked"));
    }

    #[test]
    fn a_ring_and_a_parent_that_is_gone_lose_nobody() {
        let pods = [child("a", "b"), child("b", "a"), child("c", "gone"), child("d", "c")];
        let map = draw(&pods, &found(vec![]));
        assert_eq!(map.nodes.len(), 4);
        assert_apart(&map);
        assert_eq!(draw(&[], &RelationsFound::default()).nodes, []);
    }

    #[test]
    fn the_same_pods_in_another_order_give_the_same_map() {
        let mut pods = vec![lone("ada"), child("a1", "ada"), child("a2", "ada"), lone("bob")];
        let found = found(vec![pair("ada", "bob", PeerLink::Linked, 0)]);
        let map = draw(&pods, &found);
        pods.reverse();
        assert_eq!(draw(&pods, &found), map);
    }
}
