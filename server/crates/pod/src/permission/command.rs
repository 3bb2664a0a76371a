//! Matches a command line against rules: each of its commands has to be allowed on its own, and one denied command
//! denies the whole line.

use protocol::PermissionDecision::{self, Allow};

use super::{
    pattern::{exact, fits, matches},
    words::{self, GAP, Line, STAR, Simple, WALL},
};

/// The most bytes of a command line that are matched. A longer one is allowed by no pattern, and denied by each.
const COMMAND_BYTES_MAX: usize = 16 * 1024;
/// The most words after a program that runs its arguments; with more, the line counts as too long.
const WORDS_BEHIND_MAX: usize = 512;
/// How many levels of shells within shells are looked into.
const DEPTH_MAX: usize = 4;

/// Programs that run their arguments, so that a denied command behind one of them is still denied.
pub(super) const WRAPPERS: [&str; 42] = [
    ".", "ash", "bash", "builtin", "busybox", "chroot", "chrt", "command", "coproc", "dash", "doas", "env", "eval",
    "exec", "fd", "find", "flock", "ionice", "ksh", "nice", "nohup", "nsenter", "parallel", "runuser", "script",
    "setpriv", "setsid", "sh", "source", "stdbuf", "strace", "su", "sudo", "taskset", "time", "timeout", "trap",
    "unshare", "watch", "xargs", "xvfb-run", "zsh",
];
/// They change the folder for the commands after them.
const MOVERS: [&str; 3] = ["cd", "pushd", "popd"];

/// A command line, as far as it could be parsed.
#[derive(Debug)]
pub(super) struct CommandLine {
    given: String,
    /// Its commands, if they consist of literal words; otherwise one that no pattern allows.
    units: Vec<Unit>,
    /// All of it in one line, if it consists of literal words.
    whole: Option<String>,
    /// It is longer than what is matched.
    is_too_long: bool,
}

/// One command that has to be decided on.
#[derive(Debug, Default)]
struct Unit {
    line: Option<String>,
    /// What a rule that asks or denies may match it by.
    meant: Vec<Meant>,
    /// An earlier command changes the folder.
    is_moved: bool,
}

/// Words in one line, and where a command may begin in it.
#[derive(Debug)]
struct Meant {
    line: String,
    starts: Vec<usize>,
}

impl CommandLine {
    /// `found` has the words of each command that a parser of the shell's language finds in the text, at any depth;
    /// `None` if the parser could not make sense of the whole text.
    pub(super) fn of(given: &str, found: Option<&[Vec<String>]>) -> Self {
        let mut line = Self { given: given.to_owned(), units: Vec::new(), whole: None, is_too_long: false };
        if given.len() > COMMAND_BYTES_MAX {
            return Self { units: vec![Unit::default()], is_too_long: true, ..line };
        }
        // If the parser finds more commands than we do, the text is not literal words.
        let read = words::read(given).filter(|read| found.is_some_and(|found| found.len() == read.commands.len()));
        line.whole = read.as_ref().map(Line::line);
        match (read, found) {
            (Some(read), _) => line.add_units(read.commands),
            (None, found) => {
                let mut unit = Unit::default();
                match found {
                    Some(found) => found.iter().for_each(|words| line.add_meanings(&mut unit.meant, words, 0)),
                    None => unit.meant = loose(given),
                }
                line.units.push(unit);
            }
        }
        line
    }

    fn add_units(&mut self, commands: Vec<Simple>) {
        let mut is_moved = false;
        for command in commands {
            let mut unit = Unit { line: Some(command.line()), is_moved, ..Unit::default() };
            self.add_meanings(&mut unit.meant, &command.words, 0);
            is_moved |= command.name().is_some_and(|name| MOVERS.contains(&name));
            self.units.push(unit);
        }
    }

    /// Adds the command itself, its bare name as well, and what it runs if it is a program that runs others.
    fn add_meanings(&mut self, meant: &mut Vec<Meant>, words: &[String], depth: usize) {
        let Some(program) = words.first() else { return };
        let bare = program.rsplit('/').next().unwrap_or_default();
        let runs_others = WRAPPERS.contains(&bare);
        let line = words.join(&GAP.to_string());
        let mut starts = vec![0, program.len() - bare.len()];
        if runs_others {
            self.is_too_long |= words.len() > WORDS_BEHIND_MAX;
            let mut at = 0;
            for word in words.iter().take(WORDS_BEHIND_MAX) {
                starts.extend([at, at + word.rfind('/').map_or(0, |slash| slash + 1)]);
                at += word.len() + 1;
            }
        }
        starts.dedup();
        meant.push(Meant { line, starts });
        if runs_others && depth < DEPTH_MAX {
            let joined = (bare == "eval").then(|| words[1..].join(" "));
            let texts = words[1..].iter().filter(|word| word.contains(|sign: char| !is_of_name(sign)));
            for text in texts.cloned().chain(joined) {
                match words::read(&text) {
                    Some(read) => {
                        read.commands.iter().for_each(|command| self.add_meanings(meant, &command.words, depth + 1));
                    }
                    None => meant.extend(loose(&text)),
                }
            }
        }
    }

    pub(super) fn given(&self) -> &str {
        &self.given
    }

    /// How many commands have to be decided on.
    pub(super) fn count(&self) -> usize {
        self.units.len()
    }

    /// Whether a rule matches the `at`-th command. `has_folder`: the rule is for one folder.
    pub(super) fn is_meant(&self, at: usize, pattern: &str, decision: PermissionDecision, has_folder: bool) -> bool {
        if pattern == "*" || exact(pattern).is_some_and(|text| text == self.given) {
            return true;
        }
        let Some(unit) = self.units.get(at) else { return false };
        let read = words::read_pattern(pattern).map(|line| line.line());
        if decision == Allow {
            let is_here = !(has_folder && unit.is_moved);
            let is_one = |line: &String| is_here && unit.line.as_ref().is_some_and(|unit| line_fits(line, unit));
            let is_whole = |line: &String| self.whole.as_ref().is_some_and(|whole| line_fits(line, whole));
            return read.is_some_and(|line| is_one(&line) || is_whole(&line));
        }
        let line = read.unwrap_or_else(|| as_words(pattern));
        self.is_too_long || matches(pattern, &self.given) || unit.meant.iter().any(|meant| meant.has(&line))
    }
}

impl Meant {
    fn has(&self, pattern: &str) -> bool {
        self.starts.iter().any(|at| self.line.get(*at..).is_some_and(|rest| words_fit(pattern, rest)))
    }
}

/// Matches a pattern's line against a command's; no star reaches across a wall.
fn line_fits(pattern: &str, line: &str) -> bool {
    let (mut patterns, mut lines) = (pattern.split(WALL), line.split(WALL));
    loop {
        match (patterns.next(), lines.next()) {
            (None, None) => return true,
            (Some(pattern), Some(line)) if words_fit(pattern, line) => (),
            _ => return false,
        }
    }
}

/// Matches the words of one command. A `*` that is the last word also stands for no word: `cargo test *` means
/// `cargo test`, too.
fn words_fit(pattern: &str, words: &str) -> bool {
    let bare = pattern.strip_suffix(STAR).and_then(|pattern| pattern.strip_suffix(GAP));
    fits(&parts(pattern), words) || bare.is_some_and(|bare| !bare.is_empty() && fits(&parts(bare), words))
}

fn parts(line: &str) -> Vec<String> {
    line.split(STAR).map(str::to_owned).collect()
}

/// A pattern that is not literal words, split at whitespace.
fn as_words(pattern: &str) -> String {
    pattern.replace('*', &STAR.to_string()).split_whitespace().collect::<Vec<_>>().join(&GAP.to_string())
}

/// For a text that no parser makes sense of: any of its words may begin a command.
fn loose(text: &str) -> Vec<Meant> {
    let is_sign = |sign: char| matches!(sign, ';' | '&' | '|' | '(' | ')' | '<' | '>' | '{' | '}' | '`' | '\n' | '$');
    let bare: String = text.chars().filter(|character| !matches!(character, '\'' | '"' | '\\')).collect();
    let pieces = bare.split(is_sign).map(|piece| {
        let words: Vec<&str> = piece.split_whitespace().collect();
        let line = words.join(&GAP.to_string());
        let begins = std::iter::once(0).chain(line.match_indices([GAP, '/']).map(|(at, _)| at + 1));
        Meant { starts: begins.take(WORDS_BEHIND_MAX).collect(), line }
    });
    pieces.filter(|meant| !meant.line.is_empty()).collect()
}

fn is_of_name(sign: char) -> bool {
    sign.is_alphanumeric() || matches!(sign, '-' | '_' | '.' | '/' | '=' | ',' | ':' | '+' | '@' | '%')
}
