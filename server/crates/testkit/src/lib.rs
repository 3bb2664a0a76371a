//! For tests only: a PostgreSQL, a scripted model server, a yoi on port 0, a browser, a terminal.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod browser;
pub mod postgres;
pub mod scripted_model;
pub mod terminal;
pub mod yoi;
