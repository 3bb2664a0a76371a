//! Opens whatever is collapsed around and inside a block that a link leads to.

use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};

use super::browser;

/// Where a record's text may be hidden: reasoning, read-only calls, a summary, the rest of a long output. Not the raw
/// arguments, which nobody searches for.
const CLOSED: &str = "details:not([open], .raw), .show-all input:not(:checked)";

/// Opens the collapsed parts of the block with this id. Does nothing if it is not drawn.
pub(crate) fn open_block(id: &str) {
    browser::once_drawn(id, |block| open_in_place(&block));
}

fn open_in_place(block: &Element) {
    let mut above = block.parent_element();
    while let Some(element) = above {
        if element.tag_name() == "DETAILS" {
            open(&element);
        }
        above = element.parent_element();
    }
    let Ok(closed) = block.query_selector_all(CLOSED) else { return };
    for index in 0..closed.length() {
        if let Some(element) = closed.item(index).and_then(|node| node.dyn_into::<Element>().ok()) {
            open(&element);
        }
    }
}

fn open(element: &Element) {
    match element.tag_name().as_str() {
        "DETAILS" => {
            let _ = element.set_attribute("open", "");
        }
        _ => {
            if let Some(toggle) = element.dyn_ref::<HtmlElement>() {
                toggle.click();
            }
        }
    }
}
