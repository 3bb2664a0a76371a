//! Remembers what was opened in a block, so that it is open again when the block is drawn again.

use std::collections::HashMap;

use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlCollection, HtmlInputElement};

/// Everything in a block that can be opened.
const OPENABLE: &str = "details, .show-all input";

/// How many blocks are remembered; beyond that, all are forgotten.
const KEPT_MAX: usize = 1_000;

#[derive(Debug, Default)]
pub(super) struct Opened {
    /// For each block's element id, the indices of its opened parts.
    open: HashMap<String, Vec<u32>>,
    /// Ids of the elements that were present at the last look.
    present: Vec<String>,
}

impl Opened {
    /// Records what is open, before some of these blocks are removed.
    pub(super) fn keep(&mut self, blocks: &HtmlCollection) {
        if self.open.len() > KEPT_MAX {
            self.open.clear();
        }
        for block in all(blocks) {
            let open: Vec<u32> = openable(&block).filter(|(_, it)| is_open(it)).map(|(place, _)| place).collect();
            match open.is_empty() {
                true => drop(self.open.remove(&block.id())),
                false => drop(self.open.insert(block.id(), open)),
            }
        }
    }

    /// Opens what was open in the blocks that have come back.
    pub(super) fn restore(&mut self, blocks: &HtmlCollection) {
        let mut present = Vec::with_capacity(blocks.length() as usize);
        for block in all(blocks) {
            let id = block.id();
            if let Some(open) = self.open.get(&id).filter(|_| !self.present.contains(&id)) {
                openable(&block).filter(|(place, _)| open.contains(place)).for_each(|(_, it)| open_it(&it));
            }
            present.push(id);
        }
        self.present = present;
    }
}

fn all(blocks: &HtmlCollection) -> impl Iterator<Item = Element> {
    (0..blocks.length()).filter_map(|index| blocks.item(index))
}

fn openable(block: &Element) -> impl Iterator<Item = (u32, Element)> + use<> {
    let found = block.query_selector_all(OPENABLE).ok();
    let count = found.as_ref().map_or(0, |found| found.length());
    (0..count).filter_map(move |place| Some((place, found.as_ref()?.item(place)?.dyn_into().ok()?)))
}

fn is_open(element: &Element) -> bool {
    match element.dyn_ref::<HtmlInputElement>() {
        Some(toggle) => toggle.checked(),
        None => element.has_attribute("open"),
    }
}

fn open_it(element: &Element) {
    match element.dyn_ref::<HtmlInputElement>() {
        Some(toggle) => toggle.set_checked(true),
        None => drop(element.set_attribute("open", "")),
    }
}
