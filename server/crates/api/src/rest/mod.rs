//! Handlers for what is not a single operation in the list: what the server does for those who are logged in, and
//! journals, which are not read as one value.

pub(crate) mod blobs;
pub(crate) mod export;
pub(crate) mod journal;
pub(crate) mod mcp;
pub(crate) mod previews;
pub(crate) mod runtimes;
pub(crate) mod server;
