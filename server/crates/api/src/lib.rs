//! HTTP: REST, WebSocket, SSE, OpenAPI, and authentication. Errors become responses here.
//!
//! A thin layer over [`backend::Backend`]: it parses requests, forwards them, and encodes the answers. It decides
//! nothing about Pods. [`Api::guard`] belongs around everything that the server serves, including pages and assets.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod access;
mod answer;
mod connections;
mod events;
mod extract;
mod guard;
mod mcp;
mod mcp_login;
mod media;
mod metrics;
mod openapi;
mod previews;
mod read;
mod rest;
mod routes;
mod sent;
mod service;
mod shared;
mod terminal;

/// What a server is served over.
pub use axum::serve::Listener;

pub use self::{
    access::{AllowedHosts, Token},
    answer::problem,
    connections::{Connection, ConnectionFigures, ConnectionLimits, Connections, Lingering, Seat, Visitor, serve},
    openapi::{described_openapi, openapi_json},
    shared::{Api, ApiOptions},
};
