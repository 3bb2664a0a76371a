//! A Pod: its page, what the page shows beside the transcript, and the actions on it.

pub(crate) mod changed;
pub(crate) mod child_questions;
pub(crate) mod compact_dialog;
pub(crate) mod fork_dialog;
pub(crate) mod head;
pub(crate) mod inspector;
pub(crate) mod model_dialog;
pub(crate) mod name_dialogs;
pub(crate) mod page;
pub(crate) mod restore_dialog;
pub(crate) mod rewind_dialog;
pub(crate) mod spawn_dialog;
pub(crate) mod worktree_dialogs;
