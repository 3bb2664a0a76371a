//! The mark on the block that the find bar has gone to, and on the words in it.

use js_sys::{Array, Function, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{HtmlElement, Node};

use super::{Places, browser};

/// The class of the found block.
const FOUND: &str = "is-found";
/// The name of the highlight on the words.
const WORDS: &str = "found";

/// Marks the block with this id and these words in it, and unmarks any other.
pub(crate) fn mark_found(id: &str, words: String, places: Places) {
    unmark_found();
    browser::once_drawn(id, move |block| {
        let _ = block.class_list().add_1(FOUND);
        let _ = highlight(&block, &words, places);
    });
}

/// Unmarks what is marked.
pub(crate) fn unmark_found() {
    let marked = browser::document().get_elements_by_class_name(FOUND);
    while let Some(element) = marked.item(0) {
        let _ = element.class_list().remove_1(FOUND);
    }
    let _ = registry().and_then(|registry| call(&registry, "delete", &[WORDS.into()]));
}

/// Not every browser has one; without it, only the block is marked.
fn registry() -> Result<JsValue, JsValue> {
    let css = Reflect::get(&browser::window(), &"CSS".into())?;
    Reflect::get(&css, &"highlights".into())
}

fn call(on: &JsValue, name: &str, arguments: &[JsValue]) -> Result<JsValue, JsValue> {
    let function: Function = Reflect::get(on, &name.into())?.dyn_into()?;
    Reflect::apply(&function, on, &arguments.iter().collect::<Array>())
}

fn highlight(block: &HtmlElement, words: &str, places: Places) -> Result<(), JsValue> {
    let registry = registry()?;
    let maker: Function = Reflect::get(&browser::window(), &"Highlight".into())?.dyn_into()?;
    let ranges = Array::new();
    add_ranges(block, words, places, &ranges)?;
    let highlight = Reflect::construct(&maker, &ranges)?;
    call(&registry, "set", &[WORDS.into(), highlight])?;
    Ok(())
}

/// Adds a range for each place in the texts below this node. A word that is in two texts is not found.
fn add_ranges(node: &Node, words: &str, places: Places, ranges: &Array) -> Result<(), JsValue> {
    if node.node_type() == Node::TEXT_NODE {
        for (from, to) in places(&node.node_value().unwrap_or_default(), words) {
            let range = browser::document().create_range()?;
            range.set_start(node, from)?;
            range.set_end(node, to)?;
            ranges.push(&range);
        }
    }
    let below = node.child_nodes();
    (0..below.length()).filter_map(|at| below.item(at)).try_for_each(|node| add_ranges(&node, words, places, ranges))
}
