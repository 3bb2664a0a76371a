//! Keys while a line is typed at the bottom: a command, text to find, a filter.

use crossterm::event::{KeyCode, KeyEvent};

use super::{choices, command, completion, find, keys::edit, keys::select, sheet_keys};
use crate::model::{LineOf, Model};

pub(super) fn press(model: &mut Model, key: KeyEvent) {
    let Some(line) = &mut model.line else { return };
    match (line.what, key.code) {
        (LineOf::Filter, KeyCode::Esc) => {
            model.line = None;
            model.filter.clear();
        }
        (LineOf::Filter, _) => in_filter(model, key),
        (_, KeyCode::Esc) => give_up(model),
        (_, KeyCode::Backspace) if line.text.is_empty() => give_up(model),
        (LineOf::Key, KeyCode::Enter) => {
            let key = line_text(model);
            model.line = None;
            choices::give_key(model, &key);
        }
        (LineOf::Key, _) => edit(&mut line.text, key),
        (LineOf::Command, _) => in_command(model, key),
        (LineOf::Always, KeyCode::Enter) => {
            let meant = completion::chosen(model).unwrap_or_else(|| line_text(model));
            model.line = None;
            sheet_keys::answer_always(model, meant);
        }
        (LineOf::Always, KeyCode::Tab) => completion::take(model),
        (LineOf::Always, KeyCode::Down) => completion::choose(model, 1),
        (LineOf::Always, KeyCode::Up) => completion::choose(model, -1),
        (LineOf::Always, _) => {
            line.chosen = None;
            edit(&mut line.text, key);
        }
        (LineOf::Find, KeyCode::Enter) => {
            let words = line_text(model);
            model.line = None;
            find::begin(model, words);
        }
        (LineOf::Find, _) => edit(&mut line.text, key),
    }
}

fn give_up(model: &mut Model) {
    (model.line, model.key_of, model.always_of) = (None, None, None);
}

fn in_command(model: &mut Model, key: KeyEvent) {
    match key.code {
        KeyCode::Tab => {
            completion::take(model);
            choices::typed(model);
        }
        KeyCode::Down => completion::choose(model, 1),
        KeyCode::Up => completion::choose(model, -1),
        KeyCode::Enter if completion::is_begun(model) => {
            completion::take(model);
            choices::typed(model);
        }
        KeyCode::Enter => {
            let text = completion::chosen(model).unwrap_or_else(|| line_text(model));
            model.line = None;
            command::run(model, &text);
        }
        _ => {
            if let Some(line) = &mut model.line {
                line.chosen = None;
                edit(&mut line.text, key);
            }
            choices::typed(model);
        }
    }
}

/// The list is filtered while you type.
fn in_filter(model: &mut Model, key: KeyEvent) {
    let Some(line) = &mut model.line else { return };
    match key.code {
        KeyCode::Enter => model.line = None,
        KeyCode::Down => select(model, 1),
        KeyCode::Up => select(model, -1),
        _ => {
            edit(&mut line.text, key);
            model.filter = line_text(model);
            let pods = crate::view::dashboard_pods(model);
            if !pods.iter().any(|(summary, _)| Some(&summary.pod) == model.selected.as_ref()) {
                model.selected = pods.first().map(|(summary, _)| summary.pod.clone()).or(model.selected.take());
            }
        }
    }
}

fn line_text(model: &Model) -> String {
    model.line.as_ref().map(|line| line.text.text().to_owned()).unwrap_or_default()
}
