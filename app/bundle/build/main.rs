//! Builds the files that the browser loads and leaves them in `$OUT_DIR/site`, where the crate embeds them.
//!
//! Starting from the module that `hydrate` compiled: split off the parts that are loaded later, generate the
//! JavaScript glue, join the style sheets, strip what only human readers need, reorder functions by similarity,
//! compress, hash. Without a module (`YOI_WEB=skip`) nothing is produced.

mod icons;
mod order;
mod script;
mod site;
mod slim;
mod split;
mod styles;

use std::{env, fs, path::PathBuf, process::ExitCode};

use anyhow::{Context, Result};

/// The value of `HASH` when no bundle was built.
const HASH_ABSENT: &str = "absent";

/// Cargo sets this variable from the metadata that `hydrate`'s build script prints: the path of the module.
const MODULE: &str = "DEP_HYDRATE_MODULE";

/// What the installed console runs where the server cannot be reached.
const WORKER: &str = "app/src/boot/worker.js";

fn main() -> ExitCode {
    match build() {
        Ok(hash) => {
            println!("cargo::rustc-env=YOI_WEB_HASH={hash}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            for line in format!("{error:#}").lines() {
                println!("cargo::error={line}");
            }
            ExitCode::FAILURE
        }
    }
}

fn build() -> Result<String> {
    let manifest_dir = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").context("cargo sets CARGO_MANIFEST_DIR")?);
    let workspace = manifest_dir.ancestors().nth(2).context("app/bundle lies two folders below the workspace")?;
    let out_dir = PathBuf::from(env::var_os("OUT_DIR").context("cargo sets OUT_DIR")?);

    println!("cargo::rerun-if-changed={}", manifest_dir.join("build").display());
    println!("cargo::rerun-if-changed={}", workspace.join("style").display());
    println!("cargo::rerun-if-changed={}", workspace.join(WORKER).display());

    let site = out_dir.join("site");
    site::empty(&site)?;
    let parts_path = out_dir.join("parts.rs");
    split::Parts::default().write(&parts_path)?;
    let Some(module) = env::var_os(MODULE).map(PathBuf::from) else { return Ok(HASH_ABSENT.to_owned()) };
    println!("cargo::rerun-if-changed={}", module.display());

    let (main, parts) = split::split(&module, &site)?;
    parts.write(&parts_path)?;
    script::write(&main, &site)?;
    slim::script_and_module(&site)?;
    styles::bundle(&workspace.join("style"), &site)?;
    icons::write(&site)?;
    let worker = workspace.join(WORKER);
    fs::copy(&worker, site.join("worker.js")).with_context(|| format!("could not copy {}", worker.display()))?;
    site::seal(&site)
}
