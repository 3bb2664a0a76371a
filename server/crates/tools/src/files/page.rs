//! Part of a text with line numbers, as much as fits.

use std::fmt::Write as _;

use super::failure::Failure;

const LINES_DEFAULT: usize = 2000;
const PAGE_BYTES_MAX: usize = 100 * 1024;
const LINE_CHARS_MAX: usize = 2000;

/// Which lines are wanted: `offset` counts from 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Range {
    offset: usize,
    limit: usize,
}

/// Numbered lines, and their range.
#[derive(Debug)]
pub(super) struct Page {
    /// Ends with a line that says how to continue, if there is more.
    pub(super) text: String,
    /// "lines 1–120 of 340", or that it is empty.
    pub(super) extent: String,
}

impl Range {
    pub(super) fn new(offset: Option<u64>, limit: Option<u64>) -> Result<Self, Failure> {
        let number = |field: &str, number: Option<u64>, default: usize| match number {
            None => Ok(default),
            Some(0) => Err(Failure::InvalidInput(format!("{field}: it counts from 1; leave it out or raise it"))),
            Some(number) => Ok(usize::try_from(number).unwrap_or(usize::MAX)),
        };
        Ok(Self { offset: number("offset", offset, 1)?, limit: number("limit", limit, LINES_DEFAULT)? })
    }
}

/// The wanted lines of `text`, fewer if they exceed [`PAGE_BYTES_MAX`].
pub(super) fn page(text: &str, range: Range) -> Result<Page, Failure> {
    let total = text.lines().count();
    if total == 0 {
        return Ok(Page { text: String::new(), extent: "which is empty".to_owned() });
    }
    if range.offset > total {
        let there_are = if total == 1 { "there is 1 line".to_owned() } else { format!("there are {total} lines") };
        return Err(Failure::InvalidInput(format!("offset: {there_are}; give a number from 1 to {total}")));
    }
    let mut page = String::new();
    let mut last = range.offset - 1;
    for line in text.lines().skip(range.offset - 1).take(range.limit) {
        let line = numbered(last + 1, line);
        if page.len() + line.len() > PAGE_BYTES_MAX {
            break;
        }
        page.push_str(&line);
        last += 1;
    }
    if last < total {
        let more = total - last;
        write!(page, "… {more} more {}: Read again with offset {}", noun(more), last + 1)
            .expect("a string takes everything");
    }
    Ok(Page { text: page, extent: format!("lines {}–{last} of {total}", range.offset) })
}

/// `line` or `lines`.
pub(super) fn noun(count: usize) -> &'static str {
    if count == 1 { "line" } else { "lines" }
}

/// At most `chars_max` characters of a line, with a mark where it was cut.
pub(super) fn cut(line: &str, chars_max: usize) -> String {
    match line.char_indices().nth(chars_max) {
        None => line.to_owned(),
        Some((at, _)) => format!("{}… [{} more characters]", &line[..at], line[at..].chars().count()),
    }
}

fn numbered(number: usize, line: &str) -> String {
    format!("{number:>6}\t{}\n", cut(line, LINE_CHARS_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, offset: u64, limit: u64) -> (String, String) {
        let page = page(text, Range::new(Some(offset), Some(limit)).unwrap()).unwrap();
        (page.text, page.extent)
    }

    #[test]
    fn lines_are_numbered_and_the_rest_is_pointed_to() {
        let (text, extent) = shown("a\r\nb\nc\n", 1, 2);
        assert_eq!(text, "     1\ta\n     2\tb\n… 1 more line: Read again with offset 3");
        assert_eq!(extent, "lines 1–2 of 3");
        assert_eq!(shown("a\nb\nc", 3, 9), ("     3\tc\n".to_owned(), "lines 3–3 of 3".to_owned()));
        assert_eq!(shown("", 1, 9).1, "which is empty");
    }

    #[test]
    fn a_page_never_outgrows_its_bound() {
        let (text, extent) = shown(&format!("{}\n", "ä".repeat(1990)).repeat(100), 1, 9000);
        assert!(text.len() < PAGE_BYTES_MAX + 100, "{}", text.len());
        assert!(text.ends_with("Read again with offset 26"), "{extent}");
        let (text, _) = shown(&"x".repeat(5000), 1, 1);
        assert!(text.ends_with("… [3000 more characters]\n"));
    }

    #[test]
    fn lines_that_are_not_there_are_refused_with_the_number_that_is() {
        let error = page("a\nb\n", Range::new(Some(3), None).unwrap()).unwrap_err();
        assert_eq!(error.to_string(), "offset: there are 2 lines; give a number from 1 to 2");
        let error = page("a\n", Range::new(Some(3), None).unwrap()).unwrap_err();
        assert_eq!(error.to_string(), "offset: there is 1 line; give a number from 1 to 1");
        assert_eq!(Range::new(Some(0), None).unwrap_err().code(), "invalid_input");
    }
}
