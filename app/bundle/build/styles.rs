//! Joins the style sheets below `style/` into one. They name their cascade layers themselves; this decides only their
//! order, which is by file name, whatever folder a file is in.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

use crate::slim;

/// These come first, in this order: the first one declares the order of the layers. The others follow by name.
const FIRST: [&str; 2] = ["tokens.css", "base.css"];

/// Writes `yoi.css` and copies the folder's other files (an icon, a font) unchanged.
pub(crate) fn bundle(style: &Path, site: &Path) -> Result<()> {
    let mut sheet = String::new();
    for file in files_in_order(style)? {
        let name = file.file_name().expect("a listed file has a name").to_string_lossy().into_owned();
        if name.ends_with(".css") {
            let text = fs::read_to_string(&file).with_context(|| format!("could not read {}", file.display()))?;
            sheet.push_str(&slim::style(&text));
            sheet.push('\n');
        } else if !name.starts_with('.') && !name.ends_with(".md") {
            fs::copy(&file, site.join(&name)).with_context(|| format!("could not copy {}", file.display()))?;
        }
    }
    fs::write(site.join("yoi.css"), sheet).context("could not write yoi.css")
}

fn files_in_order(style: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    gather(style, &mut files)?;
    files.sort_by_key(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let rank = FIRST.iter().position(|first| *first == name).unwrap_or(FIRST.len());
        (rank, name)
    });
    Ok(files)
}

fn gather(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    // git keeps no empty folders, so the folder may be missing.
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    for entry in entries {
        let path = entry.with_context(|| format!("could not list {}", folder.display()))?.path();
        match path.is_dir() {
            true => gather(&path, files)?,
            false => files.push(path),
        }
    }
    Ok(())
}
