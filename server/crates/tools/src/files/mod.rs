//! Read, Write, Edit, Glob and Grep: a Pod's files, within its scope.
//!
//! Every byte that is read or written passes through `open` or `target`: the path is checked as text before the disk is
//! touched, opened without following any symbolic link implicitly, and checked again as the path that was really
//! opened. Nothing here may access a file by its path alone; the walk of Glob and Grep only proposes paths.

mod agent;
mod beneath;
mod complete;
mod content;
mod diff;
mod edit;
mod failure;
mod glob;
mod grep;
mod matches;
mod open;
mod output;
mod page;
mod path;
mod preview;
mod read;
mod seen;
mod target;
mod tracked;
mod walk;
mod work;
mod write;

use std::sync::Arc;

pub use agent::for_agent;
pub use complete::complete;
pub use edit::Edit;
pub use glob::Glob;
pub use grep::Grep;
pub use preview::{Preview, is_change, previews};
pub use read::Read;
pub use tracked::{
    CONTENT_BYTES_MAX as TRACKED_BYTES_MAX, Content, Found, Keep, Refused, check_writable, has_room, is_tracked, look,
    named, read_file, replace_file,
};
pub use write::Write;

use crate::Tool;

/// The absolute path that `path` names, relative to `cwd`; computed as text, without the disk. The error is a sentence.
pub fn absolute(cwd: &str, path: &str) -> Result<String, String> {
    path::absolute(cwd, path).map_err(|failure| failure.to_string())
}

/// Returns the effect of a change on a file as a unified diff, or `None` if it has none.
pub fn unified_diff(path: &str, old: Option<&str>, new: &str) -> Option<String> {
    diff::diff(path, old, new).text
}

/// The tools on files.
pub fn tools() -> Vec<Arc<dyn Tool>> {
    vec![Arc::new(Read), Arc::new(Write), Arc::new(Edit), Arc::new(Glob), Arc::new(Grep)]
}
