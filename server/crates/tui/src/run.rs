//! The event loop: keys, events and answers in, effects and frames out. The terminal is restored however it ends.

use std::time::Duration;

use client::{Client, StreamItem};
use crossterm::event::{Event, EventStream as Keys, MouseEventKind};
use futures_util::StreamExt;
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::mpsc,
    time::{Instant, sleep_until},
};

use crate::{
    effects::Effects,
    model::{Message, Model},
    screen::{self, Screen},
    update::update,
    view::{self, Colours},
};

/// How many answers may wait for the loop; further ones wait in their tasks.
const ANSWERS_MAX: usize = 64;
/// Events redraw the screen at most this often; a key redraws at once.
const FRAME_TIME: Duration = Duration::from_millis(33);

/// Why the console could not continue.
#[derive(Debug, thiserror::Error)]
pub enum TuiError {
    #[error("the console cannot be drawn here; run it in a terminal")]
    Terminal(#[from] std::io::Error),
    /// The panic message has been printed above, after the terminal was restored.
    #[error("the console crashed; the server and its Pods keep running")]
    Panicked,
}

/// Runs the console until you quit. `target` is the Pod to open: a name, `name@runtime_id` or `runtime_id/worker_id`.
///
/// # Errors
/// If there is no terminal, or after a panic. The terminal is restored in each case.
pub async fn run(client: Client, target: Option<String>) -> Result<(), TuiError> {
    let mut screen = Screen::take()?;
    run_in(&mut screen, client, target).await
}

async fn run_in(screen: &mut Screen, client: Client, target: Option<String>) -> Result<(), TuiError> {
    let (sender, mut answers) = mpsc::channel(ANSWERS_MAX);
    let size = screen.terminal.size()?;
    let mut model = Model::new(client.address(), target, (size.width, size.height));
    let mut effects = Effects { events: client.events(), client, answers: sender };
    effects.events.subscribe_pods();
    let colours = Colours::of_environment();
    let mut keys = Keys::new();
    let mut ended = Ended::listen()?;
    let mut draw_at = Some(Instant::now());
    while !model.has_quit {
        let message = tokio::select! {
            biased;
            () = screen::panicked() => return Err(TuiError::Panicked),
            () = ended.wait() => return Ok(()),
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
            () = sleep_until(draw_at.unwrap_or_else(Instant::now)), if draw_at.is_some() => {
                screen.terminal.draw(|frame| view::draw(&model, colours, frame))?;
                draw_at = None;
                continue;
            }
            Some(answer) = answers.recv() => answer,
            item = effects.events.next() => {
                if matches!(item, StreamItem::Connection(_)) {
                    // After a reconnect the server may be at another address.
                    model.address = effects.client.address();
                }
                Message::Stream(item)
            }
        };
        draw_at.get_or_insert_with(|| Instant::now() + FRAME_TIME);
        take(&mut model, &effects, message);
    }
    Ok(())
}

/// The signals that shut the console down cleanly.
struct Ended {
    terminate: Signal,
    hang_up: Signal,
    interrupt: Signal,
}

impl Ended {
    fn listen() -> std::io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    async fn wait(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.hang_up.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

fn of_terminal(event: Event) -> Option<Message> {
    match event {
        Event::Key(key) => Some(Message::Key(key)),
        Event::Paste(text) => Some(Message::Paste(text)),
        Event::Resize(columns, rows) => Some(Message::Resize(columns, rows)),
        Event::Mouse(mouse) => match mouse.kind {
            MouseEventKind::ScrollUp => Some(Message::Wheel(-1)),
            MouseEventKind::ScrollDown => Some(Message::Wheel(1)),
            _ => None,
        },
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

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::TuiError;

    #[test]
    fn what_the_system_said_is_told_once() {
        let error = TuiError::from(std::io::Error::other("no such device"));
        assert!(!error.to_string().contains("no such device"), "{error}");
        assert_eq!(error.source().unwrap().to_string(), "no such device");
    }
}
