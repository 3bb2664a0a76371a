//! The parts of the pages, one in a file.

pub(crate) mod bottom_bar;
pub(crate) mod completion;
pub(crate) mod composer;
pub(crate) mod connection_line;
pub(crate) mod copy_button;
pub(crate) mod dialog;
pub(crate) mod dialogs;
pub(crate) mod first_minute;
pub(crate) mod frame;
pub(crate) mod help_dialog;
pub(crate) mod inspector;
pub(crate) mod new_pod_dialog;
pub(crate) mod notices;
pub(crate) mod pod_dialogs;
pub(crate) mod pod_head;
pub(crate) mod pod_row;
pub(crate) mod pods_pane;
pub(crate) mod pods_table;
pub(crate) mod problem;
pub(crate) mod providers;
pub(crate) mod queue;
pub(crate) mod state_mark;
pub(crate) mod top_bar;
pub(crate) mod transcript;
pub(crate) mod when;
