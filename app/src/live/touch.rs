//! The first signs of a person, and what a person has done to a view that is about to be drawn again.

use std::cell::RefCell;

use wasm_bindgen::{JsCast, closure::Closure};
use web_sys::{Element, Event, FocusOptions, HtmlElement};

use super::{
    Press, Pressed,
    browser::{after, document},
};

type Work = Box<dyn FnOnce()>;

/// What only a person does.
const SIGNS: [&str; 5] = ["pointermove", "pointerdown", "keydown", "wheel", "touchstart"];

/// What takes presses.
const CONTROLS: &str = "a[href], button, summary, label, input, select, textarea";

/// What is opened and closed without a script, and what is pressed for that.
const OPENABLE: &str = "details, .show-all input";
const OPENERS: &str = "summary, .show-all, .show-all input";

/// What can be scrolled within a view.
const SCROLLABLE: &str = "pre, .output, .table-scroll";

/// Where presses mean nothing: on a page that has been left, or that is being left.
const LEFT: &str = ".is-left, [inert]";

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

/// Holds this press back and marks what was pressed, unless the browser itself does what it is for.
pub(crate) fn hold_press(place: &Element, event: &Event) -> Pressed {
    let pressed = event.target().and_then(|target| target.dyn_into::<Element>().ok());
    let control = pressed.and_then(|pressed| pressed.closest(CONTROLS).ok().flatten());
    let Some(control) = control.filter(|control| !is_one_of(control, "a[href]")) else { return Pressed::Nothing };
    if is_one_of(&control, OPENERS) {
        return Pressed::ByItself;
    }
    let Some(path) = path(place, control.clone()) else { return Pressed::Nothing };
    event.prevent_default();
    event.stop_propagation();
    let _ = control.set_attribute("aria-busy", "true");
    Pressed::Held(Press { path, name: name_of(&control) })
}

/// What a person has done to a view: what is open in it, how far it is scrolled, where the focus is, what is pressed.
#[derive(Debug)]
pub(crate) struct Done {
    parent: Element,
    /// The view's place among the children of its parent, and of how many elements it is.
    at: u32,
    count: u32,
    open: Vec<bool>,
    /// Pixels from the top and from the left.
    scrolled: Vec<(Vec<u32>, i32, i32)>,
    focus: Option<Vec<u32>>,
    presses: Vec<Press>,
}

/// What a person has done to the view in this place, with the presses that it could not take.
pub(crate) fn done_to(place: &Element, presses: Vec<Press>) -> Option<Done> {
    let parent = place.parent_element()?;
    let children = parent.children();
    let at = (0..children.length()).find(|at| children.item(*at).as_ref() == Some(place))?;
    let focus = document().active_element().and_then(|active| path(place, active));
    let open = within(place, OPENABLE).iter().map(is_open).collect();
    let scroll =
        |it: Element| Some((it.scroll_top(), it.scroll_left())).filter(|to| *to != (0, 0)).zip(path(place, it));
    let scrolled = within(place, SCROLLABLE).into_iter().filter_map(scroll);
    let scrolled = scrolled.map(|((top, left), path)| (path, top, left)).collect();
    Some(Done { parent, at, count: place.child_element_count(), open, scrolled, focus, presses })
}

/// Does the same, and then the presses, to the view that has taken its place.
pub(crate) fn do_again(done: Done) {
    after(0, move || {
        let views = done.views();
        let all = |selector: &str| -> Vec<Element> {
            let own = |view: &Element| is_one_of(view, selector).then(|| view.clone());
            views.iter().flat_map(|view| own(view).into_iter().chain(within(view, selector))).collect()
        };
        for (it, is_open) in all(OPENABLE).iter().zip(&done.open) {
            set_open(it, *is_open);
        }
        for (path, top, left) in &done.scrolled {
            if let Some(it) = done.found(path) {
                it.set_scroll_top(*top);
                it.set_scroll_left(*left);
            }
        }
        let is_lost = document().active_element().is_none_or(|active| active.tag_name() == "BODY");
        let focused = done.focus.as_ref().and_then(|path| done.found(path)?.dyn_into::<HtmlElement>().ok());
        if let Some(focused) = focused.filter(|_| is_lost) {
            let options = FocusOptions::new();
            options.set_prevent_scroll(true);
            let _ = focused.focus_with_options(&options);
        }
        if !done.parent.is_connected() || matches!(done.parent.closest(LEFT), Ok(Some(_))) {
            return;
        }
        let controls = if done.presses.is_empty() { Vec::new() } else { all(CONTROLS) };
        for press in &done.presses {
            if let Some(control) = done.meant(press, &controls).and_then(|it| it.dyn_into::<HtmlElement>().ok()) {
                control.click();
            }
        }
    });
}

impl Done {
    fn views(&self) -> Vec<Element> {
        let children = self.parent.children();
        (self.at..self.at + self.count).filter_map(|at| children.item(at)).collect()
    }

    fn found(&self, path: &[u32]) -> Option<Element> {
        let (first, rest) = path.split_first()?;
        let first = self.parent.children().item(self.at + first);
        rest.iter().fold(first, |element, at| element?.children().item(*at))
    }

    /// What this press means now: the same thing in the same place, or else the only thing of that name. What is gone
    /// is not pressed, and nothing in its stead.
    fn meant(&self, press: &Press, controls: &[Element]) -> Option<Element> {
        let is_meant = |control: &Element| name_of(control) == press.name;
        if let Some(same) = self.found(&press.path).filter(is_meant) {
            return Some(same);
        }
        let mut same = controls.iter().filter(|control| is_meant(control));
        same.next().filter(|_| same.next().is_none()).cloned()
    }
}

/// What a control is and is called, without the key beside it.
fn name_of(control: &Element) -> String {
    let words = |element: &Element| element.text_content().unwrap_or_default().trim().to_owned();
    let all = words(control);
    let key = control.query_selector("kbd").ok().flatten().map(|key| words(&key)).unwrap_or_default();
    let name = control.get_attribute("aria-label");
    let name = name.unwrap_or_else(|| all.strip_suffix(&key).unwrap_or(&all).trim().to_owned());
    format!("{} {name}", control.tag_name())
}

fn is_one_of(element: &Element, selector: &str) -> bool {
    element.matches(selector).unwrap_or_default()
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

fn within(view: &Element, selector: &str) -> Vec<Element> {
    let Ok(found) = view.query_selector_all(selector) else { return Vec::new() };
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
