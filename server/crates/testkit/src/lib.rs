//! For tests only: a PostgreSQL, a scripted model server, a yoi on port 0, a browser with a checker of its pages, a
//! terminal.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod axe;
pub mod browser;
mod helper;
pub mod older_pod;
pub mod postgres;
pub mod report;
pub mod scripted_model;
pub mod terminal;
pub mod yoi;
