//! Keys while a line is typed at the bottom: a command, words to find, a filter.

use crossterm::event::{KeyCode, KeyEvent};

use super::{command, completion, find, keys::edit, keys::select};
use crate::model::{Effect, LineOf, Model};

pub(super) fn press(model: &mut Model, key: KeyEvent) -> Vec<Effect> {
    match model.line.as_ref().map(|line| line.what) {
        Some(LineOf::Command) => in_command(model, key),
        Some(LineOf::Find) => in_find(model, key),
        Some(LineOf::Filter) => in_filter(model, key),
        None => Vec::new(),
    }
}

fn in_command(model: &mut Model, key: KeyEvent) -> Vec<Effect> {
    let Some(line) = &mut model.line else { return Vec::new() };
    match key.code {
        KeyCode::Esc => model.line = None,
        KeyCode::Backspace if line.text.is_empty() => model.line = None,
        KeyCode::Tab => completion::take(model),
        KeyCode::Down => completion::choose(model, 1),
        KeyCode::Up => completion::choose(model, -1),
        KeyCode::Enter => {
            if completion::is_begun(model) {
                completion::take(model);
                return Vec::new();
            }
            let text = completion::chosen(model).unwrap_or_else(|| line_text(model));
            model.line = None;
            return command::run(model, &text);
        }
        _ => {
            line.chosen = None;
            edit(&mut line.text, key);
        }
    }
    Vec::new()
}

fn in_find(model: &mut Model, key: KeyEvent) -> Vec<Effect> {
    let Some(line) = &mut model.line else { return Vec::new() };
    match key.code {
        KeyCode::Esc => model.line = None,
        KeyCode::Backspace if line.text.is_empty() => model.line = None,
        KeyCode::Enter => {
            let words = line_text(model);
            model.line = None;
            find::begin(model, words);
        }
        _ => edit(&mut line.text, key),
    }
    Vec::new()
}

/// The list follows while it is typed.
fn in_filter(model: &mut Model, key: KeyEvent) -> Vec<Effect> {
    let Some(line) = &mut model.line else { return Vec::new() };
    match key.code {
        KeyCode::Esc => {
            model.line = None;
            model.filter.clear();
            return Vec::new();
        }
        KeyCode::Enter => {
            model.line = None;
            return Vec::new();
        }
        KeyCode::Down => select(model, 1),
        KeyCode::Up => select(model, -1),
        _ => {
            edit(&mut line.text, key);
            model.filter = line_text(model);
            let pods = crate::view::dashboard_pods(model);
            if !pods.iter().any(|summary| Some(&summary.pod) == model.selected.as_ref()) {
                model.selected = pods.first().map(|summary| summary.pod.clone()).or(model.selected.take());
            }
        }
    }
    Vec::new()
}

fn line_text(model: &Model) -> String {
    model.line.as_ref().map(|line| line.text.text().to_owned()).unwrap_or_default()
}
