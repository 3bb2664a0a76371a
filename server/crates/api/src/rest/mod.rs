//! The handlers that no operation of the list has by itself: what the server does for whoever is logged in to it, and
//! journals, which are not read as one value.

pub(crate) mod blobs;
pub(crate) mod export;
pub(crate) mod journal;
pub(crate) mod mcp;
pub(crate) mod previews;
pub(crate) mod runtimes;
pub(crate) mod server;
