//! Who may connect, as set by whoever starts the server: the token, and the names that the console answers to; and the
//! throttling of wrong tokens.

mod attempts;
mod hosts;
mod token;

pub(crate) use self::{
    attempts::Attempts,
    hosts::{HTTP_PORT, Host, Standing},
};
pub use self::{hosts::AllowedHosts, token::Token};
