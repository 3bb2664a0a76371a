//! Builds what the browser loads and leaves it in `$OUT_DIR/site`, where the crate embeds it.
//!
//! Steps: compile `hydrate` to WebAssembly, split off what is loaded later, write its JavaScript, join the style sheets,
//! take out what only people read, put like beside like, compress, hash.
//! `YOI_WEB=skip` leaves all of it out, for quick checks; the server then says on the page what is missing.

mod order;
mod site;
mod slim;
mod split;
mod styles;
mod wasm;

use std::{
    env,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, Result, bail};

/// The value of `HASH` when no bundle was built.
const HASH_ABSENT: &str = "absent";

/// Everything that the bundle is made from, from the workspace's root. A change in any of it builds the bundle again.
const SOURCES: [&str; 12] = [
    "app/Cargo.toml",
    "app/src",
    "app/hydrate",
    "app/bundle/build",
    "style",
    "server/crates/protocol",
    "server/crates/transcript",
    "server/crates/commands",
    "Cargo.toml",
    "Cargo.lock",
    "rust-toolchain.toml",
    ".cargo",
];

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

    println!("cargo::rerun-if-env-changed=YOI_WEB");
    for source in SOURCES {
        println!("cargo::rerun-if-changed={}", workspace.join(source).display());
    }

    let site = out_dir.join("site");
    site::empty(&site)?;
    let parts_path = out_dir.join("parts.rs");
    split::Parts::default().write(&parts_path)?;
    if is_skipped()? {
        println!("cargo::warning=YOI_WEB=skip: this build has no browser console");
        return Ok(HASH_ABSENT.to_owned());
    }

    let module = wasm::compile(workspace, &web_target_dir(&out_dir)?)?;
    let (main, parts) = split::split(&module, &site)?;
    parts.write(&parts_path)?;
    wasm::bindgen(&main, &site)?;
    slim::script_and_module(&site)?;
    styles::bundle(&workspace.join("style"), &site)?;
    site::seal(&site)
}

fn is_skipped() -> Result<bool> {
    match env::var("YOI_WEB").unwrap_or_default().as_str() {
        "" | "build" => Ok(false),
        "skip" => Ok(true),
        other => {
            bail!("YOI_WEB={other} is not known; use YOI_WEB=skip to build without the browser console, or unset it")
        }
    }
}

/// One folder for the browser's half, shared by debug and release builds: it is the same code either way. It must not
/// be the outer cargo's own folder, whose lock that cargo holds while this script runs.
fn web_target_dir(out_dir: &Path) -> Result<PathBuf> {
    let tagged = out_dir.ancestors().find(|folder| folder.join("CACHEDIR.TAG").is_file());
    // OUT_DIR is <target>/<profile>/build/<package>/out.
    let target = tagged.or_else(|| out_dir.ancestors().nth(4)).context("OUT_DIR lies below a target folder")?;
    Ok(target.join("web"))
}
