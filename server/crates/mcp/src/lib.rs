//! Servers of the Model Context Protocol, as a Pod's model uses them.
//!
//! Nothing that a server says is trusted: it is bounded before it is read, cleaned before it is shown, and never the
//! basis of a decision. What a call of its tools may do is decided where that is decided for every tool; this crate
//! only carries it out.
//!
//! [`Servers`] are the configured servers and what is known about them. [`Clients`] are one Pod's connections, one to
//! each server that it uses, from when it is first needed until the Pod rests.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod bounds;
mod clients;
mod config;
mod connection;
mod form;
mod handler;
mod live;
mod log;
mod login;
mod names;
mod offer;
mod older;
mod outcome;
mod paced;
mod pins;
mod private_file;
mod reason;
mod servers;
mod shelf;
mod stand;
mod stock;
#[cfg(test)]
mod story;
mod template;
mod templates;
mod text;
mod tool;
mod way;

pub use self::{
    clients::{Clients, Settled},
    config::{Address, BadServer, OAuthClient, ServerConfig, ServerName},
    form::{Answer, Ask, answer_refusal},
    login::{LOGIN_LIFE, LoginAnswer, LoginBegun, LoginFailed, LoginWish},
    names::server_of,
    servers::{Servers, ServersOptions},
    shelf::{Given, ShelfFailed, Visit, content_bytes},
    stand::Stand,
};
