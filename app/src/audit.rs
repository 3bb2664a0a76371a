//! The audit: who did what, and with what result.

pub(crate) mod page;
pub(crate) mod rows;
