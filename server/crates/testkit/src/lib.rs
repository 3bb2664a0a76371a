//! For tests only: a PostgreSQL, a scripted model server, a yoi on port 0, a browser with a checker of its pages, a
//! terminal.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod axe;
pub mod browser;
pub mod generators;
mod helper;
pub mod older_pod;
pub mod postgres;
pub mod report;
pub mod scripted_model;
pub mod terminal;
mod wait;
pub mod yoi;

/// The folder that cargo builds into, which holds this test. What tests fetch is kept there.
fn target() -> std::path::PathBuf {
    let test = std::env::current_exe().expect("a running program has a path");
    let marked = test.ancestors().find(|folder| folder.join("CACHEDIR.TAG").is_file());
    marked.map_or_else(std::env::temp_dir, std::path::Path::to_path_buf)
}
