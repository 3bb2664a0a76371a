//! What waits for a person: questions of Pods, requests to be introduced, messages that are held.

pub(crate) mod arguments;
pub(crate) mod held_acts;
pub(crate) mod page;
pub(crate) mod question;
pub(crate) mod request;
