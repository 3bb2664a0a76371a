//! What waits for your answer: approvals, peer requests, held messages.

pub(crate) mod arguments;
pub(crate) mod held_acts;
pub(crate) mod needs;
pub(crate) mod page;
pub(crate) mod question;
pub(crate) mod request;
mod several;
