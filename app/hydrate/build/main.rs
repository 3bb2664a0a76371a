//! Compiled for the host this crate is empty; its build script compiles it for the browser. The script depends on no
//! crate, so it starts at once, in parallel with the server's half; `bundle` receives the path of the module.
//!
//! `YOI_WEB=skip` skips all of this, for quick checks; the server's pages then say what is missing.

mod wasm;

use std::{
    env,
    error::Error,
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Everything that the module is built from, relative to the workspace root. A change to any of it rebuilds the
/// module.
const SOURCES: [&str; 11] = [
    "app/Cargo.toml",
    "app/src",
    "app/hydrate",
    "server/crates/protocol",
    "server/crates/transcript",
    "server/crates/commands",
    "server/crates/follow",
    "Cargo.toml",
    "Cargo.lock",
    "rust-toolchain.toml",
    ".cargo",
];

fn main() -> ExitCode {
    match build() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            for line in error.to_string().lines() {
                println!("cargo::error={line}");
            }
            ExitCode::FAILURE
        }
    }
}

fn build() -> Result<(), Box<dyn Error>> {
    if env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("wasm32") {
        println!("cargo::rerun-if-changed=build");
        // The module is split after linking: the splitter finds the parts by the linker's relocations.
        println!("cargo::rustc-link-arg=--emit-relocs");
        return Ok(());
    }

    let manifest_dir = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").ok_or("cargo sets CARGO_MANIFEST_DIR")?);
    let workspace = manifest_dir.ancestors().nth(2).ok_or("app/hydrate lies two folders below the workspace")?;
    let out_dir = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);
    println!("cargo::rerun-if-env-changed=YOI_WEB");
    for source in SOURCES {
        println!("cargo::rerun-if-changed={}", workspace.join(source).display());
    }
    if is_skipped()? {
        println!("cargo::warning=YOI_WEB=skip: this build has no browser console");
        return Ok(());
    }
    let module = wasm::compile(workspace, &web_target_dir(&out_dir)?)?;
    println!("cargo::metadata=module={}", module.display());
    Ok(())
}

fn is_skipped() -> Result<bool, String> {
    match env::var("YOI_WEB").unwrap_or_default().as_str() {
        "" | "build" => Ok(false),
        "skip" => Ok(true),
        other => Err(format!(
            "YOI_WEB={other} is not known; use YOI_WEB=skip to build without the browser console, or unset it"
        )),
    }
}

/// One target folder for the browser's half, shared by debug and release builds since the code is the same either
/// way. It must not be the outer cargo's own folder, which that cargo keeps locked while this script runs.
fn web_target_dir(out_dir: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let tagged = out_dir.ancestors().find(|folder| folder.join("CACHEDIR.TAG").is_file());
    // OUT_DIR is <target>/<profile>/build/<package>/out.
    let target = tagged.or_else(|| out_dir.ancestors().nth(4)).ok_or("OUT_DIR lies below a target folder")?;
    Ok(target.join("web"))
}
