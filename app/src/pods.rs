//! The list of Pods, and making new ones.

pub(crate) mod agent_field;
pub(crate) mod board;
pub(crate) mod first_minute;
pub(crate) mod first_model;
pub(crate) mod key_dialog;
pub(crate) mod model_fields;
pub(crate) mod new_pod_button;
pub(crate) mod new_pod_dialog;
pub(crate) mod page;
pub(crate) mod pod_row;
pub(crate) mod pods_pane;
pub(crate) mod pods_table;
pub(crate) mod providers;
pub(crate) mod selection_bar;
