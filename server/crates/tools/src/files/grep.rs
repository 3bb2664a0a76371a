//! Grep: finds matching lines.

use std::{
    io::{self, Read as _},
    ops::ControlFlow,
};

use globset::GlobMatcher;
use grep_matcher::LineTerminator;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use pod::ToolOutcome;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    content::FILE_BYTES_MAX,
    failure::Failure,
    matches::{End, Matches},
    open,
    path::{beneath, split},
    walk::{self, Walk, Walked},
    work::{FileTool, Work},
};

const MATCHES_DEFAULT: u64 = 100;
const MATCHES_MAX: u64 = 1000;
const CONTEXT_LINES_MAX: u64 = 10;

/// The largest compiled pattern; a larger one is no reasonable pattern.
const REGEX_BYTES_MAX: usize = 10 * 1024 * 1024;

/// How much of a file is read and then searched at once.
const PART_BYTES_MAX: usize = 8 * 1024;

/// Searches files for a regular expression.
#[derive(Debug, Clone, Copy)]
pub struct Grep;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// A regular expression in Rust's syntax, matched line by line; (?i) at its start ignores case.
    pattern: String,
    /// The folder or file to search; the working directory when absent.
    #[serde(default)]
    path: Option<String>,
    /// Search only files whose path beneath `path` matches; without a slash, only the name has to match: *.rs
    #[serde(default)]
    glob: Option<String>,
    /// The number of lines to show around each match, at most 10.
    #[serde(default)]
    context: Option<u64>,
    /// The number of matching lines to show, 100 when absent, at most 1000.
    #[serde(default)]
    limit: Option<u64>,
}

impl FileTool for Grep {
    const NAME: &str = "Grep";
    const DESCRIPTION: &str = "Searches files for a regular expression and shows matching lines as path:line: text. Files that git ignores, \
         hidden files (unless `glob` names them), binary files and files over 10 MiB are left out.";
    type Arguments = Arguments;

    fn run(work: &Work, arguments: &Arguments) -> Result<ToolOutcome, Failure> {
        let lines_max = bounded("limit", arguments.limit, MATCHES_DEFAULT, 1, MATCHES_MAX)?;
        let around = bounded("context", arguments.context, 0, 0, CONTEXT_LINES_MAX)?;
        let glob = arguments.glob.as_deref().map(|glob| walk::glob("glob", glob)).transpose()?;
        let matcher = regex(&arguments.pattern)?;
        let mut searcher = searcher(around);

        let top = open::open(work, &work.absolute(arguments.path.as_deref().unwrap_or("."))?)?;
        let hidden = arguments.glob.as_deref().is_some_and(walk::names_hidden);
        let walk = Walk { root: top.path, hidden };
        let mut matches = Matches::new(lines_max);
        let walked = walk.files(work, |path| {
            if glob.as_ref().is_none_or(|glob| is_wanted(glob, &walk.root, path)) {
                search(work, path, &matcher, &mut searcher, &mut matches);
            }
            Ok(if matches.end.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        Ok(outcome(&arguments.pattern, matches, walked))
    }
}

/// Adds the matches in one file. A file that is not text, not in the scope or missing has none.
fn search(work: &Work, path: &str, matcher: &RegexMatcher, searcher: &mut Searcher, matches: &mut Matches) {
    let Ok(file) = open::open(work, path) else { return };
    if !file.kind().is_file() || file.size() > FILE_BYTES_MAX {
        return;
    }
    let Ok(reader) = file.reader() else { return };
    let shown = work.shown(path);
    let mut found = matches.file(&shown);
    let reader = Patient { work, file: reader.take(FILE_BYTES_MAX) };
    match searcher.search_reader(matcher, reader, &mut found) {
        Ok(()) => found.keep(),
        Err(error) => tracing::debug!(path, %error, "a file was not searched"),
    }
}

/// A file read in small parts, so that a slow pattern stops soon after nobody waits for it any more.
struct Patient<'a, File> {
    work: &'a Work,
    file: File,
}

impl<File: io::Read> io::Read for Patient<'_, File> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.work.go_on().map_err(|_| io::Error::other("nobody waits for it any more"))?;
        let part = buffer.len().min(PART_BYTES_MAX);
        self.file.read(&mut buffer[..part])
    }
}

fn outcome(pattern: &str, matches: Matches, walked: Walked) -> ToolOutcome {
    let note = match (matches.end, walked) {
        (Some(End::Limit), _) => ", and there are more: narrow the pattern or raise `limit`",
        (Some(End::Size), _) => ", and there is more than fits: narrow the pattern",
        (None, Walked::TooMuch) => ", and not all folders were looked at: name one as `path`",
        (None, Walked::All | Walked::Stopped) => "",
    };
    let lines = if matches.lines == 1 { "line matches" } else { "lines match" };
    let files = if matches.files == 1 { "file" } else { "files" };
    let summary = format!("{} {lines} {pattern} in {} {files}{note}", matches.lines, matches.files);
    let content = Some(matches.text).filter(|text| !text.is_empty());
    ToolOutcome { content, ..ToolOutcome::done(summary) }
}

fn is_wanted(glob: &GlobMatcher, root: &str, path: &str) -> bool {
    let name = split(path).map_or("", |(_, name)| name);
    match glob.glob().glob().contains('/') {
        true => beneath(root, path).is_some_and(|rest| glob.is_match(rest)),
        false => glob.is_match(name),
    }
}

fn regex(pattern: &str) -> Result<RegexMatcher, Failure> {
    let built = RegexMatcherBuilder::new()
        .line_terminator(Some(b'\n'))
        .crlf(true)
        .size_limit(REGEX_BYTES_MAX)
        .dfa_size_limit(REGEX_BYTES_MAX)
        .build(pattern);
    built.map_err(|error| {
        // The parser points at the position over several lines; the last one says what is wrong.
        let text = error.to_string();
        let reason = text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
        let reason = reason.trim().trim_start_matches("error: ");
        Failure::InvalidInput(format!(
            "pattern: {reason}; correct the regular expression, or escape what is meant as text"
        ))
    })
}

fn searcher(around: usize) -> Searcher {
    SearcherBuilder::new()
        .line_number(true)
        .line_terminator(LineTerminator::crlf())
        .binary_detection(BinaryDetection::quit(0))
        .before_context(around)
        .after_context(around)
        .build()
}

fn bounded(field: &str, given: Option<u64>, default: u64, min: u64, max: u64) -> Result<usize, Failure> {
    let number = given.unwrap_or(default);
    match (min..=max).contains(&number) {
        true => Ok(usize::try_from(number).expect("the bound is small")),
        false => {
            Err(Failure::InvalidInput(format!("{field}: {number} is not from {min} to {max}; choose one that is")))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use pod::Scope;

    use super::{super::work::Bounds, *};

    #[test]
    fn a_search_in_one_file_ends_between_its_parts_once_it_is_given_up() {
        let bounds = |steps: usize| Bounds {
            until: std::time::Instant::now() + std::time::Duration::from_secs(3_600),
            steps: AtomicUsize::new(steps),
        };
        let text = "some words of a line\n".repeat(10_000);
        let searched = |steps: usize| {
            let work = Work::looking("/", Scope::new([], []), bounds(steps));
            let mut matches = Matches::new(usize::MAX);
            let mut found = matches.file("a");
            let reader = Patient { work: &work, file: text.as_bytes() };
            let ended = searcher(0).search_reader(regex("nothing").unwrap(), reader, &mut found);
            (ended.is_ok(), work.go_on().is_ok())
        };
        assert_eq!(searched(usize::MAX), (true, true));
        assert_eq!(searched(10), (false, false), "of 26 parts it has read 10");
    }
}
