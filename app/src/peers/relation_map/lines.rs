//! The lines between Pods, and their labels.

use protocol::{Access, PeerLink, PodRef, PodSummary, ScopeRule};

use super::{
    Edge, Line, Node,
    routes::{Route, Routes},
};
use crate::{
    console::{exchange_href, pod_href},
    format::counted,
    server_fns::{PeerPair, RelationsFound},
};

pub(super) fn edges(nodes: &[Node], width: i32, pods: &[PodSummary], found: &RelationsFound) -> Vec<Edge> {
    let mut routes = Routes::new(nodes, width);
    let node = |pod: &PodRef| nodes.iter().find(|node| node.pod == *pod);
    let led = nodes.iter().filter_map(|child| {
        let pod = pods.iter().find(|pod| pod.pod == child.pod)?;
        let parent = node(pod.relations.parent.as_ref()?)?;
        let loan = found.loans.iter().find(|loan| loan.from == parent.pod && loan.to == child.pod);
        Some((parent, child, loan.map_or(&[][..], |loan| loan.rules.as_slice())))
    });
    let known = found.pairs.iter().filter_map(|pair| Some((node(&pair.a)?, node(&pair.b)?, pair)));
    let mut edges: Vec<Edge> = led.map(|(parent, child, lent)| leads(&mut routes, parent, child, lent)).collect();
    edges.extend(known.map(|(a, b, pair)| knows(&mut routes, a, b, pair)));
    edges
}

fn leads(routes: &mut Routes, parent: &Node, child: &Node, lent: &[ScopeRule]) -> Edge {
    let Route { path, label_at } = routes.leads(parent, child);
    let rule = |rule: &ScopeRule| format!("{} {}", access_words(rule.access), rule.path);
    let detail = match lent {
        [] => "nothing lent".to_owned(),
        rules => format!("lends {}", rules.iter().map(rule).collect::<Vec<_>>().join(", ")),
    };
    Edge {
        from: (parent.pod.clone(), parent.name.clone()),
        to: (child.pod.clone(), child.name.clone()),
        line: Line::Leads,
        href: pod_href(&child.pod),
        path,
        label: loan_label(lent),
        label_at,
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

/// `lends tests`, `lends tests +2`: the last component of the first path. Denied paths are not lent.
fn loan_label(lent: &[ScopeRule]) -> String {
    let mut lent = lent.iter().filter(|rule| rule.access != Access::Deny);
    let Some(first) = lent.next() else { return String::new() };
    let name: String = first.path.rsplit('/').find(|part| !part.is_empty()).unwrap_or("/").chars().take(14).collect();
    match lent.count() {
        0 => format!("lends {name}"),
        more => format!("lends {name} +{more}"),
    }
}

fn knows(routes: &mut Routes, a: &Node, b: &Node, pair: &PeerPair) -> Edge {
    let line = if pair.link == PeerLink::Pending { Line::Asked } else { Line::Knows };
    let (left, right) = if (a.y, a.x) <= (b.y, b.x) { (a, b) } else { (b, a) };
    let Route { path, label_at } = routes.knows(left, right);
    let (label, detail) = match pair.link {
        PeerLink::Pending => ("asked".to_owned(), "request pending".to_owned()),
        PeerLink::Declined | PeerLink::Expired => (String::new(), "not peers".to_owned()),
        PeerLink::OneSided => ("one-sided".to_owned(), "one-sided: no messages get through".to_owned()),
        PeerLink::Linked if pair.messages == 0 => (String::new(), "no messages in the last hour".to_owned()),
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
