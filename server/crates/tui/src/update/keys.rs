//! What a person types. Which keys mean what depends on where the focus is.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::{close, open, run_command, scroll, send};
use crate::{
    command_line,
    composer::Composer,
    model::{Effect, Focus, Model, OpenPod, Place},
};

pub(super) fn press(model: &mut Model, key: KeyEvent) -> Vec<Effect> {
    if key.kind == KeyEventKind::Release {
        return Vec::new();
    }
    model.notice = None;
    if is_control(&key, 'c') {
        model.has_quit = true;
        return Vec::new();
    }
    match (&model.command, &model.open) {
        (Some(_), _) => in_command(model, key),
        (None, None) => in_dashboard(model, key),
        (None, Some(OpenPod { focus: Focus::Composer, .. })) => in_composer(model, key),
        (None, Some(_)) => in_transcript(model, key),
    }
}

pub(super) fn paste(model: &mut Model, text: &str) -> Vec<Effect> {
    match (&mut model.command, &mut model.open) {
        (Some(command), _) => command.insert(&text.replace('\n', " ")),
        (None, Some(open)) => {
            open.focus = Focus::Composer;
            open.composer.insert(text);
        }
        (None, None) => {}
    }
    Vec::new()
}

fn in_dashboard(model: &mut Model, key: KeyEvent) -> Vec<Effect> {
    match key.code {
        KeyCode::Char('q') => model.has_quit = true,
        KeyCode::Char('j') | KeyCode::Down => select(model, 1),
        KeyCode::Char('k') | KeyCode::Up => select(model, -1),
        KeyCode::Char(':') => model.command = Some(Composer::default()),
        KeyCode::Char('n') => model.command = Some(Composer::with("new ")),
        KeyCode::Enter => return model.selected.clone().map(|pod| open(model, pod)).unwrap_or_default(),
        _ => {}
    }
    Vec::new()
}

fn select(model: &mut Model, step: isize) {
    let at = model.pods.iter().position(|summary| Some(&summary.pod) == model.selected.as_ref()).unwrap_or_default();
    let last = model.pods.len().saturating_sub(1);
    let to = at.saturating_add_signed(step).min(last);
    model.selected = model.pods.get(to).map(|summary| summary.pod.clone());
}

fn in_command(model: &mut Model, key: KeyEvent) -> Vec<Effect> {
    let Some(command) = &mut model.command else { return Vec::new() };
    match key.code {
        KeyCode::Esc => model.command = None,
        KeyCode::Backspace if command.is_empty() => model.command = None,
        KeyCode::Tab => command.insert(command_line::completion(command.text()).unwrap_or_default()),
        KeyCode::Enter => {
            let line = command.take();
            model.command = None;
            return run_command(model, &line);
        }
        _ => edit(command, key),
    }
    Vec::new()
}

fn in_composer(model: &mut Model, key: KeyEvent) -> Vec<Effect> {
    let Some(open) = &mut model.open else { return Vec::new() };
    match key.code {
        KeyCode::Esc => open.focus = Focus::Transcript,
        KeyCode::Char(':') if open.composer.is_empty() => model.command = Some(Composer::default()),
        KeyCode::Enter if key.modifiers.intersects(KeyModifiers::ALT | KeyModifiers::SHIFT) => {
            open.composer.insert("\n")
        }
        KeyCode::Enter => return send(model),
        KeyCode::PageUp => return scroll::page(model, -1),
        KeyCode::PageDown => return scroll::page(model, 1),
        // Most terminals cannot tell Shift-Enter from Enter.
        KeyCode::Char('j') if key.modifiers.contains(KeyModifiers::CONTROL) => open.composer.insert("\n"),
        _ => edit(&mut open.composer, key),
    }
    Vec::new()
}

fn in_transcript(model: &mut Model, key: KeyEvent) -> Vec<Effect> {
    let Some(open) = &mut model.open else { return Vec::new() };
    match key.code {
        KeyCode::Esc => return close(model),
        KeyCode::Char('i') | KeyCode::Enter => open.focus = Focus::Composer,
        KeyCode::Char(':') => model.command = Some(Composer::default()),
        KeyCode::Char('j') | KeyCode::Down => return scroll::lines(model, 1),
        KeyCode::Char('k') | KeyCode::Up => return scroll::lines(model, -1),
        KeyCode::PageUp => return scroll::page(model, -1),
        KeyCode::PageDown | KeyCode::Char(' ') => return scroll::page(model, 1),
        KeyCode::Char('G' | 'e') | KeyCode::End => open.place = Place::End,
        _ => {}
    }
    Vec::new()
}

fn edit(composer: &mut Composer, key: KeyEvent) {
    match key.code {
        KeyCode::Char('a') if is_control(&key, 'a') => composer.line_start(),
        KeyCode::Char('e') if is_control(&key, 'e') => composer.line_end(),
        KeyCode::Char('w') if is_control(&key, 'w') => composer.delete_word(),
        KeyCode::Char(char) if !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) => {
            composer.insert(char.encode_utf8(&mut [0; 4]));
        }
        KeyCode::Backspace => composer.backspace(),
        KeyCode::Delete => composer.delete(),
        KeyCode::Left => composer.left(),
        KeyCode::Right => composer.right(),
        KeyCode::Home => composer.line_start(),
        KeyCode::End => composer.line_end(),
        _ => {}
    }
}

fn is_control(key: &KeyEvent, char: char) -> bool {
    key.code == KeyCode::Char(char) && key.modifiers.contains(KeyModifiers::CONTROL)
}
