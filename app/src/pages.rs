//! One page per kind of address.

pub(crate) mod approvals;
pub(crate) mod audit;
pub(crate) mod exchange;
pub(crate) mod login;
pub(crate) mod map;
pub(crate) mod not_found;
pub(crate) mod pod;
pub(crate) mod pods;
pub(crate) mod print;
pub(crate) mod search;
pub(crate) mod settings;
pub(crate) mod usage;
