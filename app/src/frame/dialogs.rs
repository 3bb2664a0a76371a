use leptos::prelude::*;

use crate::{
    console::{Over, drawn_over, use_console},
    redrawn::redrawn,
};

/// The dialog that is open, if one is.
#[component]
pub(crate) fn Dialogs() -> impl IntoView {
    let console = use_console();
    redrawn(move || console.dialog.get().map(|dialog| drawn_over(Over::Dialog(dialog))))
}
