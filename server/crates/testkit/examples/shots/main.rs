//! Screenshots of the console, wide and narrow, light and dark: `cargo xtask shots`.
//!
//! `shots PATH_OF_YOI FOLDER PICTURES`: starts that yoi on data of its own with a morning's work in it, takes the
//! pictures for the documents into PICTURES and every page and dialog into FOLDER, and writes a contact sheet for each
//! width and theme into PICTURES. `shots PATH_OF_YOI - PICTURES` leaves out the pages and the sheets.

mod clock;
mod fill;
mod front;
mod repositories;
mod scenes;
mod screen;
mod sheet;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use testkit::browser::Browser;

use crate::{fill::Cast, scenes::Scene};

/// Width, height, and the name in file names.
const VIEWPORTS: [(u32, u32, &str); 2] = [(1440, 900, "wide"), (360, 740, "narrow")];

#[tokio::main]
async fn main() -> Result<()> {
    let usage = "usage: shots PATH_OF_YOI FOLDER PICTURES";
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().context(usage);
    let (binary, folder, pictures) = (next()?, PathBuf::from(next()?), made(&next()?)?);
    let cast = fill::play(&binary).await?;
    front::take(&cast, &pictures).await?;
    if folder == Path::new("-") {
        return Ok(());
    }
    let folder = made(&folder.to_string_lossy())?;
    for (width, height, word) in VIEWPORTS {
        for theme in ["light", "dark"] {
            let names = shoot(&cast, &folder, (width, height), theme, &format!("{word}-{theme}")).await;
            let sheet = pictures.join(format!("console-{theme}-{word}.png"));
            let bytes = sheet::make(&folder, &names, theme, width, &sheet).await?;
            println!("    {}: {:.0} kB", sheet.display(), bytes as f64 / 1e3);
        }
    }
    Ok(())
}

/// A folder that is there.
fn made(path: &str) -> Result<PathBuf> {
    std::fs::create_dir_all(path).with_context(|| format!("could not create {path}"))?;
    Ok(PathBuf::from(path).canonicalize()?)
}

/// Takes every scene. Returns each scene's caption and file name, in order.
async fn shoot(
    cast: &Cast,
    folder: &Path,
    (width, height): (u32, u32),
    theme: &str,
    suffix: &str,
) -> Vec<(String, String)> {
    let browser = Browser::start(width, height).await;
    front::live_there(&browser).await;
    browser.emulate_dark(theme == "dark").await;
    let mut names = Vec::new();
    for scene in Scene::ALL.into_iter().filter(|scene| scene.is_worth(width)) {
        scene.set(cast, &browser).await;
        let file = format!("{}-{suffix}.png", scene.name());
        browser.screenshot(&folder.join(&file)).await;
        println!("    {file}");
        names.push((scene.words().to_owned(), file));
    }
    browser.quit().await;
    names
}
