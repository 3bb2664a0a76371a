//! The keys of the message field.

use commands::is_command;
use leptos::{ev::KeyboardEvent, prelude::*};
use protocol::Segment;

use super::{
    listed::{Entered, List},
    mode::ModeSwitch,
    recall::{Recall, messages},
    sending::{Outgoing, Place, send},
    sending_key::{Enter, Held, enter, is_swapped},
};
use crate::{
    acting::stopping::{has_run, stop_run},
    composer::draft::{Draft, byte_at, units_at},
    live,
};

/// What the keys act on.
#[derive(Clone, Copy)]
pub(super) struct Keys {
    pub(super) outgoing: Outgoing,
    pub(super) list: List,
    pub(super) switch: ModeSwitch,
    pub(super) recall: StoredValue<Recall>,
}

impl Keys {
    pub(super) fn pressed(self, event: &KeyboardEvent) {
        if event.is_composing() {
            return;
        }
        let is_open = self.list.is_open();
        let is_used = match event.key().as_str() {
            "Enter" => self.enter(Held::of(event)),
            "ArrowDown" if is_open => self.step(1),
            "ArrowUp" if is_open => self.step(-1),
            "Tab" if is_open && !event.shift_key() => {
                self.list.complete_chosen();
                true
            }
            "Tab" if event.shift_key() && !is_open => {
                self.switch.walk();
                true
            }
            "a" | "A" | "d" => self.answers(event),
            "ArrowUp" if !event.shift_key() => self.older(),
            "ArrowDown" if !event.shift_key() => self.newer(),
            "Escape" => event.repeat() || self.escape(),
            _ => false,
        };
        if is_used {
            event.prevent_default();
        }
    }

    fn enter(self, held: Held) -> bool {
        let is_line = self.outgoing.draft.with_untracked(|draft| is_command(&draft.text)) || self.list.completes();
        // For a command or a file completion, plain Enter accepts it even where Ctrl-Enter is the key that sends.
        let what = enter(held, is_swapped() && !is_line);
        // A mode that was walked to holds from here on.
        if !matches!(what, Enter::NewLine) && self.switch.apply() && self.outgoing.draft.with_untracked(Draft::is_blank)
        {
            return true;
        }
        match what {
            Enter::NewLine => return false,
            Enter::Send if self.list.completes() => self.list.complete_chosen(),
            Enter::Send => match self.list.command() {
                Entered::Completed => self.list.complete_chosen(),
                Entered::Instead(line) => {
                    self.outgoing.draft.update(|draft| draft.text = format!(":{line}"));
                    send(self.outgoing, Place::OwnRun);
                }
                Entered::AsTyped => send(self.outgoing, Place::OwnRun),
                Entered::Nothing => self.outgoing.refuse(commands::CHOOSE),
            },
            Enter::Steer => send(self.outgoing, Place::PresentRun),
        }
        true
    }

    /// From an empty field, the letters of a question that is in view answer it. A question that has just appeared takes
    /// no letter: it would be one that you were about to write.
    fn answers(self, event: &KeyboardEvent) -> bool {
        let is_plain = !(event.ctrl_key() || event.meta_key() || event.alt_key() || event.repeat());
        is_plain
            && self.outgoing.draft.with_untracked(Draft::is_blank)
            && self.outgoing.draft.with_untracked(|draft| draft.text.is_empty())
            && live::answer_settled(&event.key())
    }

    fn step(self, by: isize) -> bool {
        self.list.step(by);
        true
    }

    /// From the first line of the field, goes to the previous message.
    fn older(self) -> bool {
        let remembered = self.outgoing.draft.with_untracked(|draft| draft.sent.clone());
        self.is_beside_caret(|before, _| !before.contains('\n'))
            && self.walk(|recall, draft| recall.older(draft, || self.messages(&remembered)))
    }

    /// From the last line of the field, goes to the next message.
    fn newer(self) -> bool {
        self.is_beside_caret(|_, after| !after.contains('\n')) && self.walk(Recall::newer)
    }

    fn walk(self, step: impl FnOnce(&mut Recall, &mut Draft) -> bool) -> bool {
        let mut draft = self.outgoing.draft.get_untracked();
        let has_moved = self.recall.try_update_value(|recall| step(recall, &mut draft)).unwrap_or_default();
        if has_moved {
            let end = units_at(&draft.text, draft.text.len());
            self.outgoing.draft.set(draft);
            self.list.close();
            live::put_caret("message", end);
        }
        has_moved
    }

    fn messages(self, remembered: &[Vec<Segment>]) -> Vec<Vec<Segment>> {
        let pod = self.outgoing.pod;
        let queued =
            pod.detail.with_untracked(|detail| detail.queued.iter().map(|waiting| waiting.segments.clone()).collect());
        messages(remembered, pod.rows.said(), queued)
    }

    fn is_beside_caret(self, is_it: impl FnOnce(&str, &str) -> bool) -> bool {
        let caret = live::caret_in("message");
        self.outgoing.draft.with_untracked(|draft| {
            let at = caret.map_or(draft.text.len(), |units| byte_at(&draft.text, units));
            let (before, after) = draft.text.split_at(at);
            is_it(before, after)
        })
    }

    fn escape(self) -> bool {
        if self.list.close() {
            return true;
        }
        let is_command = self.outgoing.draft.with_untracked(|draft| is_command(&draft.text));
        if is_command {
            self.outgoing.draft.update(|draft| draft.text.clear());
        }
        is_command || self.walk(Recall::leave) || self.stop_run()
    }

    /// Ends the run, if there is one. Otherwise Escape leaves the field.
    fn stop_run(self) -> bool {
        let pod = self.outgoing.pod;
        let state = pod.state.get_untracked();
        let is_ended = has_run(state);
        if is_ended {
            stop_run(self.outgoing.console, pod.pod.get_value(), state);
        }
        is_ended
    }
}
