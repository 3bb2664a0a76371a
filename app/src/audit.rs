//! Who did what, and what came of it.

pub(crate) mod page;
pub(crate) mod rows;
