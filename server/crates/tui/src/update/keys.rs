//! Key presses. Their meaning depends on the focus.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::{begin_line, command, open, pod_keys, scroll, sheet_keys, sheets, typed_line};
use crate::{
    composer::{Composer, To},
    model::{Focus, LineOf, Model, OpenPod, Sheet},
    view::dashboard_pods,
};

/// How many lines one notch of the wheel scrolls.
const WHEEL_LINES: isize = 3;

pub(super) fn press(model: &mut Model, key: KeyEvent) {
    if key.kind == KeyEventKind::Release {
        return;
    }
    let is_read = matches!(key.code, KeyCode::Enter | KeyCode::Esc | KeyCode::Char(':'));
    model.notice = model.notice.take().filter(|notice| notice.is_error && !is_read);
    if is_control(&key, 'c') {
        return leave(model);
    }
    model.is_leaving = false;
    if model.confirm.is_some() {
        return confirm(model, key);
    }
    if model.line.is_some() {
        return typed_line::press(model, key);
    }
    match (&model.sheet, &model.open) {
        (Some(_), _) => sheet_keys::press(model, key),
        (None, None) => in_dashboard(model, key),
        (None, Some(OpenPod { focus: Focus::Composer, .. })) => pod_keys::in_composer(model, key),
        (None, Some(_)) => pod_keys::in_transcript(model, key),
    }
}

/// Ctrl-C. Unsent text would be lost, so it has to be pressed twice then.
fn leave(model: &mut Model) {
    let has_text = model.open.as_ref().is_some_and(|open| !open.composer.is_empty());
    if has_text && !model.is_leaving {
        model.is_leaving = true;
        model.tell("your message is not sent; Ctrl-C again quits");
    } else {
        model.has_quit = true;
    }
}

pub(super) fn paste(model: &mut Model, text: &str) {
    match (&mut model.line, &model.sheet, &mut model.open) {
        (Some(line), ..) => line.text.insert(&text.replace('\n', " ")),
        (None, None, Some(open)) => {
            open.focus = Focus::Composer;
            (open.recalled, open.naming) = (None, None);
            open.composer.paste(text);
        }
        _ => {}
    }
}

pub(super) fn wheel(model: &mut Model, notches: isize) {
    match (&model.sheet, &model.open) {
        (Some(Sheet::Help { .. }), _) => sheet_keys::select(model, notches * WHEEL_LINES),
        (Some(_), _) => sheet_keys::select(model, notches),
        (None, Some(_)) => scroll::lines(model, notches * WHEEL_LINES),
        (None, None) => select(model, notches),
    }
}

/// Only `y` confirms. Enter leaves the question open, so that a second Enter does not confirm it.
fn confirm(model: &mut Model, key: KeyEvent) {
    match key.code {
        KeyCode::Char('y') => model.effects.extend(model.confirm.take().map(|confirm| confirm.effect)),
        KeyCode::Enter => {}
        _ => {
            model.confirm = None;
            model.tell("cancelled");
        }
    }
}

fn in_dashboard(model: &mut Model, key: KeyEvent) {
    let was_going = std::mem::take(&mut model.is_going);
    match key.code {
        KeyCode::Char('q') => model.has_quit = true,
        KeyCode::Char('j') | KeyCode::Down => select(model, 1),
        KeyCode::Char('k') | KeyCode::Up => select(model, -1),
        KeyCode::PageDown => select(model, 10),
        KeyCode::PageUp => select(model, -10),
        KeyCode::Char('/') => {
            let filter = model.filter.clone();
            begin_line(model, LineOf::Filter, &filter);
        }
        KeyCode::Char('n') => begin_line(model, LineOf::Command, "new "),
        KeyCode::Char('g') if !was_going => model.is_going = true,
        KeyCode::Char('g') | KeyCode::Home => select(model, isize::MIN),
        KeyCode::Char('G') | KeyCode::End => select(model, isize::MAX),
        KeyCode::Enter if model.is_fresh() => command::begin(model),
        KeyCode::Enter | KeyCode::Char('i') => {
            if let Some(pod) = model.selected.clone() {
                open(model, pod);
            }
        }
        KeyCode::Esc => model.filter.clear(),
        _ => anywhere(model, key, was_going),
    }
}

/// Keys that mean the same on the dashboard and in a transcript.
pub(super) fn anywhere(model: &mut Model, key: KeyEvent, was_going: bool) {
    match (was_going, key.code) {
        (true, KeyCode::Char('p')) => super::close(model),
        (true, KeyCode::Char('a')) => sheets::open_inbox(model),
        (true, KeyCode::Char('s')) => begin_line(model, LineOf::Command, "search "),
        (_, KeyCode::Char(':')) => begin_line(model, LineOf::Command, ""),
        (_, KeyCode::Char('?')) => sheets::open_help(model, commands::Topic::Keys),
        (_, KeyCode::Char('p')) => begin_line(model, LineOf::Command, "peer "),
        _ => {}
    }
}

/// Moves the selection down or up the list of Pods.
pub(super) fn select(model: &mut Model, step: isize) {
    let pods = dashboard_pods(model);
    let at = pods.iter().position(|(summary, _)| Some(&summary.pod) == model.selected.as_ref());
    let to = at.map_or(0, |at| at.saturating_add_signed(step).min(pods.len().saturating_sub(1)));
    model.selected = pods.get(to).map(|(summary, _)| summary.pod.clone()).or(model.selected.take());
}

/// Keys that edit text.
pub(super) fn edit(composer: &mut Composer, key: KeyEvent) {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    let to = match key.code {
        KeyCode::Char('a') if control => To::LineStart,
        KeyCode::Char('e') if control => To::LineEnd,
        KeyCode::Char('b') if control => To::Left,
        KeyCode::Char('f') if control => To::Right,
        KeyCode::Char('w') if control => return composer.cut(To::WordStart),
        KeyCode::Char('u') if control => return composer.cut(To::LineStart),
        KeyCode::Char('k') if control => return composer.cut(To::LineEnd),
        KeyCode::Char(char) if !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) => {
            return composer.insert(char.encode_utf8(&mut [0; 4]));
        }
        KeyCode::Backspace if key.modifiers.contains(KeyModifiers::ALT) => return composer.cut(To::WordStart),
        KeyCode::Backspace => return composer.cut(To::Left),
        KeyCode::Delete => return composer.cut(To::Right),
        KeyCode::Left => To::Left,
        KeyCode::Right => To::Right,
        KeyCode::Home => To::LineStart,
        KeyCode::End => To::LineEnd,
        _ => return,
    };
    composer.go(to);
}

pub(super) fn is_control(key: &KeyEvent, char: char) -> bool {
    key.code == KeyCode::Char(char) && key.modifiers.contains(KeyModifiers::CONTROL)
}
