//! Data on standard output, complaints on standard error.

use std::io::{ErrorKind, Write, stderr, stdout};

use anyhow::{Context, Result};
use serde::Serialize;

/// Prints one line. A reader that has seen enough (`yoi log ada | head`) ends the process quietly.
pub(crate) fn line(text: &str) -> Result<()> {
    let mut out = stdout().lock();
    match out.write_all(format!("{text}\n").as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => std::process::exit(0),
        written => written.context("standard output cannot be written"),
    }
}

/// Passes on a piece of a file as it is.
pub(crate) fn bytes(piece: &[u8]) -> Result<()> {
    let mut out = stdout().lock();
    match out.write_all(piece).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => std::process::exit(0),
        written => written.context("standard output cannot be written"),
    }
}

/// Prints one JSON document on one line.
pub(crate) fn json(document: &impl Serialize) -> Result<()> {
    line(&serde_json::to_string(document).context("the answer cannot be printed as JSON")?)
}

/// A note on what goes on, for people.
pub(crate) fn note(text: &str) {
    // Nobody is left to tell when standard error is closed.
    let _ = writeln!(stderr(), "yoi: {text}");
}

/// The error with all its causes, on one line.
pub(crate) fn complain(error: &anyhow::Error) {
    note(&format!("{error:#}").replace('\n', "; "));
}

/// A table with columns as wide as they have to be, but for the last. Control characters are not passed on.
pub(crate) fn table(rows: &[Vec<String>]) -> Result<()> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<_> = (0..columns).map(width).collect();
    for row in rows {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{:width$}", printable(cell)));
        line(cells.collect::<Vec<_>>().join("  ").trim_end())?;
    }
    Ok(())
}

/// Text from a Pod as a terminal may show it: escape sequences would move the cursor or worse.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|char| if char.is_control() && char != '\n' && char != '\t' { '\u{fffd}' } else { char }).collect()
}
