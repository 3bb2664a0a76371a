//! The REST API: one small file per group. Handlers parse, forward to the backend, and encode.

pub(crate) mod commands;
pub(crate) mod export;
pub(crate) mod journal;
pub(crate) mod link;
pub(crate) mod lists;
pub(crate) mod paging;
pub(crate) mod peers;
pub(crate) mod pods;
pub(crate) mod previews;
pub(crate) mod runtimes;
pub(crate) mod settings;
pub(crate) mod tools;
