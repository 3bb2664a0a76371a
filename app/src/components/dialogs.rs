use leptos::prelude::*;

use crate::{
    console::use_console,
    later::{Over, dialog_view},
};

/// The dialog that is open, if one is.
#[component]
pub(crate) fn Dialogs() -> impl IntoView {
    let console = use_console();
    move || console.dialog.get().map(|dialog| Suspend::new(dialog_view(Over::Dialog(dialog))))
}
