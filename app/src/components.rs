//! Components that several parts of the console draw, one per file.

pub(crate) mod abroad;
pub(crate) mod absent;
pub(crate) mod code;
pub(crate) mod combobox;
pub(crate) mod completion;
pub(crate) mod copy_button;
pub(crate) mod deed;
pub(crate) mod dialog;
pub(crate) mod diff;
pub(crate) mod formula;
pub(crate) mod link;
pub(crate) mod marks;
pub(crate) mod menu;
pub(crate) mod output;
pub(crate) mod page;
pub(crate) mod part;
pub(crate) mod problem;
pub(crate) mod read_first;
pub(crate) mod state_mark;
pub(crate) mod text_field;
pub(crate) mod when;
pub(crate) mod with_pods;
