//! Peers: adding them, what two Pods wrote to each other, the map.

pub(crate) mod dialog;
pub(crate) mod exchange;
pub(crate) mod help;
pub(crate) mod map;
pub(crate) mod map_picture;
pub(crate) mod map_table;
pub(crate) mod peering;
pub(crate) mod relation_map;
pub(crate) mod revoke_button;
pub(crate) mod withdraw_button;
