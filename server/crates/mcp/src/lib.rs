//! Servers of the Model Context Protocol, as a Pod's model uses them.
//!
//! Everything that a server says is a stranger's word: it is bounded before it is read, cleaned before it is shown, and believed for
//! nothing that decides. What a call of its tools may do is decided where that is decided for every tool; here it is carried out.
//!
//! [`Servers`] are those that are configured, and what is known of them. [`Clients`] are one Pod's: a connection to each that it uses,
//! from the first need until the Pod rests.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod bounds;
mod clients;
mod config;
mod connection;
mod form;
mod handler;
mod live;
mod log;
mod names;
mod offer;
mod outcome;
mod paced;
mod pins;
mod reason;
mod servers;
mod stand;
#[cfg(test)]
mod story;
mod text;
mod tool;
mod way;

pub use self::{
    clients::{Clients, Settled},
    config::{Address, BadServer, ServerConfig, ServerName},
    form::{Answer, Ask, answer_refusal},
    names::server_of,
    servers::{Servers, ServersOptions},
    stand::Stand,
};
