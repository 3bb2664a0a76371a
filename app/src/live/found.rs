//! The mark on the block that the find bar has gone to.

use super::browser;

/// The class of the found block.
const FOUND: &str = "is-found";

/// Marks the block with this id, and unmarks any other.
pub(crate) fn mark_found(id: Option<&str>) {
    let marked = browser::document().get_elements_by_class_name(FOUND);
    while let Some(element) = marked.item(0) {
        let _ = element.class_list().remove_1(FOUND);
    }
    if let Some(id) = id {
        browser::once_drawn(id, |element| drop(element.class_list().add_1(FOUND)));
    }
}
