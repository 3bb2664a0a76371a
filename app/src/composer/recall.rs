//! Brings back earlier messages to this Pod with the arrow keys. Pure; a draft that holds anything else is left
//! alone.

use protocol::Segment;

use crate::composer::draft::Draft;

/// A walk through earlier messages.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Recall {
    /// Oldest first.
    messages: Vec<Vec<Segment>>,
    /// The message now in the message field, and the draft made from it.
    at: Option<(usize, Draft)>,
}

/// Messages to this Pod, oldest first: those that only this browser remembers, those of the transcript, those that
/// are queued.
pub(crate) fn messages(
    remembered: &[Vec<Segment>],
    said: Vec<Vec<Segment>>,
    queued: Vec<Vec<Segment>>,
) -> Vec<Vec<Segment>> {
    let is_older = |message: &&Vec<Segment>| !said.contains(message) && !queued.contains(message);
    let mut all: Vec<_> = remembered.iter().filter(is_older).cloned().collect();
    all.extend(said.into_iter().chain(queued));
    all.dedup();
    all
}

impl Recall {
    /// Whether the draft is a recalled message, unedited.
    pub(crate) fn is_on(&self, draft: &Draft) -> bool {
        self.at.as_ref().is_some_and(|(_, shown)| shown.says_the_same(draft))
    }

    /// Goes one message back. Returns false if there is none, or if something else has been typed.
    pub(crate) fn older(&mut self, draft: &mut Draft, messages: impl FnOnce() -> Vec<Vec<Segment>>) -> bool {
        let before = match &self.at {
            Some((at, _)) if self.is_on(draft) => *at,
            _ if draft.is_blank() => {
                self.messages = messages();
                self.messages.len()
            }
            _ => return false,
        };
        before.checked_sub(1).is_some_and(|at| self.show(at, draft))
    }

    /// Goes one message forward; after the newest comes the empty field. Returns false if no recalled message is shown.
    pub(crate) fn newer(&mut self, draft: &mut Draft) -> bool {
        match &self.at {
            Some((at, _)) if self.is_on(draft) => {
                let next = at + 1;
                next < self.messages.len() && self.show(next, draft) || self.leave(draft)
            }
            _ => false,
        }
    }

    /// Returns to the empty field if a message was recalled; false if none was.
    pub(crate) fn leave(&mut self, draft: &mut Draft) -> bool {
        let is_on = self.is_on(draft);
        if is_on {
            draft.clear();
        }
        self.at = None;
        is_on
    }

    fn show(&mut self, at: usize, draft: &mut Draft) -> bool {
        draft.clear();
        draft.put_back(&self.messages[at]);
        self.at = Some((at, draft.clone()));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(texts: &[&str]) -> Vec<Vec<Segment>> {
        texts.iter().map(|text| vec![Segment::text(*text)]).collect()
    }

    #[test]
    fn the_walk_goes_back_to_the_first_and_forward_to_the_empty_box() {
        let (mut recall, mut draft) = (Recall::default(), Draft::default());
        let all = || said(&["one", "two"]);
        let mut texts = Vec::new();
        for _ in 0..3 {
            let moved = recall.older(&mut draft, all);
            texts.push((moved, draft.text.clone()));
        }
        assert_eq!(texts, [(true, "two".into()), (true, "one".into()), (false, "one".into())]);
        assert!(recall.newer(&mut draft) && draft.text == "two");
        assert!(recall.newer(&mut draft) && draft.is_blank());
        assert!(!recall.newer(&mut draft), "nothing is newer than what will be written");
        assert!(!Recall::default().older(&mut Draft::default(), Vec::new));
    }

    #[test]
    fn what_has_been_typed_is_never_walked_over() {
        let mut recall = Recall::default();
        let mut typed = Draft { text: "half a thought".into(), ..Draft::default() };
        assert!(!recall.older(&mut typed, || said(&["one"])));
        let mut pasted = Draft { pastes: vec!["log".into()], ..Draft::default() };
        assert!(!recall.older(&mut pasted, || said(&["one"])));
        let mut draft = Draft::default();
        assert!(recall.older(&mut draft, || said(&["one", "two"])));
        draft.text.push('!');
        assert!(!recall.older(&mut draft, || said(&["other"])) && !recall.newer(&mut draft));
        assert_eq!(draft.text, "two!");
        assert!(!recall.leave(&mut draft));
        assert_eq!(draft.text, "two!");
    }

    #[test]
    fn pastes_and_files_come_back_as_what_they_were() {
        let (mut recall, mut draft) = (Recall::default(), Draft::default());
        let message = vec![
            Segment::text("why "),
            Segment::FileRef { path: "a.rs".into() },
            Segment::Paste { text: "log".into() },
        ];
        assert!(recall.older(&mut draft, || vec![message.clone()]));
        assert_eq!(draft.segments(), message);
        assert!(recall.leave(&mut draft) && draft.is_blank());
    }

    #[test]
    fn each_message_is_met_once_and_what_waits_is_the_newest() {
        let remembered = said(&["old", "said", "waits"]);
        let all = messages(&remembered, said(&["said", "said", "by another"]), said(&["waits"]));
        assert_eq!(all, said(&["old", "said", "by another", "waits"]));
    }
}
