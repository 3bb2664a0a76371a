//! Contact sheets: a page of thumbnails, of which the browser takes a screenshot in turn.

use std::path::Path;

use anyhow::Result;
use testkit::browser::Browser;

/// Thumbnails per row, and the width of each in pixels.
const WIDE: (usize, u32) = (4, 250);
const NARROW: (usize, u32) = (8, 120);
const GAP: u32 = 10;
/// Levels per colour channel: with all 256 the files are half as large again, without a visible difference.
const LEVELS: u32 = 32;

/// Writes the sheet of these screenshots (captions and file names) beside them, and its screenshot to `sheet`.
/// Returns the size in bytes.
pub(crate) async fn make(
    folder: &Path,
    names: &[(String, String)],
    theme: &str,
    width: u32,
    sheet: &Path,
) -> Result<u64> {
    let (columns, px) = if width > 1000 { WIDE } else { NARROW };
    let page = folder.join("sheet.html");
    std::fs::write(&page, html(names, theme, columns, px))?;
    let browser = Browser::start(800, 600).await;
    browser.goto(&format!("file://{}", page.display())).await;
    browser.wait_script("return [...document.images].every((image) => image.complete && image.naturalWidth > 0)").await;
    let across = columns as u32 * (px + GAP) + GAP;
    browser.set_viewport(across, 600).await;
    let tall = browser.eval("return document.documentElement.scrollHeight").await.as_u64().unwrap_or(600);
    browser.set_viewport(across, u32::try_from(tall)?).await;
    browser.screenshot(sheet).await;
    browser.quit().await;
    std::fs::remove_file(&page)?;
    Ok(std::fs::metadata(sheet)?.len())
}

fn html(names: &[(String, String)], theme: &str, columns: usize, px: u32) -> String {
    let (paper, ink) = if theme == "dark" { ("#000", "#ccc") } else { ("#ddd", "#222") };
    let figures: String = names
        .iter()
        .map(|(words, file)| {
            let words = words.replace('&', "&amp;").replace('<', "&lt;");
            format!("<figure><img src=\"{file}\" alt=\"\"><figcaption>{words}</figcaption></figure>\n")
        })
        .collect();
    let levels: Vec<String> =
        (0..LEVELS).map(|level| format!("{:.3}", f64::from(level) / f64::from(LEVELS - 1))).collect();
    let few: String = ["R", "G", "B"]
        .iter()
        .map(|channel| format!("<feFunc{channel} type=\"discrete\" tableValues=\"{}\"/>", levels.join(" ")))
        .collect();
    format!(
        "<!doctype html><meta charset=\"utf-8\"><style>\
         html {{ overflow: hidden }} body {{ margin: {GAP}px; display: grid; grid-template-columns: repeat({columns}, {px}px); gap: {GAP}px; \
         background: {paper}; color: {ink}; font: 12px sans-serif }}\
         figure {{ margin: 0 }} img {{ width: 100%; display: block }} figcaption {{ padding: 3px 2px }}\
         img {{ filter: url(#few) }}\
         </style>\n<svg width=\"0\" height=\"0\" style=\"position:absolute\"><filter id=\"few\" \
         color-interpolation-filters=\"sRGB\"><feComponentTransfer>{few}</feComponentTransfer></filter></svg>\n{figures}"
    )
}
