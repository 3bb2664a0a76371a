//! The console's keys, pure: what a key means, and the list that `?` shows. Keys of commands are in the table of
//! commands; here are only those for moving about.

use commands::{Page, TABLE, by_key};

/// What a key pressed outside any field does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shortcut {
    NewPod,
    /// Opens the dialog that adds a peer to the current Pod.
    Peer,
    Go(Page),
    GoEnd,
    /// Go to the next open approval on this page.
    Question,
    /// Answer the next approval, wherever the focus is.
    Answer(&'static str),
    /// Focus the message field.
    Write,
    /// The same, unless Enter means something to what has the focus.
    WriteIfFree,
    /// Move to the next or previous row of the list.
    Move(i32),
    /// The same, extending the selection over all rows from where it began.
    Extend(i32),
    /// Select or deselect the focused row.
    Select,
    SelectAll,
    /// Undo what has just been ended.
    Undo,
    /// Ask the model of the current Pod again.
    Retry,
    /// Go to the next or previous turn.
    Turn(i32),
    /// Find text on this page: in the transcript, otherwise in the list of Pods.
    Find,
    /// Focus the filter of the list of Pods.
    Filter,
    Command,
    Palette,
    Help,
    /// Open this Pod's terminal, go to it, or leave it.
    Terminal,
    /// Leave the field.
    Leave,
    /// Clear the selection.
    Back,
}

/// One line of the help: keys, separated by two spaces, and what they do.
pub(crate) type Line = (&'static str, &'static str);

/// The keys that belong to no command, in groups.
const SHEET: [(&str, &[Line]); 5] = [
    (
        ANYWHERE,
        &[
            ("Ctrl-K  Cmd-K", "Open the palette (also while writing)"),
            ("a", "Go to the next pending approval"),
            ("u", "Undo the last archive or unpeer"),
            ("Esc", "Close; on a running or waiting Pod: stop its run"),
        ],
    ),
    (
        "List of Pods",
        &[
            ("j  k", "Next or previous Pod"),
            ("Enter", "Open the Pod"),
            ("f", "Filter Pods (also / outside a transcript)"),
            ("x", "Select the Pod, or deselect it"),
            ("Shift-↓  Shift-↑", "Extend the selection"),
            ("Ctrl-A", "Select all shown"),
        ],
    ),
    (
        TRANSCRIPT,
        &[
            ("Shift-J  Shift-K", "Next or previous turn"),
            ("g e", "Jump to the end"),
            ("/", "Find in the transcript"),
            ("i  Enter", "Focus the message field (Esc leaves it when no run is in progress)"),
            (":", "Command for this Pod"),
            ("Shift-Tab", "Next mode, in the message field"),
            ("Ctrl-`", "Open the terminal, go to it, or leave it"),
            ("Enter", "Send the message"),
            ("Shift-Enter", "New line in the message"),
        ],
    ),
    (
        "Approval",
        &[
            (
                "a  A  d",
                "Allow once, always allow or deny the focused approval, or one in view from an empty message field",
            ),
            ("Alt-a  Alt-A  Alt-d", "The same for the oldest approval, from anywhere"),
        ],
    ),
    (
        "Review",
        &[
            ("j  k", "Next or previous hunk"),
            ("c", "Comment on the hunk"),
            ("v", "Mark its file as seen"),
            ("x", "Revert the hunk"),
            ("S", "Go to Send"),
        ],
    ),
];

/// The group of the commands whose keys work on every page, and of those that need the page of a Pod.
const ANYWHERE: &str = "Anywhere";
const TRANSCRIPT: &str = "Transcript and message";

/// The help: keys from the table of commands come first in their group.
pub(crate) fn sheet() -> Vec<(&'static str, Vec<Line>)> {
    let of_commands = || TABLE.iter().filter(|entry| !entry.key.is_empty() && !entry.place.is_terminal());
    let group = |title: &'static str, lines: &[Line]| {
        let here = of_commands().filter(|entry| group_of(entry.word) == title).map(|entry| (entry.key, entry.what));
        (title, here.chain(lines.iter().copied()).collect())
    };
    SHEET.iter().map(|(title, lines)| group(title, lines)).collect()
}

fn group_of(word: &str) -> &'static str {
    match word {
        "retry" => TRANSCRIPT,
        _ => ANYWHERE,
    }
}

/// Interprets keys one by one; `g` waits for a second key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct KeyReader {
    /// Whether the previous key was `g`.
    going: bool,
}

impl KeyReader {
    pub(crate) fn read(&mut self, key: &str) -> Option<Shortcut> {
        let going = std::mem::take(&mut self.going);
        if going {
            if key == "e" {
                return Some(Shortcut::GoEnd);
            }
            if let Some(shortcut) = of_command(&format!("g {key}")) {
                return Some(shortcut);
            }
        }
        match key {
            "g" => {
                self.going = true;
                None
            }
            "a" => Some(Shortcut::Question),
            "j" => Some(Shortcut::Move(1)),
            "k" => Some(Shortcut::Move(-1)),
            "J" => Some(Shortcut::Turn(1)),
            "K" => Some(Shortcut::Turn(-1)),
            "x" => Some(Shortcut::Select),
            "u" => Some(Shortcut::Undo),
            "i" => Some(Shortcut::Write),
            "Enter" => Some(Shortcut::WriteIfFree),
            "f" => Some(Shortcut::Filter),
            "/" => Some(Shortcut::Find),
            ":" => Some(Shortcut::Command),
            "Escape" => Some(Shortcut::Back),
            key => of_command(key),
        }
    }
}

/// The meaning of a key pressed with Ctrl or Cmd.
pub(crate) fn chord(key: &str) -> Option<Shortcut> {
    match key {
        "k" | "K" => Some(Shortcut::Palette),
        "a" | "A" => Some(Shortcut::SelectAll),
        "`" => Some(Shortcut::Terminal),
        _ => None,
    }
}

/// The meaning of a letter pressed with Alt: the keys of an approval's card, from anywhere.
pub(crate) fn answering(key: &str) -> Option<Shortcut> {
    ["a", "A", "d"].into_iter().find(|known| *known == key).map(Shortcut::Answer)
}

/// The meaning of an arrow key pressed with Shift.
pub(crate) fn shifted(key: &str) -> Option<Shortcut> {
    match key {
        "ArrowDown" => Some(Shortcut::Extend(1)),
        "ArrowUp" => Some(Shortcut::Extend(-1)),
        _ => None,
    }
}

fn of_command(key: &str) -> Option<Shortcut> {
    match by_key(key)?.word {
        "new" => Some(Shortcut::NewPod),
        "peer" => Some(Shortcut::Peer),
        "retry" => Some(Shortcut::Retry),
        "help" => Some(Shortcut::Help),
        word => Page::of(word).map(Shortcut::Go),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(keys: &[&str]) -> Vec<Shortcut> {
        let mut reader = KeyReader::default();
        keys.iter().filter_map(|key| reader.read(key)).collect()
    }

    #[test]
    fn g_waits_for_one_more_key_and_no_longer() {
        assert_eq!(read(&["g", "p"]), [Shortcut::Go(Page::Pods)]);
        assert_eq!(read(&["g", "X", "p"]), [Shortcut::Peer]);
        assert_eq!(read(&["g", "g", "e"]), [Shortcut::GoEnd]);
        assert_eq!(read(&["g", "n"]), [Shortcut::NewPod]);
        assert_eq!(read(&["g", "a", "a"]), [Shortcut::Go(Page::Approvals), Shortcut::Question]);
    }

    #[test]
    fn every_page_is_two_keys_away() {
        let gone: Vec<_> = ["p", "m", "a", "s", "u", "l", ","].iter().flat_map(|key| read(&["g", key])).collect();
        let pages = [Page::Pods, Page::Map, Page::Approvals, Page::Search, Page::Usage, Page::Audit, Page::Settings];
        assert_eq!(gone, pages.map(Shortcut::Go));
    }

    #[test]
    fn every_key_of_the_table_does_something_and_is_on_the_sheet() {
        let lines: Vec<Line> = sheet().into_iter().flat_map(|(_, lines)| lines).collect();
        for entry in TABLE.iter().filter(|entry| !entry.key.is_empty() && !entry.place.is_terminal()) {
            let keys: Vec<&str> = entry.key.split(' ').collect();
            assert_eq!(read(&keys).len(), 1, ":{}", entry.word);
            assert!(lines.contains(&(entry.key, entry.what)), ":{}", entry.word);
        }
    }

    #[test]
    fn the_sheet_has_the_keys_of_the_review_page_and_says_where_a_retry_works() {
        let has = |title: &str, key: &str| {
            sheet().into_iter().any(|(group, lines)| group == title && lines.iter().any(|(keys, _)| *keys == key))
        };
        for key in ["j  k", "c", "v", "x", "S"] {
            assert!(has("Review", key), "{key}");
        }
        assert!(has(TRANSCRIPT, "r") && !has(ANYWHERE, "r"));
    }

    #[test]
    fn case_tells_pods_from_turns() {
        assert_eq!(read(&["j", "J", "K"]), [Shortcut::Move(1), Shortcut::Turn(1), Shortcut::Turn(-1)]);
    }
}
