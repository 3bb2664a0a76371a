//! `cargo xtask shots`: the pictures of the documents, and screenshots of every page and dialog, wide and narrow, light
//! and dark, of a morning's work with scripted models.
//!
//! An example of `testkit` does the driving, because it already knows how to run a yoi and a browser; so this crate
//! stays small enough to be compiled first.

use std::path::PathBuf;

use anyhow::Result;

use crate::{
    build,
    run::{cargo, passes, step, target_dir, workspace},
    tools,
};

/// Uses an existing binary, or builds one first.
pub(crate) fn run(binary: Option<&str>) -> Result<bool> {
    let folder = target_dir()?.join("shots");
    let pictures = workspace().join("docs/pictures");
    let done = step("screenshots", || {
        tools::ensure_browser()?;
        let binary = match binary {
            Some(binary) => PathBuf::from(binary),
            None => {
                tools::ensure_rust_tools()?;
                build::yoi(&[])?.binary
            }
        };
        let mut example = cargo(&["run", "--locked", "--quiet", "--package", "testkit", "--example", "shots", "--"]);
        passes(example.arg(binary).arg(&folder).arg(&pictures))
    });
    if done.is_ok {
        println!("    see {} and {}", pictures.display(), folder.display());
    }
    Ok(done.is_ok)
}
