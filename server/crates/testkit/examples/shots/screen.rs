//! A terminal's screen as a picture: drawn as HTML, of which a browser takes a screenshot.

use std::{fmt::Write, num::NonZeroU16, path::Path};

use anyhow::{Context, Result};
use testkit::browser::Browser;
use vt100::{Cell, Color, Parser};

/// The sixteen colours of the terminal in the picture.
const PALETTE: [&str; 16] = [
    "#16161a", "#e06c6c", "#7fc28a", "#d9a860", "#7aa5e8", "#b79be0", "#72bfc4", "#c9c9cf", "#85858f", "#f08a8a",
    "#98d8a3", "#ecc282", "#9bbcf2", "#cdb8ee", "#90d4d8", "#f4f4f6",
];
const PAPER: &str = "#16161a";
const INK: &str = "#d6d6db";

/// Saves the screen that these bytes make, as PNG.
pub(crate) async fn save(raw: &str, (columns, rows): (u16, u16), file: &Path) -> Result<()> {
    let size = |cells: u16| NonZeroU16::new(cells).context("a screen has rows and columns");
    let mut parser = Parser::new(size(rows)?, size(columns)?, 0);
    parser.process(raw.as_bytes());
    let page = file.with_extension("html");
    std::fs::write(&page, html(&parser, (columns, rows)))?;
    let browser = Browser::start(800, 600).await;
    browser.goto(&format!("file://{}", page.canonicalize()?.display())).await;
    let side = async |name: &str| {
        let script = format!("return Math.ceil(document.querySelector('pre').getBoundingClientRect().{name})");
        u32::try_from(browser.eval(&script).await.as_u64().unwrap_or(600))
    };
    browser.set_viewport(side("width").await?, side("height").await?).await;
    browser.screenshot(file).await;
    browser.quit().await;
    std::fs::remove_file(&page)?;
    Ok(())
}

fn html(parser: &Parser, (columns, rows): (u16, u16)) -> String {
    let mut text = String::new();
    for row in 0..rows {
        for cell in (0..columns).filter_map(|column| parser.screen().cell(row, column)) {
            if cell.is_wide_continuation() {
                continue;
            }
            let said = if cell.has_contents() { cell.contents() } else { " " };
            let said = said.replace('&', "&amp;").replace('<', "&lt;");
            let _ = write!(text, "<span style=\"{}\">{said}</span>", style(cell));
        }
        text.push('\n');
    }
    format!(
        "<!doctype html><meta charset=\"utf-8\"><style>html {{ background: {PAPER} }} body {{ margin: 0 }}\
         pre {{ display: inline-block; margin: 0; padding: 14px 18px; background: {PAPER}; color: {INK}; \
         font: 13px/17px 'DejaVu Sans Mono', monospace }}</style><pre>{text}</pre>"
    )
}

fn style(cell: &Cell) -> String {
    let (mut ink, mut paper) = (colour(cell.fgcolor()), colour(cell.bgcolor()));
    if cell.inverse() {
        (ink, paper) = (Some(paper.unwrap_or_else(|| PAPER.to_owned())), Some(ink.unwrap_or_else(|| INK.to_owned())));
    }
    let mut style = String::new();
    for (name, value) in [("color", ink), ("background", paper)] {
        if let Some(value) = value {
            let _ = write!(style, "{name}:{value};");
        }
    }
    let looks = [
        (cell.bold(), "font-weight:bold;"),
        (cell.dim(), "opacity:.65;"),
        (cell.italic(), "font-style:italic;"),
        (cell.underline(), "text-decoration:underline;"),
    ];
    looks.into_iter().filter(|(is_so, _)| *is_so).for_each(|(_, look)| style.push_str(look));
    style
}

fn colour(colour: Color) -> Option<String> {
    match colour {
        Color::Default => None,
        Color::Rgb(red, green, blue) => Some(format!("rgb({red},{green},{blue})")),
        Color::Idx(number @ 0..=15) => PALETTE.get(usize::from(number)).map(|&name| name.to_owned()),
        Color::Idx(number @ 16..=231) => {
            let level = |part: u8| if part == 0 { 0 } else { u32::from(part) * 40 + 55 };
            let number = number - 16;
            Some(format!("rgb({},{},{})", level(number / 36), level(number / 6 % 6), level(number % 6)))
        }
        Color::Idx(number) => {
            let grey = (u32::from(number) - 232) * 10 + 8;
            Some(format!("rgb({grey},{grey},{grey})"))
        }
    }
}
