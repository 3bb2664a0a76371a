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
    live::{self, Press, Pressed},
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

/// What a person can do to a view that the server has drawn, until its code is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meanwhile {
    Read,
    /// Also press something: that is held, and pressed again when the view can take it.
    Press,
    /// Not even give it the focus, because what is typed would be lost.
    Look,
}

/// Why a view is drawn again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    /// A person has come near it, who may press something in it or only select words of it.
    Near,
    Needed,
}

/// Reads all that a view is drawn from.
type Changes = Box<dyn Fn()>;

impl<T: Clone + Send + 'static> Part<T> {
    pub(crate) const fn new(fetch: fn() -> Fetching<T>, meanwhile: Draw<T>) -> Self {
        Self { fetch, meanwhile, draw: OnceLock::new() }
    }

    /// A view of this that takes presses, and text if `is_typed_in`. It needs its code at once.
    pub(crate) fn view(&'static self, what: T, is_typed_in: bool) -> AnyView {
        self.drawn(what, if is_typed_in { Meanwhile::Look } else { Meanwhile::Press }, None)
    }

    /// A view of this that takes no input, and that the server has drawn in full unless it is `unfinished`. `changes`
    /// reads all that it is drawn from.
    pub(crate) fn still(&'static self, what: T, is_unfinished: bool, changes: impl Fn() + 'static) -> AnyView {
        match is_unfinished {
            true => self.drawn(what, Meanwhile::Press, None),
            false => self.drawn(what, Meanwhile::Read, Some(Box::new(changes))),
        }
    }

    /// A view of this that takes presses, and that the server has drawn in full unless it is `unfinished`. `changes`
    /// reads all that it is drawn from.
    pub(crate) fn finished(&'static self, what: T, is_unfinished: bool, changes: impl Fn() + 'static) -> AnyView {
        let changes: Changes = Box::new(changes);
        self.drawn(what, Meanwhile::Press, (!is_unfinished).then_some(changes))
    }

    /// Fetches the code now, for views that are drawn soon.
    pub(crate) async fn ready(&'static self) {
        if self.draw.get().is_none() {
            // Somebody else may have fetched it meanwhile: it is the same.
            let _ = self.draw.set((self.fetch)().await);
        }
    }

    /// Without `changes` the code is needed now.
    fn drawn(&'static self, what: T, meanwhile: Meanwhile, changes: Option<Changes>) -> AnyView {
        match cfg!(feature = "hydrate") {
            true => self.in_the_browser(what, meanwhile, changes),
            false => self.on_the_server(what, meanwhile),
        }
    }

    fn in_the_browser(&'static self, what: T, meanwhile: Meanwhile, changes: Option<Changes>) -> AnyView {
        let is_by_server = !live::has_taken_over();
        let is_here = RwSignal::new(!is_by_server && self.draw.get().is_some());
        let is_near = changes.is_none();
        let place = Place { element: NodeRef::new(), is_here, turned: StoredValue::new((is_near, Vec::new())) };
        match changes {
            Some(changes) if is_by_server => {
                Effect::new(move |before: Option<()>| {
                    changes();
                    if before.is_some() && !is_here.get_untracked() {
                        self.fetch(place, Why::Needed);
                    }
                });
            }
            _ if !is_here.get_untracked() => self.fetch(place, Why::Needed),
            _ => (),
        }
        redrawn(move || {
            let is_drawn = is_here.get();
            // In a list, so that it takes the place of the other and is not made out of it.
            match self.draw.get().filter(|_| is_drawn) {
                Some(draw) => vec![draw(what.clone())].into_any(),
                None if is_by_server && meanwhile == Meanwhile::Press => {
                    touchable(place, Callback::new(move |why| self.fetch(place, why)))
                }
                None if is_by_server => as_it_came(meanwhile, String::new()),
                None => vec![(self.meanwhile)(what.clone())].into_any(),
            }
        })
    }

    fn fetch(&'static self, place: Place, why: Why) {
        live::fetch_first(Box::pin(async move {
            self.ready().await;
            live::once_taken_over(move || {
                if place.is_waiting() {
                    let view = place.element.try_get_untracked().flatten().filter(|_| why == Why::Near);
                    live::once_let_go(view.as_deref().map(AsRef::as_ref), move || place.draw_again());
                }
            });
        }));
    }

    fn on_the_server(&self, what: T, meanwhile: Meanwhile) -> AnyView {
        use futures_util::FutureExt;

        // There, all code is.
        let drawn = (self.fetch)().now_or_never().map(|draw| draw(what).to_html());
        as_it_came(meanwhile, drawn.unwrap_or_default())
    }
}

/// Where a view stands that the server has drawn.
#[derive(Clone, Copy)]
struct Place {
    element: NodeRef<Div>,
    /// Whether it is drawn by its code.
    is_here: RwSignal<bool>,
    /// Whether a person has come near it, and what has been pressed in it since.
    turned: StoredValue<(bool, Vec<Press>)>,
}

impl Place {
    /// Whether it is on a page that still exists and is not drawn by its code.
    fn is_waiting(self) -> bool {
        self.is_here.try_get_untracked() == Some(false)
    }

    /// Whether a person comes near it for the first time.
    fn is_approached(self) -> bool {
        self.turned.try_update_value(|(is_near, _)| std::mem::replace(is_near, true)) == Some(false)
    }

    /// Holds a press. Who presses the same thing again because nothing has happened yet means one press.
    fn hold(self, press: Press) {
        self.turned.try_update_value(|(_, presses)| {
            if !presses.contains(&press) {
                presses.push(press);
            }
        });
    }

    fn draw_again(self) {
        if !self.is_waiting() {
            return;
        }
        let presses = self.turned.try_update_value(|(_, presses)| std::mem::take(presses)).unwrap_or_default();
        let done = self.element.try_get_untracked().flatten().and_then(|element| live::done_to(&element, presses));
        self.is_here.try_set(true);
        if let Some(done) = done {
            live::do_again(done);
        }
    }
}

/// Has in it what the server has drawn, until a person turns to it.
fn touchable(place: Place, fetch: Callback<Why>) -> AnyView {
    live::watch_hand();
    let near = move || {
        // The view may have been drawn again since it got the focus.
        if place.is_approached() {
            fetch.try_run(Why::Near);
        }
    };
    let press = move |event: MouseEvent| {
        let Some(element) = place.element.try_get_untracked().flatten() else { return };
        match live::hold_press(&element, &event) {
            Pressed::Nothing => (),
            Pressed::ByItself => {
                live::log_stop_following();
                // Once the browser has done it.
                live::after(0, move || {
                    fetch.try_run(Why::Needed);
                });
            }
            Pressed::Held(press) => {
                place.hold(press);
                fetch.try_run(Why::Needed);
            }
        }
    };
    // A finger presses where it points, and a pressed button selects: what is under it must not be taken away.
    let pointed = move |event: PointerEvent| {
        if event.pointer_type() != "touch" && event.buttons() == 0 {
            near();
        }
    };
    view! {
        <div
            class="part"
            node_ref=place.element
            inner_html=String::new()
            on:pointerover=pointed
            on:focusin=move |_| live::after(FOCUSED_MS, near)
            on:click=press
        ></div>
    }
    .into_any()
}

/// Has in it what the server has drawn. The browser leaves it alone.
fn as_it_came(meanwhile: Meanwhile, drawn: String) -> AnyView {
    view! { <div class="part" inert=meanwhile == Meanwhile::Look inner_html=drawn></div> }.into_any()
}
