//! Views whose code is fetched when it is first needed, and not with the page that shows them.
//!
//! What the server has drawn of such a view stays as it is until the code is there. Code that a page needs to be taken
//! over is fetched before that; a view that stands there finished needs its code when it changes, or when a person points
//! at it, goes to it with the keyboard or presses something in it.

use std::{future::Future, pin::Pin, sync::OnceLock};

use leptos::{
    ev::{MouseEvent, PointerEvent},
    html::Div,
    prelude::*,
};

use crate::{
    live::{self, Press},
    redrawn::redrawn,
};

/// Draws a view of what it is given.
pub(crate) type Draw<T> = fn(T) -> AnyView;

/// A function that draws, once its code is there.
pub(crate) type Fetching<T> = Pin<Box<dyn Future<Output = Draw<T>> + Send>>;

/// The code that draws views of one kind, and how to get it.
pub(crate) struct Part<T: 'static> {
    fetch: fn() -> Fetching<T>,
    /// Draws what the browser shows until the code is there, where the server has drawn nothing.
    meanwhile: Draw<T>,
    draw: OnceLock<Draw<T>>,
}

/// How long after the focus has come to a view it is drawn again, in milliseconds: a press gives the focus first.
const FOCUSED_MS: u32 = 300;

/// When a view needs its code.
enum Need {
    Now,
    /// When what this reads changes.
    Changed(Box<dyn Fn()>),
    /// The same, or when a person turns to it.
    Touched(Box<dyn Fn()>),
}

impl<T: Clone + Send + 'static> Part<T> {
    pub(crate) const fn new(fetch: fn() -> Fetching<T>, meanwhile: Draw<T>) -> Self {
        Self { fetch, meanwhile, draw: OnceLock::new() }
    }

    /// A view of this that takes input. Until the code is there it takes none.
    pub(crate) fn view(&'static self, what: T) -> AnyView {
        match cfg!(feature = "hydrate") {
            true => self.in_the_browser(what, true, Need::Now),
            false => self.on_the_server(what, true),
        }
    }

    /// A view of this that takes no input, and that the server has drawn in full unless it is `unfinished`. `changes`
    /// reads all that it is drawn from.
    pub(crate) fn still(&'static self, what: T, is_unfinished: bool, changes: impl Fn() + 'static) -> AnyView {
        match (cfg!(feature = "hydrate"), is_unfinished) {
            (true, true) => self.in_the_browser(what, false, Need::Now),
            (true, false) => self.in_the_browser(what, false, Need::Changed(Box::new(changes))),
            (false, _) => self.on_the_server(what, false),
        }
    }

    /// A view of this that takes input, and that the server has drawn in full unless it is `unfinished`. `changes` reads
    /// all that it is drawn from.
    pub(crate) fn finished(&'static self, what: T, is_unfinished: bool, changes: impl Fn() + 'static) -> AnyView {
        match (cfg!(feature = "hydrate"), is_unfinished) {
            (true, true) => self.in_the_browser(what, false, Need::Now),
            (true, false) => self.in_the_browser(what, false, Need::Touched(Box::new(changes))),
            (false, _) => self.on_the_server(what, false),
        }
    }

    /// Fetches the code now, for views that are drawn soon.
    pub(crate) async fn ready(&'static self) {
        if self.draw.get().is_none() {
            // Somebody else may have fetched it meanwhile: it is the same.
            let _ = self.draw.set((self.fetch)().await);
        }
    }

    fn in_the_browser(&'static self, what: T, takes_input: bool, need: Need) -> AnyView {
        let is_by_server = !live::has_taken_over();
        let is_here = RwSignal::new(!is_by_server && self.draw.get().is_some());
        let place = Place { element: NodeRef::new(), press: StoredValue::new(None) };
        let is_touchable = matches!(need, Need::Touched(_));
        match (need, is_by_server) {
            (Need::Changed(changes) | Need::Touched(changes), true) => {
                Effect::new(move |before: Option<()>| {
                    changes();
                    if before.is_some() && !is_here.get_untracked() {
                        self.fetch(is_here, place);
                    }
                });
            }
            _ if !is_here.get_untracked() => self.fetch(is_here, place),
            _ => (),
        }
        redrawn(move || {
            let is_drawn = is_here.get();
            // In a list, so that it takes the place of the other and is not made out of it.
            match self.draw.get().filter(|_| is_drawn) {
                Some(draw) => vec![draw(what.clone())].into_any(),
                None if is_by_server && is_touchable => touchable(place, move || self.fetch(is_here, place)),
                None if is_by_server => as_it_came(takes_input, String::new()),
                None => vec![(self.meanwhile)(what.clone())].into_any(),
            }
        })
    }

    fn fetch(&'static self, is_here: RwSignal<bool>, place: Place) {
        live::fetch_first(Box::pin(async move {
            self.ready().await;
            live::once_taken_over(move || {
                if is_here.try_get_untracked() != Some(false) {
                    return;
                }
                let done = place.element.get_untracked().and_then(|element| live::done_to(&element));
                let press = place.press.try_update_value(Option::take).flatten();
                is_here.try_set(true);
                if let Some(done) = done {
                    live::do_again(done, press);
                }
            });
        }));
    }

    fn on_the_server(&self, what: T, takes_input: bool) -> AnyView {
        use futures_util::FutureExt;

        // There, all code is.
        let drawn = (self.fetch)().now_or_never().map(|draw| draw(what).to_html());
        as_it_came(takes_input, drawn.unwrap_or_default())
    }
}

/// Where a view stands that the server has drawn.
#[derive(Clone, Copy)]
struct Place {
    element: NodeRef<Div>,
    /// What a person has pressed in it; it is pressed again once the view can take that.
    press: StoredValue<Option<Press>>,
}

/// Has in it what the server has drawn, until a person turns to it.
fn touchable(place: Place, turned_to: impl Fn() + Copy + Send + 'static) -> AnyView {
    let press = move |event: MouseEvent| {
        let held = place.element.get_untracked().and_then(|element| live::hold_press(&element, &event));
        if held.is_some() {
            place.press.set_value(held);
            turned_to();
        }
    };
    // A finger presses where it points: what it presses must not be taken away from under it.
    let pointed = move |event: PointerEvent| {
        if event.pointer_type() != "touch" {
            turned_to();
        }
    };
    view! {
        <div
            class="part"
            node_ref=place.element
            inner_html=String::new()
            on:pointerover=pointed
            on:focusin=move |_| live::after(FOCUSED_MS, turned_to)
            on:click=press
        ></div>
    }
    .into_any()
}

/// Has in it what the server has drawn. The browser leaves it alone.
fn as_it_came(takes_input: bool, drawn: String) -> AnyView {
    view! { <div class="part" inert=takes_input inner_html=drawn></div> }.into_any()
}
