//! Reads session files of other coding agents: Claude Code, Codex, opencode.
//!
//! Pure, and suspicious: a file can hold anything. What cannot be read or has no counterpart in a journal is left out,
//! counted, and said in the first record; nothing in a file makes a reader panic or a history that no Pod could have.

mod claude;
mod codex;
mod opencode;
mod story;

use jiff::Timestamp;
use protocol::{ImportFormat, Record};
use serde_json::Value;

use self::story::Story;

/// How many lines are looked at to find out what a file is.
const LINES_LOOKED_AT_MAX: usize = 100;
/// The longest beginning of the first message that a list shows, in characters.
const WORDS_CHARS_MAX: usize = 100;
/// The longest name of a file that is made from its words.
const NAME_CHARS_MAX: usize = 40;

/// A session as records of a journal, numbered from 1. It is complete: its calls have results, and its runs have ended.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) records: Vec<Record>,
    /// Messages of a person, answers and calls.
    pub(crate) said: usize,
}

/// What a list of sessions shows of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glance {
    pub format: ImportFormat,
    /// The folder that the session worked in.
    pub folder: Option<String>,
    /// The beginning of the first message, in one line.
    pub words: String,
}

/// Which agent's file this is, by its content. A journal of yoi, and what looks like nothing known, is
/// [`ImportFormat::Yoi`].
pub(crate) fn format_of(text: &str) -> ImportFormat {
    // Over several lines, as opencode prints it.
    if opencode::begins(text) {
        return ImportFormat::Opencode;
    }
    for line in text.lines().filter(|line| !line.trim().is_empty()).take(LINES_LOOKED_AT_MAX) {
        let Ok(line) = serde_json::from_str::<Value>(line) else { continue };
        if line.get("seq").is_some() && line.get("event").is_some() {
            return ImportFormat::Yoi;
        }
        if opencode::is_it(&line) {
            return ImportFormat::Opencode;
        }
        if codex::is_it(&line) {
            return ImportFormat::Codex;
        }
        if claude::is_it(&line) {
            return ImportFormat::Claude;
        }
    }
    ImportFormat::Yoi
}

/// The history in a file of another agent; `now` is the time of what has none. Empty if nothing was said in it, and for
/// [`ImportFormat::Yoi`].
pub(crate) fn read(text: &str, format: ImportFormat, now: Timestamp) -> Told {
    read_whole(text, format, now).end()
}

/// What the beginning of a file tells about its session; the last line may be incomplete. `None` if it is not a session
/// of another agent, or if nobody says anything in it.
pub fn glance(text: &str) -> Option<Glance> {
    let format = format_of(text);
    if format == ImportFormat::Yoi {
        return None;
    }
    let story = read_whole(text, format, Timestamp::UNIX_EPOCH);
    let words = story.words()?.split_whitespace().collect::<Vec<_>>().join(" ");
    let words = words.chars().take(WORDS_CHARS_MAX).collect();
    Some(Glance { format, folder: story.folder.clone(), words })
}

impl Glance {
    /// A name for the Pod: the first words, in the letters that a name can have. Empty if there are none.
    pub fn name(&self) -> String {
        let mut name = String::new();
        for char in self.words.chars() {
            match char.to_ascii_lowercase() {
                char if char.is_ascii_alphanumeric() => name.push(char),
                _ if name.is_empty() || name.ends_with('-') => (),
                _ => name.push('-'),
            }
            if name.len() >= NAME_CHARS_MAX {
                break;
            }
        }
        name.trim_end_matches('-').to_owned()
    }
}

fn read_whole(text: &str, format: ImportFormat, now: Timestamp) -> Story {
    match format {
        ImportFormat::Claude => claude::read(text, now),
        ImportFormat::Codex => codex::read(text, now),
        ImportFormat::Opencode => opencode::read(text, now),
        ImportFormat::Yoi => Story::new("yoi", now),
    }
}

/// The objects on the lines of a file, with their numbers from 1. Lines that are none are counted in the story.
fn each_line(text: &str, story: &mut Story, mut take: impl FnMut(&mut Story, &Value)) {
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim().is_empty() {
            continue;
        }
        match serde_json::from_str::<Value>(line) {
            Ok(value) if value.is_object() => take(story, &value),
            _ => story.left.unreadable(number),
        }
    }
}

fn text<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    value.get(field)?.as_str()
}

fn items<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn is_true(value: &Value, field: &str) -> bool {
    value.get(field) == Some(&Value::Bool(true))
}

/// The time in a field, as RFC 3339.
fn time(value: &Value, field: &str) -> Option<Timestamp> {
    text(value, field)?.parse().ok()
}

/// The time in a field, as milliseconds since 1970.
fn millis(value: &Value, field: &str) -> Option<Timestamp> {
    Timestamp::from_millisecond(value.get(field)?.as_i64()?).ok()
}

#[cfg(test)]
#[path = "session_files/tests.rs"]
mod tests;
