//! The terminal: taken over, and restored however the console ends. A panic restores it before its message is
//! printed.

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

/// The longest text that is sent to the terminal's clipboard: most terminals accept no more.
const COPY_BYTES_MAX: usize = 100_000;

/// Whether the terminal is taken over.
static TAKEN: AtomicBool = AtomicBool::new(false);
static HOOK: Once = Once::new();
/// Notified on any panic: the loop ends.
static PANICKED: Notify = Notify::const_new();

/// The terminal while the console uses it. Dropping it restores the terminal.
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
                // A terminal without it sends a paste key by key.
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

/// Restores the terminal, once. Errors are ignored, because a terminal that is gone (SIGHUP) cannot be restored.
fn give_back() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        let _ = execute!(stdout(), DisableMouseCapture, DisableBracketedPaste, LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
    }
}

/// Returns once anything has panicked.
pub(crate) async fn panicked() {
    PANICKED.notified().await;
}

/// Copies text to the terminal's clipboard, also over ssh (OSC 52). Terminals without support ignore it.
pub(crate) fn copy(text: &str) {
    let mut end = text.len().min(COPY_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let _ = execute!(stdout(), CopyToClipboard::to_clipboard_from(&text[..end]));
    let _ = stdout().flush();
}
