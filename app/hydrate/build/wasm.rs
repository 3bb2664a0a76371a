//! The browser's half of the app, compiled by a cargo of its own.

use std::{
    env,
    error::Error,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

const TARGET: &str = "wasm32-unknown-unknown";
const PROFILE: &str = "wasm-release";

/// Names the linker where the compiler has none of its own for this target, as in Nix.
const WASM_LINKER: &str = "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER";

/// The variables of the outer cargo that the inner one keeps: where crates come from and how to reach them.
const KEPT_CARGO_VARIABLES: [&str; 7] =
    ["CARGO_HOME", "CARGO_NET_", "CARGO_HTTP_", "CARGO_REGISTRIES_", "CARGO_SOURCE_", "CARGO_TERM_", WASM_LINKER];

/// Variables with these prefixes belong to the outer build (its compiler flags, clippy's wrapper) or change what
/// Leptos and its server functions compile to; the two halves must agree, so the inner build gets none of them.
const DROPPED_VARIABLES: [&str; 9] = [
    "CARGO",
    "RUSTC_",
    "RUSTFLAGS",
    "RUSTDOC",
    "CLIPPY_",
    "LEPTOS_",
    "SERVER_FN_",
    "DISABLE_SERVER_FN_HASH",
    "__CARGO",
];

/// Compiles the package `hydrate` in a cargo of its own and returns the path of the module.
pub(crate) fn compile(workspace: &Path, target_dir: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    ensure_target(&rustc)?;

    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .current_dir(workspace)
        .args(["rustc", "--locked", "--package", "hydrate", "--lib", "--crate-type", "cdylib"])
        .args(["--target", TARGET, "--profile", PROFILE])
        .arg("--target-dir")
        .arg(target_dir)
        .args(bare_paths())
        .stdin(Stdio::null())
        // Standard output belongs to the outer cargo, which reads instructions from it; errors are shown on failure.
        .stdout(Stdio::null());
    for (name, _) in env::vars_os() {
        if is_dropped(&name.to_string_lossy()) {
            cargo.env_remove(name);
        }
    }
    cargo.env("RUSTC", rustc);

    let status = cargo.status().map_err(|error| format!("could not start cargo for the browser's half: {error}"))?;
    if !status.success() {
        return Err(format!(
            "the browser's half (package hydrate, {TARGET}) did not compile; cargo's messages are below.\n\
             To see them alone: cargo check -p hydrate --target {TARGET}\n\
             To build without the browser console: YOI_WEB=skip"
        )
        .into());
    }
    Ok(target_dir.join(TARGET).join(PROFILE).join("hydrate.wasm"))
}

/// Flags that strip the registry's folder from the paths in the module's panic messages: the messages are clear
/// without it, and the module is the same whoever builds it. Cargo adds these flags to those of `.cargo/config.toml`.
fn bare_paths() -> Vec<String> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cargo")));
    let registries = home.and_then(|home| fs::read_dir(home.join("registry").join("src")).ok());
    let registries = registries.into_iter().flatten().flatten().map(|registry| registry.path());
    let mut flags: Vec<_> = registries.map(|path| format!("--remap-path-prefix={}/=", path.display())).collect();
    flags.sort();
    if flags.is_empty() { Vec::new() } else { vec!["--config".to_owned(), format!("build.rustflags={flags:?}")] }
}

fn is_dropped(name: &str) -> bool {
    DROPPED_VARIABLES.iter().any(|dropped| name.starts_with(dropped))
        && !KEPT_CARGO_VARIABLES.iter().any(|kept| name.starts_with(kept))
}

/// rustup installs the target by itself where it can (rust-toolchain.toml lists it). Otherwise ask it once, and if
/// that fails too, report exactly what to install.
fn ensure_target(rustc: &OsString) -> Result<(), Box<dyn Error>> {
    if has_target(rustc)? {
        return Ok(());
    }
    let toolchain = env::var("RUSTUP_TOOLCHAIN").ok();
    let mut rustup = Command::new("rustup");
    rustup.args(["target", "add", TARGET]).stdin(Stdio::null()).stdout(Stdio::null());
    if let Some(toolchain) = &toolchain {
        rustup.args(["--toolchain", toolchain]);
    }
    let outcome = match rustup.status() {
        Ok(status) if status.success() && has_target(rustc)? => return Ok(()),
        Ok(status) => format!("`rustup target add {TARGET}` was tried ({status})"),
        Err(error) => format!("rustup was not found ({error})"),
    };
    let toolchain = toolchain.map(|name| format!(" --toolchain {name}")).unwrap_or_default();
    Err(format!(
        "the compiler {} has no standard library for {TARGET}, which the browser console needs; {outcome}.\n\
         With rustup:    rustup target add {TARGET}{toolchain}\n\
         Without rustup: docs/building.md, \"A compiler without rustup\", tells how Debian's packages make that library\n\
         To build without the browser console: YOI_WEB=skip cargo build",
        rustc.to_string_lossy()
    )
    .into())
}

fn has_target(rustc: &OsString) -> Result<bool, Box<dyn Error>> {
    let answer = Command::new(rustc)
        .args(["--print", "target-libdir", "--target", TARGET])
        .output()
        .map_err(|error| format!("could not start {}: {error}", rustc.to_string_lossy()))?;
    let folder = String::from_utf8_lossy(&answer.stdout).trim().to_owned();
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(false) };
    Ok(entries.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with("libstd-")))
}
