//! Keys while a Pod is open.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::{
    begin_line, close, command, composing, files, find,
    keys::{anywhere, edit, is_control},
    modes, queue, scroll, sheets,
};
use crate::{
    composer::To,
    model::{Focus, LineOf, Model, Place},
};

pub(super) fn in_composer(model: &mut Model, key: KeyEvent) {
    let Some(open) = &mut model.open else { return };
    if files::is_offered(open) && key.modifiers.is_empty() {
        match key.code {
            KeyCode::Enter if files::is_typed(open) => in_text(model, key),
            KeyCode::Tab | KeyCode::Enter => {
                let taken = files::take(open);
                model.effects.extend(taken);
            }
            KeyCode::Down => files::choose(open, 1),
            KeyCode::Up => files::choose(open, -1),
            KeyCode::Esc => open.naming = None,
            _ => in_text(model, key),
        }
    } else {
        in_text(model, key);
    }
}

fn in_text(model: &mut Model, key: KeyEvent) {
    let has_run = queue::has_run(model);
    if key.code == KeyCode::Enter {
        modes::apply(model);
    }
    let Some(open) = &mut model.open else { return };
    match key.code {
        KeyCode::Esc if has_run => queue::stop_run(model),
        KeyCode::Esc => (open.focus, open.naming) = (Focus::Transcript, None),
        // Leaves the field without stopping a run.
        KeyCode::Char('t') if is_control(&key, 't') => open.focus = Focus::Transcript,
        KeyCode::Char(':') if open.composer.is_empty() => begin_line(model, LineOf::Command, ""),
        // Terminals send Alt as Esc and the letter; this works while writing, too.
        KeyCode::Char('a') if is_alt(&key) => command::answer(model, commands::Answer::Once),
        KeyCode::Char('A') if is_alt(&key) => begin_line(model, LineOf::Command, "always "),
        KeyCode::BackTab => modes::walk(model),
        KeyCode::Char('d') if is_alt(&key) => command::answer(model, commands::Answer::Deny(String::new())),
        KeyCode::Enter if key.modifiers.contains(KeyModifiers::SHIFT) => open.composer.insert("\n"),
        KeyCode::Enter if key.modifiers.contains(KeyModifiers::ALT) => composing::send(model, true),
        KeyCode::Enter => composing::send(model, false),
        KeyCode::PageUp => scroll::page(model, -1),
        KeyCode::PageDown => scroll::page(model, 1),
        // Most terminals cannot tell Shift-Enter from Enter.
        KeyCode::Char('j') if is_control(&key, 'j') => open.composer.insert("\n"),
        KeyCode::Up if !open.composer.go(To::Above) => composing::recall(open, true),
        KeyCode::Down if !open.composer.go(To::Below) => composing::recall(open, false),
        KeyCode::Up | KeyCode::Down => {}
        _ => {
            open.recalled = None;
            edit(&mut open.composer, key);
            let asked = files::typed(open);
            model.effects.extend(asked);
        }
    }
}

/// Alt alone: some terminals report AltGr, which produces letters, as Ctrl and Alt.
fn is_alt(key: &KeyEvent) -> bool {
    key.modifiers.contains(KeyModifiers::ALT) && !key.modifiers.contains(KeyModifiers::CONTROL)
}

pub(super) fn in_transcript(model: &mut Model, key: KeyEvent) {
    let was_going = std::mem::take(&mut model.is_going);
    if key.code == KeyCode::Enter {
        modes::apply(model);
    }
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return match key.code {
            KeyCode::Char('u' | 'b') => scroll::page(model, -1),
            KeyCode::Char('d' | 'f') => scroll::page(model, 1),
            _ => {}
        };
    }
    let Some(open) = &mut model.open else { return };
    match (was_going, key.code) {
        (_, KeyCode::Esc) => close(model),
        (_, KeyCode::Char('i') | KeyCode::Enter) => open.focus = Focus::Composer,
        (_, KeyCode::Char('j') | KeyCode::Down) => scroll::lines(model, 1),
        (_, KeyCode::Char('k') | KeyCode::Up) => scroll::lines(model, -1),
        (_, KeyCode::PageUp | KeyCode::Char('b')) => scroll::page(model, -1),
        (_, KeyCode::PageDown | KeyCode::Char(' ')) => scroll::page(model, 1),
        (_, KeyCode::Char('J')) => scroll::turn(model, true),
        (_, KeyCode::Char('K')) => scroll::turn(model, false),
        (true, KeyCode::Char('g')) | (_, KeyCode::Home) => scroll::top(model),
        (true, KeyCode::Char('e')) | (_, KeyCode::Char('G') | KeyCode::End) => {
            (open.place, open.mark) = (Place::End, None)
        }
        (false, KeyCode::Char('g')) => model.is_going = true,
        (false, KeyCode::Char('a')) => command::answer(model, commands::Answer::Once),
        (_, KeyCode::Char('A')) => begin_line(model, LineOf::Command, "always "),
        (_, KeyCode::BackTab) => modes::walk(model),
        (_, KeyCode::Char('d')) => command::answer(model, commands::Answer::Deny(String::new())),
        (_, KeyCode::Char('r')) => command::run(model, "retry"),
        (_, KeyCode::Char('v')) => {
            model.detail = model.detail.next();
            model.tell(format!("detail: {}", model.detail.word()));
        }
        (_, KeyCode::Char('y')) => find::copy(model),
        (_, KeyCode::Char('o')) => find::show_all(model),
        (_, KeyCode::Char('w')) => sheets::open_queue(model),
        (_, KeyCode::Char('/')) => begin_line(model, LineOf::Find, ""),
        (_, KeyCode::Char('n')) => find::again(model, true),
        (_, KeyCode::Char('N')) => find::again(model, false),
        (_, _) => anywhere(model, key, was_going),
    }
}
