//! What each shortcut does on whatever page is open.

use commands::{Page, Topic, grouped};
use leptos::prelude::*;
use leptos_router::hooks::{use_location, use_navigate};
use protocol::PodRef;

use crate::{
    console::{
        Console, Dialog, Introduction, PodContext, TERMINAL, TERMINAL_FIELD, TranscriptKeys, pod_of_path,
        undoing::undo_newest,
    },
    keys::{self, KeyReader, Shortcut},
    live::{self, Answering, KeyPress},
    palette, search, stream,
    transcript::find,
};

/// Installs the page's key handling, once, in the browser.
pub(super) fn listen(console: Console) {
    let navigate = use_navigate();
    let path = use_location().pathname;
    stream::prepare(console);
    Effect::new(move |_| live::keys_wait(console.dialog.with(Option::is_some)));
    Effect::new(move |before: Option<()>| {
        if before.is_some() {
            return;
        }
        live::once_taken_over(move || stream::connect(console));
        live::hold_keys(move || console.dialog.set(None));
        let reader = StoredValue::new(KeyReader::default());
        let navigate = navigate.clone();
        let go = move |href: &str| navigate(href, Default::default());
        live::on_key(move |press| {
            if is_of_page(console, &press) {
                return true;
            }
            let Some(shortcut) = shortcut_of(console, &press, reader) else { return false };
            act(console, shortcut, &path.get_untracked(), &go)
        });
    });
}

/// Whether the page that is open has a meaning of its own for a key.
fn is_of_page(console: Console, press: &KeyPress) -> bool {
    let is_plain = !(press.in_field || press.in_dialog || press.is_chord || press.has_alt);
    is_plain && console.page_keys.get_value().is_some_and(|keys| keys.run(press.key.clone()))
}

/// Returns false if the browser's default should still happen: the colon is typed as the first character of a
/// command, and outside a list Ctrl-A selects text.
fn act(console: Console, shortcut: Shortcut, path: &str, go: &impl Fn(&str)) -> bool {
    match shortcut {
        Shortcut::NewPod => console.dialog.set(Some(Dialog::NewPod)),
        Shortcut::Help => console.dialog.set(Some(Dialog::Help(Topic::Keys))),
        Shortcut::Palette => palette::flip(console, pod_of_path(path).or_else(row)),
        Shortcut::Peer => introduce(console, path),
        Shortcut::Go(page) => {
            go(page.href());
            // If already on the page, nothing is drawn that could take the focus.
            if page == Page::Search && path == page.href() {
                live::focus(search::FIELD);
            }
        }
        Shortcut::Question => {
            let reach = || console.transcript_keys.get_value().is_some_and(|keys| (keys.to_question)());
            if !live::next_question(reach) {
                go("/approvals");
            }
        }
        Shortcut::Answer(key) => return answer(console, key),
        Shortcut::Write => live::focus("message"),
        Shortcut::WriteIfFree => {
            let is_meant = console.viewed.with_untracked(Option::is_some) && live::is_focus_free();
            if is_meant {
                live::focus("message");
            }
            return is_meant;
        }
        Shortcut::GoEnd => with_transcript(console, |keys| (keys.to_end)()),
        Shortcut::Move(step) => live::move_row(step),
        Shortcut::Extend(_) | Shortcut::SelectAll if row().is_none() => return false,
        Shortcut::Extend(step) => extend(console, step),
        Shortcut::SelectAll => console.selection.update(|selection| selection.toggle_all(&rows())),
        Shortcut::Select => match row().or_else(|| pod_of_path(path)) {
            Some(pod) => console.selection.update(|selection| selection.toggle(&pod)),
            None => console.note("Move to a Pod with j or k first; x then selects it."),
        },
        Shortcut::Undo => undo_newest(console),
        Shortcut::Retry => retry(console),
        Shortcut::Turn(step) => with_transcript(console, |keys| (keys.to_turn)(step)),
        Shortcut::Find if console.viewed.with_untracked(Option::is_some) => find::open(),
        Shortcut::Filter | Shortcut::Find if path == Page::Pods.href() => {
            live::focus("table-filter");
            if !live::has_focus("table-filter") {
                go("/?view=table");
            }
        }
        Shortcut::Filter | Shortcut::Find => live::focus("filter"),
        Shortcut::Command => {
            live::focus("message");
            return false;
        }
        Shortcut::Terminal => return to_terminal(console),
        Shortcut::Leave => live::blur(),
        Shortcut::Back => {
            let is_selecting = console.selection.with_untracked(|selection| !selection.is_empty());
            console.selection.update(|selection| selection.clear());
            if is_selecting || !end_run(console) {
                live::blur();
            }
        }
    }
    true
}

/// Asks the model of the Pod whose page is open again, if it can be asked now.
fn retry(console: Console) {
    match viewed(console) {
        Some((view, keys)) => (keys.retry)(console, view),
        None => console.note("Open a Pod first; r then retries."),
    }
}

/// Opens the terminal of the Pod whose page is open, goes to it, or leaves it. Returns false on other pages.
fn to_terminal(console: Console) -> bool {
    let Some(view) = console.viewed.get_untracked() else { return false };
    match view.shows_terminal.get_untracked() {
        false => view.shows_terminal.set(true),
        true if live::has_focus_within(TERMINAL) => live::focus("message"),
        true => live::focus(TERMINAL_FIELD),
    }
    true
}

/// Returns false if this page has no open approval: the key is left to the browser then.
fn answer(console: Console, key: &str) -> bool {
    match console.transcript_keys.get_value().map(|keys| (keys.answer)(key)) {
        Some(Answering::Given) => true,
        Some(Answering::Unseen) => {
            console.note("The approval was out of view. Press the key again to answer it.");
            true
        }
        Some(Answering::NoQuestion) | None => false,
    }
}

/// Ends the run of the Pod whose page is open. Returns false if there is none.
fn end_run(console: Console) -> bool {
    viewed(console).is_some_and(|(view, keys)| (keys.end_run)(console, view))
}

/// The Pod whose page is open, and what keys do there.
fn viewed(console: Console) -> Option<(PodContext, TranscriptKeys)> {
    console.viewed.get_untracked().zip(console.transcript_keys.get_value())
}

fn with_transcript(console: Console, act: impl FnOnce(TranscriptKeys)) {
    if let Some(keys) = console.transcript_keys.get_value() {
        act(keys);
    }
}

/// The Pod whose row has the focus.
fn row() -> Option<PodRef> {
    live::row_in_focus().and_then(|href| pod_of_path(&href))
}

/// The Pods of the list that has the focus, in the order shown.
fn rows() -> Vec<PodRef> {
    live::rows().iter().filter_map(|href| pod_of_path(href)).collect()
}

fn extend(console: Console, step: i32) {
    let from = row();
    live::move_row(step);
    if let Some(to) = row() {
        console.selection.update(|selection| selection.extend(&rows(), from.as_ref(), &to));
    }
}

/// Opens the peers dialog for this page's Pod. Elsewhere the source is the Pod whose row has the focus, or the first
/// one, and the dialog lets you choose both.
fn introduce(console: Console, path: &str) {
    let here = pod_of_path(path);
    let chooses_source = here.is_none();
    let first =
        || Some(grouped(&console.pods(), "", &console.requested()).into_iter().next()?.1.into_iter().next()?.pod);
    match here.or_else(row).or_else(|| untrack(first)) {
        Some(source) => {
            let introduction = Introduction { source, chooses_source, target: String::new() };
            console.dialog.set(Some(Dialog::Peer(introduction)));
        }
        None => console.note("No Pods yet. Press n to create one."),
    }
}

fn shortcut_of(console: Console, press: &KeyPress, reader: StoredValue<KeyReader>) -> Option<Shortcut> {
    let in_palette = || console.dialog.with_untracked(|dialog| matches!(dialog, Some(Dialog::Palette(_))));
    if press.has_alt {
        return keys::answering(&press.key).filter(|_| !press.in_dialog && !press.is_chord);
    }
    if press.is_chord {
        let shortcut = keys::chord(&press.key).filter(|_| !press.has_shift)?;
        let is_free = match shortcut {
            Shortcut::Palette => !press.in_dialog || in_palette(),
            Shortcut::Terminal => !press.in_dialog,
            _ => !press.in_dialog && !press.in_field,
        };
        return is_free.then_some(shortcut);
    }
    if press.in_dialog {
        return None;
    }
    if press.in_field {
        return (press.key == "Escape").then_some(Shortcut::Leave);
    }
    if let Some(shortcut) = keys::shifted(&press.key).filter(|_| press.has_shift) {
        return Some(shortcut);
    }
    let mut keys = reader.get_value();
    let shortcut = keys.read(&press.key);
    reader.set_value(keys);
    shortcut
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads one key press, with this dialog open.
    fn read(press: KeyPress, dialog: Option<Dialog>) -> Option<Shortcut> {
        let owner = Owner::new();
        owner.with(|| {
            let console = Console::provide();
            console.dialog.set(dialog);
            shortcut_of(console, &press, StoredValue::new(KeyReader::default()))
        })
    }

    fn key(key: &str) -> KeyPress {
        KeyPress {
            key: key.to_owned(),
            in_dialog: false,
            in_field: false,
            is_chord: false,
            has_shift: false,
            has_alt: false,
        }
    }

    #[test]
    fn the_palette_opens_also_while_writing_and_closes_with_the_same_keys() {
        let chord = |in_field, in_dialog| KeyPress { is_chord: true, in_field, in_dialog, ..key("k") };
        assert_eq!(read(chord(true, false), None), Some(Shortcut::Palette));
        assert_eq!(read(chord(true, true), Some(Dialog::Palette(None))), Some(Shortcut::Palette));
        assert_eq!(read(chord(true, true), Some(Dialog::Help(Topic::Keys))), None);
        assert_eq!(read(KeyPress { has_shift: true, ..chord(false, false) }, None), None, "the browser's own");
        assert_eq!(read(KeyPress { key: "`".into(), ..chord(true, false) }, None), Some(Shortcut::Terminal));
        assert_eq!(read(KeyPress { key: "`".into(), ..chord(true, true) }, None), None);
    }

    #[test]
    fn letters_typed_in_a_field_are_text() {
        for typed in ["x", "n", "?", "u"] {
            assert_eq!(read(KeyPress { in_field: true, ..key(typed) }, None), None, "{typed}");
        }
        assert_eq!(read(KeyPress { in_field: true, ..key("Escape") }, None), Some(Shortcut::Leave));
        assert_eq!(read(key("Escape"), None), Some(Shortcut::Back));
        assert_eq!(read(KeyPress { in_field: true, is_chord: true, ..key("a") }, None), None, "selects the text");
    }

    #[test]
    fn with_alt_a_question_is_answered_also_while_writing_and_not_under_a_dialog() {
        let alt = |typed: &str| KeyPress { has_alt: true, in_field: true, ..key(typed) };
        for (typed, meant) in [("a", "a"), ("A", "A"), ("d", "d")] {
            assert_eq!(read(alt(typed), None), Some(Shortcut::Answer(meant)));
        }
        assert_eq!(read(alt("x"), None), None, "the browser's own");
        assert_eq!(read(KeyPress { is_chord: true, ..alt("a") }, None), None);
        assert_eq!(read(KeyPress { in_dialog: true, ..alt("a") }, Some(Dialog::Help(Topic::Keys))), None);
        assert_eq!(read(key("i"), None), Some(Shortcut::Write));
        assert_eq!(read(KeyPress { in_field: true, ..key("i") }, None), None);
    }

    #[test]
    fn an_arrow_with_shift_selects_and_without_it_scrolls() {
        assert_eq!(read(KeyPress { has_shift: true, ..key("ArrowDown") }, None), Some(Shortcut::Extend(1)));
        assert_eq!(read(key("ArrowDown"), None), None);
        assert_eq!(read(KeyPress { is_chord: true, ..key("a") }, None), Some(Shortcut::SelectAll));
        assert_eq!(read(key("?"), None), Some(Shortcut::Help));
        assert_ne!(read(key("g"), None), Some(Shortcut::Go(Page::Pods)));
    }
}
