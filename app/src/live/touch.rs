//! The first signs of a person, and what a person has done to a view that is about to be drawn again.

use std::cell::RefCell;

use wasm_bindgen::{JsCast, closure::Closure};
use web_sys::{Element, Event, HtmlElement};

use super::browser::{after, document};

type Work = Box<dyn FnOnce()>;

/// What only a person does.
const SIGNS: [&str; 5] = ["pointermove", "pointerdown", "keydown", "wheel", "touchstart"];

/// Everything that can be opened and closed without a script.
const OPENABLE: &str = "details, .show-all input";

thread_local! {
    /// Work that waits for a person; `None` once there is one.
    static WAITING: RefCell<Option<Vec<Work>>> = const { RefCell::new(Some(Vec::new())) };
    static LISTENER: RefCell<Option<Closure<dyn Fn()>>> = const { RefCell::new(None) };
}

/// Runs at once if a person has moved, pressed or typed anything on this page, otherwise when that happens.
pub(crate) fn once_touched(run: impl FnOnce() + 'static) {
    let mut run: Option<Work> = Some(Box::new(run));
    WAITING.with_borrow_mut(|waiting| {
        if let Some(waiting) = waiting {
            waiting.extend(run.take());
        }
    });
    match run {
        Some(run) => run(),
        None => listen(),
    }
}

fn listen() {
    LISTENER.with_borrow_mut(|listener| {
        let listener = listener.get_or_insert_with(|| Closure::new(is_touched));
        for sign in SIGNS {
            let _ = document().add_event_listener_with_callback(sign, listener.as_ref().unchecked_ref());
        }
    });
}

fn is_touched() {
    LISTENER.with_borrow(|listener| {
        let Some(listener) = listener else { return };
        for sign in SIGNS {
            let _ = document().remove_event_listener_with_callback(sign, listener.as_ref().unchecked_ref());
        }
    });
    WAITING.take().into_iter().flatten().for_each(|run| run());
}

/// A press that a view could not take yet: the place of what was pressed in it.
#[derive(Debug, Clone)]
pub(crate) struct Press(Vec<u32>);

/// Holds this press back; `None` if the browser itself does what it is for.
pub(crate) fn hold_press(place: &Element, event: &Event) -> Option<Press> {
    let pressed = event.target()?.dyn_into::<Element>().ok()?;
    if matches!(pressed.closest("a[href]"), Ok(Some(_))) {
        return None;
    }
    event.prevent_default();
    path(place, pressed).map(Press)
}

/// What a person has done to a view: what is open in it, and where the focus is.
#[derive(Debug)]
pub(crate) struct Done {
    parent: Element,
    /// The view's place among the children of its parent, and of how many elements it is.
    at: u32,
    count: u32,
    open: Vec<bool>,
    focus: Option<Vec<u32>>,
}

/// What a person has done to the view in this place.
pub(crate) fn done_to(place: &Element) -> Option<Done> {
    let parent = place.parent_element()?;
    let children = parent.children();
    let at = (0..children.length()).find(|at| children.item(*at).as_ref() == Some(place))?;
    let focus = document().active_element().and_then(|active| path(place, active));
    let open = openable(place).iter().map(is_open).collect();
    Some(Done { parent, at, count: place.child_element_count(), open, focus })
}

/// Does the same, and then the press, to the view that has taken its place.
pub(crate) fn do_again(done: Done, press: Option<Press>) {
    after(0, move || {
        let mut open = done.open.into_iter();
        let children = done.parent.children();
        for view in (done.at..done.at + done.count).filter_map(|at| children.item(at)) {
            let own = view.matches(OPENABLE).unwrap_or_default().then(|| view.clone());
            for it in own.into_iter().chain(openable(&view)) {
                set_open(&it, open.next().unwrap_or_default());
            }
        }
        let find = |path: Vec<u32>| found(&done.parent, done.at, path)?.dyn_into::<HtmlElement>().ok();
        if let Some(focused) = done.focus.and_then(find) {
            let _ = focused.focus();
        }
        if let Some(pressed) = press.and_then(|Press(path)| find(path)) {
            pressed.click();
        }
    });
}

/// The indices of the children that lead from the place to this element.
fn path(place: &Element, mut element: Element) -> Option<Vec<u32>> {
    let mut path = Vec::new();
    while element != *place {
        let parent = element.parent_element()?;
        let children = parent.children();
        path.push((0..children.length()).find(|at| children.item(*at).as_ref() == Some(&element))?);
        element = parent;
    }
    path.reverse();
    (!path.is_empty()).then_some(path)
}

fn found(parent: &Element, at: u32, path: Vec<u32>) -> Option<Element> {
    let mut path = path.into_iter();
    let first = parent.children().item(at + path.next()?);
    path.fold(first, |element, at| element?.children().item(at))
}

fn openable(view: &Element) -> Vec<Element> {
    let Ok(found) = view.query_selector_all(OPENABLE) else { return Vec::new() };
    (0..found.length()).filter_map(|at| found.item(at)?.dyn_into().ok()).collect()
}

fn is_open(element: &Element) -> bool {
    match element.dyn_ref::<web_sys::HtmlInputElement>() {
        Some(toggle) => toggle.checked(),
        None => element.has_attribute("open"),
    }
}

fn set_open(element: &Element, is_open: bool) {
    match (element.dyn_ref::<web_sys::HtmlInputElement>(), is_open) {
        (Some(toggle), _) => toggle.set_checked(is_open),
        (None, true) => drop(element.set_attribute("open", "")),
        (None, false) => drop(element.remove_attribute("open")),
    }
}
