//! Builds the binary and finds it and the browser's bundle, as cargo reports them.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::run::{Show, cargo, passes_watched};

/// The results of a build of `yoi`.
#[derive(Debug)]
pub(crate) struct Built {
    pub(crate) binary: PathBuf,
    /// The folder with the browser's files in their compressed forms; `None` for a build with `YOI_WEB=skip`.
    pub(crate) site: Option<PathBuf>,
}

/// `cargo build` of the package `yoi`. The first one also compiles the browser's half and takes minutes.
pub(crate) fn yoi(profile_arguments: &[&str]) -> Result<Built> {
    let mut build = cargo(&["build", "--locked", "--package", "yoi", "--message-format=json-render-diagnostics"]);
    build.args(profile_arguments);
    let (mut binary, mut site) = (None, None);
    let is_ok = passes_watched(&mut build, |line| {
        let message: Value = serde_json::from_str(line).unwrap_or_default();
        if message["reason"] == "build-script-executed" && is_package(&message, "app/bundle") {
            site = message["out_dir"].as_str().map(|folder| Path::new(folder).join("site"));
        }
        if message["reason"] == "compiler-artifact" && is_package(&message, "server") {
            binary = message["executable"].as_str().map(PathBuf::from).or(binary.take());
        }
        Show::No
    })?;
    if !is_ok {
        bail!("the build failed");
    }
    let site = site.filter(|folder| folder.join("yoi.js.br").is_file());
    Ok(Built { binary: binary.context("cargo did not report the binary")?, site })
}

/// Whether the message is about this package; ids are `path+file:///…/server#yoi@0.1.0`.
fn is_package(message: &Value, folder: &str) -> bool {
    let id = message["package_id"].as_str().unwrap_or_default();
    id.split_once('#').is_some_and(|(path, _)| path.ends_with(&format!("/{folder}")))
}

/// Name, uncompressed size and brotli size in bytes of each file that the browser loads.
pub(crate) fn sizes(site: &Path) -> Result<Vec<(String, u64, u64)>> {
    let mut sizes = Vec::new();
    for entry in fs::read_dir(site).with_context(|| format!("could not list {}", site.display()))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if let Some(name) = name.strip_suffix(".br") {
            let packed = fs::read(&path).with_context(|| format!("could not read {}", path.display()))?;
            sizes.push((name.to_owned(), plain_len(&packed)?, packed.len() as u64));
        }
    }
    sizes.sort();
    Ok(sizes)
}

/// The uncompressed size of a brotli form, in bytes.
fn plain_len(brotli: &[u8]) -> Result<u64> {
    std::io::copy(&mut brotli::Decompressor::new(brotli, 4_096), &mut std::io::sink()).context("not a brotli file")
}
