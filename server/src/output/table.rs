//! Tables for people: aligned, plain, as wide as the terminal. In a pipe every cell is printed in full.

use std::io::{IsTerminal, stdout};

use anyhow::Result;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::{bytes, is_coloured, line, printable};

/// The space between two columns.
const GAP: usize = 2;
/// The least width of a column that is cut: first all are cut to the one, then, if rows still do not fit, to the other.
const WIDTHS_MIN: [usize; 2] = [12, 6];
/// The headings of columns that a person types into the next command; these are never cut.
const KEPT: [&str; 9] = ["NAME", "ID", "POD", "REQUEST", "MESSAGE", "COMMAND", "RECORD", "FROM", "TO"];

/// Prints a table with headings. On a terminal, columns with prose or paths are cut so that each row fits on a line.
pub(crate) fn headed<const N: usize>(headings: [&str; N], rows: impl Iterator<Item = [String; N]>) -> Result<()> {
    let heading = headings.map(str::to_owned).to_vec();
    let rows: Vec<_> = std::iter::once(heading).chain(rows.map(Vec::from)).map(cells).collect();
    let mut widths = widths(&rows);
    if let Some(room) = columns_of_terminal() {
        let may_be_cut: Vec<_> = headings.iter().map(|heading| !KEPT.contains(heading)).collect();
        fit(&mut widths, &may_be_cut, room);
    }
    for (number, row) in rows.iter().enumerate() {
        let text = aligned(row, &widths);
        match number == 0 && is_coloured() {
            // Our own text, in bold.
            true => bytes(format!("\u{1b}[1m{text}\u{1b}[0m\n").as_bytes())?,
            false => line(&text)?,
        }
    }
    Ok(())
}

/// Prints a table without headings, or with its own.
pub(crate) fn table(rows: &[Vec<String>]) -> Result<()> {
    let rows: Vec<_> = rows.iter().cloned().map(cells).collect();
    let widths = widths(&rows);
    rows.iter().try_for_each(|row| line(&aligned(row, &widths)))
}

/// Makes each cell a single line without control characters.
fn cells(row: Vec<String>) -> Vec<String> {
    row.iter().map(|cell| printable(&cell.replace(['\n', '\t', '\r'], " "))).collect()
}

fn widths(rows: &[Vec<String>]) -> Vec<usize> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let cells = |column: usize| rows.iter().filter_map(move |row| row.get(column));
    (0..columns).map(|column| cells(column).map(|cell| cell.width()).max().unwrap_or_default()).collect()
}

/// Shrinks the widest column that may be cut, until a row fits or nothing more can be cut.
fn fit(widths: &mut [usize], may_be_cut: &[bool], room: usize) {
    let gaps = GAP * widths.len().saturating_sub(1);
    for least in WIDTHS_MIN {
        while widths.iter().sum::<usize>() + gaps > room {
            let widest = (0..widths.len()).filter(|column| may_be_cut[*column]).max_by_key(|column| widths[*column]);
            match widest {
                Some(column) if widths[column] > least => widths[column] -= 1,
                _ => break,
            }
        }
    }
}

fn aligned(row: &[String], widths: &[usize]) -> String {
    let mut text = String::new();
    for (cell, width) in row.iter().zip(widths) {
        let cell = cut(cell, *width);
        text.push_str(&cell);
        // Padded by display width, which `format!` does not know.
        text.extend(std::iter::repeat_n(' ', width - cell.width() + GAP));
    }
    text.truncate(text.trim_end().len());
    text
}

/// The beginning of a text that is wider than its column.
fn cut(cell: &str, width: usize) -> String {
    if cell.width() <= width {
        return cell.to_owned();
    }
    let mut taken = 0;
    let fits = |char: &char| {
        taken += char.width().unwrap_or_default();
        taken < width
    };
    cell.chars().take_while(fits).chain(['…']).collect()
}

/// The width of the terminal, if standard output is one.
fn columns_of_terminal() -> Option<usize> {
    if !stdout().is_terminal() {
        return None;
    }
    let columns = usize::from(rustix::termios::tcgetwinsize(stdout()).ok()?.ws_col);
    (columns > 0).then_some(columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_by_what_a_terminal_shows() {
        let rows = [vec!["ada".to_owned(), "x".to_owned()], vec!["日本".to_owned(), "y\nz".to_owned()]].map(cells);
        let widths = widths(&rows);
        assert_eq!(rows.each_ref().map(|row| aligned(row, &widths)), ["ada   x", "日本  y z"]);
    }

    #[test]
    fn prose_is_cut_and_names_are_not() {
        let mut widths = [20, 40, 30];
        fit(&mut widths, &[false, true, true], 60);
        assert_eq!(widths, [20, 18, 18]);
        fit(&mut widths, &[false, true, true], 10);
        assert_eq!(widths, [20, 6, 6], "narrower than this says nothing");
        assert_eq!(
            (cut("abcdef", 4).as_str(), cut("日本語", 4).as_str(), cut("abcd", 4).as_str()),
            ("abc…", "日…", "abcd")
        );
    }

    #[test]
    fn a_cell_moves_no_cursor() {
        assert_eq!(cells(vec!["a\u{1b}[2Jb\tc".to_owned()]), ["a\u{fffd}[2Jb c"]);
    }
}
