use leptos::prelude::*;
use protocol::Seq;

use crate::{
    live,
    rows::{Rows, dom_id},
};

/// The record in the address, and the block that shows it.
#[derive(Debug, Clone)]
struct Linked {
    seq: Seq,
    block: String,
}

/// Tells the blocks which of them `at` refers to; none of them if no block has this record.
pub(crate) fn provide_linked(rows: Rows, at: Option<Seq>) {
    let linked = at.and_then(|seq| Some(Linked { seq, block: dom_id(&rows.block_at(seq)?) }));
    provide_context(linked);
}

/// The element id of the block that the address leads to. On navigation within the console this is known before the
/// address changes.
pub(super) fn linked_block() -> Option<String> {
    use_context::<Option<Linked>>().flatten().map(|linked| linked.block)
}

/// An anchor inside the linked block with the record's id, so that `#seq-N` works without a script too. Expands
/// whatever is collapsed in the block once it is drawn.
#[component]
pub(super) fn LinkedHere(id: String) -> impl IntoView {
    let linked = use_context::<Option<Linked>>().flatten().filter(|linked| linked.block == id)?;
    let name = format!("seq-{}", linked.seq);
    let name = (name != id).then_some(name);
    Effect::new(move |_| live::open_block(&id));
    Some(view! { <span class="linked-record" id=name></span> }.into_any())
}
