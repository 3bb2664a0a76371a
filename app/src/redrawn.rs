//! Views that are drawn again whenever what they have read changes.
//!
//! A closure in a view is a type of its own, and the framework is compiled for each: to build it, to hydrate it now or
//! later, to run it again. Behind one pointer they are one type for each kind of view that they return.

use leptos::prelude::*;

/// A view that is drawn again whenever what `draw` has read changes.
pub(crate) fn redrawn<V: IntoView + 'static>(draw: impl FnMut() -> V + Send + 'static) -> AnyView {
    boxed(Box::new(draw))
}

fn boxed<V: IntoView + 'static>(mut draw: Box<dyn FnMut() -> V + Send>) -> AnyView {
    (move || draw()).into_any()
}
