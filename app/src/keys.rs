//! The keys of the console, pure: what a key means, and the list that `?` shows.

/// What a key outside of any field does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shortcut {
    NewPod,
    /// Introduces the Pod at hand to another one.
    Peer,
    GoPods,
    GoMap,
    GoEnd,
    GoApprovals,
    /// To the next open question on this page.
    Question,
    /// To the next or the previous row of the list.
    Move(i32),
    /// To the next or the previous turn.
    Turn(i32),
    Find,
    Command,
    Help,
    Back,
}

/// Every key with its meaning, for the sheet.
pub(crate) const SHEET: [(&str, &str); 17] = [
    ("n", "new Pod"),
    ("p", "introduce a Pod to another one"),
    ("g p", "all Pods"),
    ("g m", "map of who knows and leads whom"),
    ("g a", "all questions to you"),
    ("a", "to the next open question"),
    ("a  A  d", "in a question: allow, allow always, deny"),
    ("j  k", "next, previous Pod"),
    ("Enter", "open the Pod"),
    ("/", "filter Pods"),
    (":", "command to this Pod"),
    ("Shift-J  Shift-K", "next, previous turn"),
    ("g e", "end of the transcript"),
    ("Enter", "in the message: send"),
    ("Shift-Enter", "in the message: new line"),
    ("Esc", "back, close"),
    ("?", "these keys"),
];

/// Reads keys one by one; `g` waits for the next one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct KeyReader {
    /// `g` was the key before.
    going: bool,
}

impl KeyReader {
    pub(crate) fn read(&mut self, key: &str) -> Option<Shortcut> {
        let going = std::mem::take(&mut self.going);
        match (going, key) {
            (true, "p") => Some(Shortcut::GoPods),
            (true, "m") => Some(Shortcut::GoMap),
            (true, "e") => Some(Shortcut::GoEnd),
            (true, "a") => Some(Shortcut::GoApprovals),
            (_, "g") => {
                self.going = true;
                None
            }
            (_, "n") => Some(Shortcut::NewPod),
            (_, "p") => Some(Shortcut::Peer),
            (_, "a") => Some(Shortcut::Question),
            (_, "j") => Some(Shortcut::Move(1)),
            (_, "k") => Some(Shortcut::Move(-1)),
            (_, "J") => Some(Shortcut::Turn(1)),
            (_, "K") => Some(Shortcut::Turn(-1)),
            (_, "/") => Some(Shortcut::Find),
            (_, ":") => Some(Shortcut::Command),
            (_, "?") => Some(Shortcut::Help),
            (_, "Escape") => Some(Shortcut::Back),
            _ => None,
        }
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
        assert_eq!(read(&["g", "p"]), [Shortcut::GoPods]);
        assert_eq!(read(&["g", "x", "p"]), [Shortcut::Peer]);
        assert_eq!(read(&["g", "m"]), [Shortcut::GoMap]);
        assert_eq!(read(&["g", "g", "e"]), [Shortcut::GoEnd]);
        assert_eq!(read(&["g", "n"]), [Shortcut::NewPod]);
        assert_eq!(read(&["g", "a", "a"]), [Shortcut::GoApprovals, Shortcut::Question]);
    }

    #[test]
    fn case_tells_pods_from_turns() {
        assert_eq!(read(&["j", "J", "K"]), [Shortcut::Move(1), Shortcut::Turn(1), Shortcut::Turn(-1)]);
    }
}
