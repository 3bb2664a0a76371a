//! The loop: keys, events and answers in, effects and frames out. The terminal is restored however it ends.

use std::{io::stdout, time::Duration};

use client::Client;
use crossterm::{
    event::{DisableBracketedPaste, EnableBracketedPaste, Event, EventStream as Keys},
    execute,
};
use futures_util::StreamExt;
use ratatui::DefaultTerminal;
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::mpsc,
    time::{Instant, sleep_until},
};

use crate::{
    effects::Effects,
    model::{Message, Model},
    update::update,
    view,
};

/// Answers to calls that wait for the loop; beyond it they wait in their tasks.
const ANSWERS_MAX: usize = 64;
/// A busy Pod changes the screen at most this often; a key at once.
const FRAME_TIME: Duration = Duration::from_millis(33);

/// Why the console could not go on.
#[derive(Debug, thiserror::Error)]
#[error("the terminal cannot be used: {0}")]
pub struct TuiError(#[from] std::io::Error);

/// Runs until it is quit. `target` is the Pod to open: a name, `name@runtime_id` or `runtime_id/worker_id`.
pub async fn run(client: Client, target: Option<String>) -> Result<(), TuiError> {
    let mut terminal = ratatui::try_init()?;
    // A terminal that does not know it pastes key by key.
    let _ = execute!(stdout(), EnableBracketedPaste);
    let done = run_in(&mut terminal, client, target).await;
    let _ = execute!(stdout(), DisableBracketedPaste);
    ratatui::try_restore()?;
    Ok(done?)
}

async fn run_in(terminal: &mut DefaultTerminal, client: Client, target: Option<String>) -> std::io::Result<()> {
    let (sender, mut answers) = mpsc::channel(ANSWERS_MAX);
    let size = terminal.size()?;
    let mut model = Model::new(target, (size.width, size.height));
    let mut effects = Effects { events: client.events(), client, answers: sender };
    effects.events.subscribe_pods();
    let mut keys = Keys::new();
    let mut terminated = signal(SignalKind::terminate())?;
    let mut draw_at = Some(Instant::now());
    while !model.has_quit {
        let message = tokio::select! {
            biased;
            key = keys.next() => match key {
                None => return Ok(()),
                Some(key) => match of_terminal(key?) {
                    Some(message) => {
                        draw_at = Some(Instant::now());
                        message
                    }
                    None => continue,
                },
            },
            _ = terminated.recv() => return Ok(()),
            () = sleep_until(draw_at.unwrap_or_else(Instant::now)), if draw_at.is_some() => {
                terminal.draw(|frame| view::draw(&model, frame))?;
                draw_at = None;
                continue;
            }
            Some(answer) = answers.recv() => answer,
            item = effects.events.next() => Message::Stream(item),
        };
        draw_at.get_or_insert_with(|| Instant::now() + FRAME_TIME);
        take(&mut model, &effects, message);
    }
    Ok(())
}

fn of_terminal(event: Event) -> Option<Message> {
    match event {
        Event::Key(key) => Some(Message::Key(key)),
        Event::Paste(text) => Some(Message::Paste(text)),
        Event::Resize(columns, rows) => Some(Message::Resize(columns, rows)),
        _ => None,
    }
}

fn take(model: &mut Model, effects: &Effects, message: Message) {
    for effect in update(model, message) {
        if let Some(answer) = effects.perform(effect) {
            take(model, effects, answer);
        }
    }
}
