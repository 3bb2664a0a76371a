//! The finished folder: every file in brotli form, and one hash over all of them.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

/// Empties the folder, so that a file removed from the sources also disappears from the binary.
pub(crate) fn empty(site: &Path) -> Result<()> {
    if site.exists() {
        fs::remove_dir_all(site).with_context(|| format!("could not empty {}", site.display()))?;
    }
    fs::create_dir_all(site).with_context(|| format!("could not create {}", site.display()))
}

/// Compresses each file, removes the uncompressed one, and returns the hash that becomes part of the path they are
/// served under. The hash covers names and contents but no timestamps, so equal sources give an equal hash.
pub(crate) fn seal(site: &Path) -> Result<String> {
    let mut files = Vec::new();
    list(site, &mut files)?;
    files.sort();

    let mut hash = Sha256::new();
    for file in files {
        let bytes = fs::read(&file).with_context(|| format!("could not read {}", file.display()))?;
        let name = file.strip_prefix(site).expect("listed below the folder").to_string_lossy().into_owned();
        hash.update((name.len() as u64).to_le_bytes());
        hash.update(name.as_bytes());
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(&bytes);
        write_beside(&file, "br", &brotli(&bytes)?)?;
        // The other encodings are produced on request: clients without brotli are too rare to store a second copy.
        fs::remove_file(&file).with_context(|| format!("could not remove {}", file.display()))?;
    }
    Ok(hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect())
}

fn list(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("could not list {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            list(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

fn write_beside(file: &Path, extension: &str, bytes: &[u8]) -> Result<()> {
    let mut name = file.as_os_str().to_owned();
    name.push(".");
    name.push(extension);
    fs::write(&name, bytes).with_context(|| format!("could not write {}", name.to_string_lossy()))
}

fn brotli(bytes: &[u8]) -> Result<Vec<u8>> {
    let params =
        brotli::enc::BrotliEncoderParams { quality: 11, lgwin: 22, size_hint: bytes.len(), ..Default::default() };
    let mut compressed = Vec::new();
    brotli::BrotliCompress(&mut &bytes[..], &mut compressed, &params).context("brotli failed")?;
    Ok(compressed)
}
