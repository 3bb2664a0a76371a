//! For tests only: a PostgreSQL, a scripted model server, a yoi on port 0, a browser with an accessibility checker, a
//! terminal.

#![cfg_attr(test, allow(clippy::unwrap_used))]

#[cfg(feature = "whole")]
pub mod axe;
#[cfg(feature = "whole")]
pub mod browser;
pub mod fuzz;
#[cfg(feature = "whole")]
pub mod generators;
#[cfg(feature = "whole")]
mod helper;
#[cfg(feature = "whole")]
pub mod older_pod;
#[cfg(feature = "whole")]
pub mod postgres;
#[cfg(feature = "whole")]
mod processes;
#[cfg(feature = "whole")]
pub mod report;
#[cfg(feature = "whole")]
pub mod repository;
#[cfg(feature = "whole")]
pub mod scripted_mcp;
#[cfg(feature = "whole")]
pub mod scripted_model;
#[cfg(feature = "whole")]
pub mod scripted_oauth;
#[cfg(feature = "whole")]
pub mod terminal;
#[cfg(feature = "whole")]
pub mod timed_model;
mod wait;
#[cfg(feature = "whole")]
pub mod yoi;

#[cfg(feature = "whole")]
pub use processes::processes_below;
pub use wait::{WAIT_MAX, until, until_so, within};

/// The folder that cargo builds into, which contains this test. What tests fetch is kept there.
#[cfg(feature = "whole")]
fn target() -> std::path::PathBuf {
    let test = std::env::current_exe().expect("a running program has a path");
    let marked = test.ancestors().find(|folder| folder.join("CACHEDIR.TAG").is_file());
    marked.map_or_else(std::env::temp_dir, std::path::Path::to_path_buf)
}
