use commands::samples::pod;
use protocol::{Access, PeerLink, PodState, ScopeRule};

use super::*;
use crate::server_fns::{Loan, PeerPair};

fn draw(pods: &[PodSummary], found: &RelationsFound) -> RelationMap {
    super::draw(pods, found, COLUMNS_WIDE)
}

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
    RelationsFound { pairs, ..Default::default() }
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

/// Samples a path of lines and curves at closely spaced points.
fn points(path: &str) -> Vec<(f64, f64)> {
    let mut points: Vec<(f64, f64)> = Vec::new();
    let mut rest = path;
    while let Some(letter) = rest.chars().next() {
        let end = rest[1..].find(char::is_alphabetic).map_or(rest.len(), |end| end + 1);
        let figures: Vec<f64> = rest[1..end].split(' ').map(|figure| figure.parse().unwrap()).collect();
        rest = &rest[end..];
        let from = points.last().copied().unwrap_or_default();
        let ends: Vec<(f64, f64)> =
            figures.chunks(2).filter(|pair| pair.len() == 2).map(|pair| (pair[0], pair[1])).collect();
        let curve = match (letter, &ends[..]) {
            ('M', [start]) => vec![*start],
            ('H', _) => vec![from, (figures[0], from.1)],
            ('L', [to]) => vec![from, *to],
            ('Q' | 'C', handles) => [&[from], handles].concat(),
            other => panic!("{other:?} in {path}"),
        };
        points.extend((0..=50).map(|step| on_curve(&curve, f64::from(step) / 50.0)));
    }
    points
}

/// De Casteljau's algorithm, for any degree.
fn on_curve(handles: &[(f64, f64)], at: f64) -> (f64, f64) {
    match handles {
        [point] => *point,
        _ => {
            let mid = |pair: &[(f64, f64)]| {
                (pair[0].0 + (pair[1].0 - pair[0].0) * at, pair[0].1 + (pair[1].1 - pair[0].1) * at)
            };
            on_curve(&handles.windows(2).map(mid).collect::<Vec<_>>(), at)
        }
    }
}

/// Asserts that no line runs behind a box, its own included, or leaves the picture.
fn assert_lines_are_free(map: &RelationMap) {
    for edge in &map.edges {
        for (x, y) in points(&edge.path) {
            let (width, height) = (f64::from(map.width), f64::from(map.height));
            assert!(x > 0.0 && x < width && y > 0.0 && y < height, "{edge:?} leaves the picture");
            let is_behind = |node: &&Node| {
                (x - f64::from(node.x)).abs() < f64::from(NODE_WIDTH / 2)
                    && (y - f64::from(node.y)).abs() < f64::from(NODE_HEIGHT / 2)
            };
            let behind = map.nodes.iter().find(is_behind);
            assert!(behind.is_none(), "{} of {edge:?} at {x} {y}", behind.unwrap().name);
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
fn peers_stand_side_by_side() {
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
    let map =
        draw(&[lone("ada"), child("bob", "ada"), lone("eve")], &RelationsFound { pairs, loans, ..Default::default() });
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

#[test]
fn no_line_lies_behind_a_box_on_whatever_screen() {
    // A large family, some of whom are peers across several rows, and a star of peers.
    let mut pods = vec![lone("ada"), child("deep", "c3"), child("deeper", "deep"), lone("hub"), lone("zoe")];
    pods.extend((0..15).map(|number| child(&format!("c{number}"), "ada")));
    pods.extend((0..4).map(|number| child(&format!("d{number}"), "c7")));
    pods.extend((0..9).map(|number| lone(&format!("p{number}"))));
    let mut pairs: Vec<PeerPair> =
        (0..9).map(|number| pair("hub", &format!("p{number}"), PeerLink::Linked, number)).collect();
    for (a, b) in [("ada", "zoe"), ("c0", "c14"), ("c1", "deeper"), ("p0", "p8"), ("c2", "d3"), ("ada", "c9")] {
        pairs.push(pair(a, b, PeerLink::Linked, 12));
    }
    // And a cycle of parents, in which a child stands above its parent.
    pods.extend([child("ring", "gnir"), child("gnir", "ring")]);
    for columns in [COLUMNS_NARROW, COLUMNS_MIDDLING, COLUMNS_WIDE] {
        let map = super::draw(&pods, &found(pairs.clone()), columns);
        assert_eq!(map.edges.len(), 15 + 4 + 2 + 2 + 15);
        assert_apart(&map);
        assert_lines_are_free(&map);
    }
}

#[test]
fn lines_of_one_parent_go_down_together() {
    let mut pods = vec![lone("ada"), lone("bob")];
    for parent in ["ada", "bob"] {
        pods.extend((0..5).map(|number| child(&format!("{parent}{number}"), parent)));
    }
    let map = super::draw(&pods, &found(vec![]), COLUMNS_NARROW);
    let trunk = |child: &str| {
        let edge = map.edges.iter().find(|edge| edge.to.1.as_str() == child).unwrap();
        let straight = points(&edge.path);
        let down = straight.windows(2).filter(|pair| (pair[0].0 - pair[1].0).abs() < 0.01);
        down.map(|pair| pair[0].0.round() as i32).next().unwrap()
    };
    assert_eq!(trunk("ada3"), trunk("ada4"));
    assert_eq!(trunk("bob3"), trunk("bob4"));
}
