//! Blocks being written: begun, extended, closed.

use protocol::Seq;

use crate::{
    Pod,
    state::{BlockKind, OpenBlock},
};

pub(super) fn grow(pod: &mut Pod, seq: Seq, block: &str, kind: BlockKind, text: &str) {
    // Nearly always it is the newest block that grows.
    match pod.open_blocks.iter_mut().rev().find(|open| open.id == block) {
        Some(open) => open.text.push_str(text),
        None => {
            count(pod, block);
            let (id, text) = (block.to_owned(), text.to_owned());
            pod.open_blocks.push(OpenBlock { id, kind, text, first_seq: seq, name: None });
        }
    }
}

pub(super) fn close(pod: &mut Pod, block: &str) {
    count(pod, block);
    pod.open_blocks.retain(|open| open.id != block);
}

/// Block ids are `b1`, `b2`, …; the highest one seen is the number of blocks begun.
fn count(pod: &mut Pod, block: &str) {
    if let Some(number) = block.strip_prefix('b').and_then(|digits| digits.parse().ok()) {
        pod.blocks = pod.blocks.max(number);
    }
}
