//! What the one who starts the server says of who may ask: the token, and the names that the console answers to; and how wrong tokens
//! are slowed down.

mod attempts;
mod hosts;
mod token;

pub(crate) use self::{
    attempts::Attempts,
    hosts::{HTTP_PORT, Host, Standing},
};
pub use self::{hosts::AllowedHosts, token::Token};
