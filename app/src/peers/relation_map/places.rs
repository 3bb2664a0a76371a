//! The position of each Pod, in columns and rows.

use protocol::{PodRef, PodSummary};

use crate::server_fns::{PeerPair, RelationsFound};

/// Below this depth a tree continues as a separate tree.
const DEPTH_MAX: usize = 24;

/// The Pods that have a relation, sorted by name, and their relations by index.
pub(super) struct Graph<'a> {
    pub(super) pods: Vec<&'a PodSummary>,
    parents: Vec<Option<usize>>,
    pairs: Vec<(usize, usize)>,
    columns: i32,
}

impl<'a> Graph<'a> {
    pub(super) fn new(all: &'a [PodSummary], found: &RelationsFound, columns: i32) -> Self {
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

    /// Lays out all trees, with trees of peers next to each other.
    pub(super) fn block(&self) -> Block {
        let mut trees: Vec<(Vec<usize>, Block)> = Vec::new();
        let mut placed = vec![false; self.pods.len()];
        let roots = (0..self.pods.len()).filter(|&pod| self.parents[pod].is_none());
        // Last come Pods in a cycle of parents, which has no root.
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

/// Pods at positions relative to the block's upper left corner.
#[derive(Debug, Default)]
pub(super) struct Block {
    /// Width and height in columns and rows.
    pub(super) width: i32,
    pub(super) height: i32,
    pub(super) places: Vec<Place>,
}

#[derive(Debug)]
pub(super) struct Place {
    pub(super) pod: usize,
    pub(super) half_column: i32,
    pub(super) row: i32,
}

/// Places blocks next to each other, on as many rows as they need.
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
