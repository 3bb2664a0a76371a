//! The keys of the console, pure: what a key means, and the list that `?` shows. Keys of commands are in the table of
//! commands; here is only what moves about.

use commands::{Page, TABLE, by_key};

/// What a key outside of any field does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shortcut {
    NewPod,
    /// Introduces the Pod at hand to another one.
    Peer,
    Go(Page),
    GoEnd,
    /// To the next open question on this page.
    Question,
    /// Answers the question that is next, from wherever the focus is.
    Answer(&'static str),
    /// Into the message.
    Write,
    /// To the next or the previous row of the list.
    Move(i32),
    /// The same, and selects all rows from where it began.
    Extend(i32),
    /// Selects the row at hand, or does not any more.
    Select,
    SelectAll,
    /// Undoes what has just ended.
    Undo,
    /// To the next or the previous turn.
    Turn(i32),
    /// Looks for words on this page: in the transcript, else in the list of Pods.
    Find,
    /// Narrows the list of Pods.
    Filter,
    Command,
    Palette,
    Help,
    /// Out of the field.
    Leave,
    /// Nothing is selected any more.
    Back,
}

/// One line of the sheet: keys, parted by two spaces, and what they do.
pub(crate) type Line = (&'static str, &'static str);

/// What no command says, in groups.
const SHEET: [(&str, &[Line]); 4] = [
    (
        "Anywhere",
        &[
            ("Ctrl-K  Cmd-K", "Open the palette (also while writing)"),
            ("a", "Go to the next pending approval"),
            ("u", "Undo the last stop or unpeer"),
            ("Esc", "Back or close"),
        ],
    ),
    (
        "List of Pods",
        &[
            ("j  k", "Next or previous Pod"),
            ("Enter", "Open the Pod"),
            ("f", "Filter Pods (also / outside a transcript)"),
            ("x", "Toggle selection"),
            ("Shift-↓  Shift-↑", "Extend the selection"),
            ("Ctrl-A", "Select all shown"),
        ],
    ),
    (
        "Transcript and message",
        &[
            ("Shift-J  Shift-K", "Next or previous turn"),
            ("g e", "Jump to the end"),
            ("/", "Find in the transcript"),
            ("i", "Focus the message field"),
            (":", "Command for this Pod"),
            ("Enter", "Send the message"),
            ("Shift-Enter", "New line in the message"),
        ],
    ),
    (
        "Approval",
        &[
            ("a  A  d", "Allow once, always allow or deny the focused approval"),
            ("Alt-a  Alt-A  Alt-d", "The same for the oldest approval, from anywhere"),
        ],
    ),
];

/// The sheet: what the table of commands has keys for goes first.
pub(crate) fn sheet() -> Vec<(&'static str, Vec<Line>)> {
    let of_commands = TABLE.iter().filter(|entry| !entry.key.is_empty() && !entry.place.is_terminal());
    let mut sheet: Vec<(&str, Vec<Line>)> = SHEET.iter().map(|(title, lines)| (*title, lines.to_vec())).collect();
    if let Some((_, anywhere)) = sheet.first_mut() {
        anywhere.splice(0..0, of_commands.map(|entry| (entry.key, entry.what)));
    }
    sheet
}

/// Reads keys one by one; `g` waits for the next one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct KeyReader {
    /// `g` was the key before.
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
            "f" => Some(Shortcut::Filter),
            "/" => Some(Shortcut::Find),
            ":" => Some(Shortcut::Command),
            "Escape" => Some(Shortcut::Back),
            key => of_command(key),
        }
    }
}

/// What a key together with Ctrl or Cmd does.
pub(crate) fn chord(key: &str) -> Option<Shortcut> {
    match key {
        "k" | "K" => Some(Shortcut::Palette),
        "a" | "A" => Some(Shortcut::SelectAll),
        _ => None,
    }
}

/// What a letter together with Alt does: the keys of a question's card, from anywhere.
pub(crate) fn answering(key: &str) -> Option<Shortcut> {
    ["a", "A", "d"].into_iter().find(|known| *known == key).map(Shortcut::Answer)
}

/// What an arrow together with Shift does.
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
    fn case_tells_pods_from_turns() {
        assert_eq!(read(&["j", "J", "K"]), [Shortcut::Move(1), Shortcut::Turn(1), Shortcut::Turn(-1)]);
    }
}
