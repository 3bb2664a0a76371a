//! `cargo xtask shots`: pictures of the console, wide and narrow, light and dark, of Pods that a rehearsal fills.
//!
//! The driving is done by an example of `testkit`, which already knows how to run a yoi and a browser; so this crate
//! stays small enough to be compiled first.

use anyhow::Result;

use crate::{
    build,
    run::{cargo, passes, step, target_dir},
    tools,
};

pub(crate) fn run() -> Result<bool> {
    let folder = target_dir()?.join("shots");
    let done = step("screenshots", || {
        tools::ensure_rust_tools()?;
        tools::ensure_browser()?;
        let built = build::yoi(&[])?;
        let mut example = cargo(&["run", "--locked", "--quiet", "--package", "testkit", "--example", "shots", "--"]);
        passes(example.arg(&built.binary).arg(&folder))
    });
    if done.is_ok {
        println!("    see {}", folder.display());
    }
    Ok(done.is_ok)
}
