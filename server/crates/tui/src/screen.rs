//! The terminal: taken, and given back however the console ends. A panic gives it back before it is printed.

use std::{
    io::{Stdout, Write, stdout},
    panic,
    sync::{
        Once,
        atomic::{AtomicBool, Ordering},
    },
};

use crossterm::{
    clipboard::CopyToClipboard,
    cursor::Show,
    event::{DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture},
    execute,
    terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode},
};
use ratatui::{Terminal, backend::CrosstermBackend};
use tokio::sync::Notify;

/// Longest text that is handed to the terminal's clipboard: most terminals take no more.
const COPY_BYTES_MAX: usize = 100_000;

/// The terminal is ours.
static TAKEN: AtomicBool = AtomicBool::new(false);
static HOOK: Once = Once::new();
/// Rung by a panic, wherever it is: the loop ends.
static PANICKED: Notify = Notify::const_new();

/// The terminal while it is the console's. Dropping it gives it back.
#[derive(Debug)]
pub(crate) struct Screen {
    pub(crate) terminal: Terminal<CrosstermBackend<Stdout>>,
}

impl Screen {
    pub(crate) fn take() -> std::io::Result<Self> {
        HOOK.call_once(|| {
            let before = panic::take_hook();
            panic::set_hook(Box::new(move |info| {
                give_back();
                before(info);
                PANICKED.notify_one();
            }));
        });
        enable_raw_mode()?;
        TAKEN.store(true, Ordering::SeqCst);
        let taken = execute!(stdout(), EnterAlternateScreen, EnableMouseCapture)
            .and_then(|()| Terminal::new(CrosstermBackend::new(stdout())));
        match taken {
            Ok(terminal) => {
                // A terminal that does not know it pastes key by key.
                let _ = execute!(stdout(), EnableBracketedPaste);
                Ok(Self { terminal })
            }
            Err(error) => {
                give_back();
                Err(error)
            }
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

/// Does it once. A terminal that is gone (SIGHUP) takes nothing back, so errors mean nothing here.
fn give_back() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        let _ = execute!(stdout(), DisableMouseCapture, DisableBracketedPaste, LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
    }
}

/// Returns once something has panicked.
pub(crate) async fn panicked() {
    PANICKED.notified().await;
}

/// Hands a text to the clipboard of the terminal, also over ssh (OSC 52). A terminal that does not know it ignores it.
pub(crate) fn copy(text: &str) {
    let mut end = text.len().min(COPY_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let _ = execute!(stdout(), CopyToClipboard::to_clipboard_from(&text[..end]));
    let _ = stdout().flush();
}
