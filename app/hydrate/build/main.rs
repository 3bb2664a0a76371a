//! Built for the machine that compiles, this crate is empty, and its build script compiles it for the browser. The script needs no
//! crate, so that it runs from the beginning, beside the server's half; `bundle` gets the path of the module.
//!
//! `YOI_WEB=skip` leaves all of it out, for quick checks; the server then says on the page what is missing.

mod wasm;

use std::{
    env,
    error::Error,
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Everything that the module is made from, from the workspace's root. A change in any of it builds the module again.
const SOURCES: [&str; 10] = [
    "app/Cargo.toml",
    "app/src",
    "app/hydrate",
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
        // The module is split after it is linked: what is loaded later is found by the linker's relocations.
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

/// One folder for the browser's half, shared by debug and release builds: it is the same code either way. It must not
/// be the outer cargo's own folder, whose lock that cargo holds while this script runs.
fn web_target_dir(out_dir: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let tagged = out_dir.ancestors().find(|folder| folder.join("CACHEDIR.TAG").is_file());
    // OUT_DIR is <target>/<profile>/build/<package>/out.
    let target = tagged.or_else(|| out_dir.ancestors().nth(4)).ok_or("OUT_DIR lies below a target folder")?;
    Ok(target.join("web"))
}
