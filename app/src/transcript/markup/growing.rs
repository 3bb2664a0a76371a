//! The top-level blocks of a growing text: finished ones keep their identity from update to update, so that only the
//! last one is redrawn. Pure.

use std::sync::Arc;

use transcript::markup::{MarkupBlock, MarkupStream};

/// One top-level block. Compared by identity, which costs nothing.
#[derive(Debug, Clone)]
pub(super) struct Node(Arc<MarkupBlock>);

impl Node {
    pub(super) fn block(&self) -> MarkupBlock {
        MarkupBlock::clone(&self.0)
    }
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

#[derive(Debug, Default)]
pub(super) struct Growing {
    stream: MarkupStream,
    nodes: Vec<Node>,
}

impl Growing {
    /// Updates to the current text.
    pub(super) fn update(&mut self, text: &str) -> Vec<Node> {
        let from = self.stream.update(text).min(self.nodes.len());
        // A block that was parsed again with the same result is not redrawn.
        let before = self.nodes.split_off(from);
        let known = |offset: usize, block: &MarkupBlock| before.get(offset).filter(|node| *node.0 == *block).cloned();
        let parsed = self.stream.blocks()[from..].iter().enumerate();
        let node = |(offset, block): (usize, &MarkupBlock)| {
            known(offset, block).unwrap_or_else(|| Node(Arc::new(block.clone())))
        };
        self.nodes.extend(parsed.map(node));
        self.nodes.clone()
    }
}

#[cfg(test)]
mod tests {
    use transcript::markup::parse;

    use super::*;

    /// How many of these differ from before.
    fn changed(before: &[Node], now: &[Node]) -> usize {
        now.iter().enumerate().filter(|(index, node)| before.get(*index) != Some(*node)).count()
    }

    #[test]
    fn while_a_text_grows_only_its_end_is_another() {
        let text = "# Title\n\nOne *two* three.\n\n- a\n- b\n\n```rust\nfn main() {}\n```\n\nLast words, and more.\n";
        let mut growing = Growing::default();
        let (mut before, mut shown) = (Vec::new(), String::new());
        for letter in text.chars() {
            shown.push(letter);
            let now = growing.update(&shown);
            assert_eq!(now.iter().map(Node::block).collect::<Vec<_>>(), parse(&shown), "after {shown:?}");
            // A new line may turn out to belong to the block before it.
            assert!(changed(&before, &now) <= 2, "after {shown:?}");
            before = now;
        }
        assert_eq!(changed(&before, &growing.update(text)), 0);
    }

    #[test]
    fn a_finished_text_that_says_the_same_keeps_what_is_drawn() {
        let mut growing = Growing::default();
        let before = growing.update("one\n\ntwo\n\nthree");
        assert_eq!(changed(&before, &growing.update("one\n\ntwo\n\nthree, and more")), 1);
        assert_eq!(changed(&before, &growing.update("another\n\ntwo")), 1);
    }
}
