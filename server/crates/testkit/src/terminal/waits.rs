//! Waiting for a screen. Each wait has a time limit, and prints the screen when it fails.

use std::time::Duration;

use tokio::time::{sleep, timeout};

use super::{Ended, Terminal};
use crate::wait::WAIT_MAX;

/// After this long, typed text has reached the terminal and a responsive program has read it.
const ON_ITS_WAY: Duration = Duration::from_millis(100);
/// How often to check whether a slow program has read it.
const POLL: Duration = Duration::from_millis(10);

impl Terminal {
    /// Waits until the screen matches, and returns it. `what` describes what is waited for.
    #[track_caller]
    pub fn wait_for(&self, what: impl Into<String>, fits: impl Fn(&str) -> bool) -> impl Future<Output = String> {
        let (place, what) = (std::panic::Location::caller(), what.into());
        async move {
            let mut changed = self.changed.clone();
            let search = async {
                loop {
                    changed.mark_unchanged();
                    let screen = self.screen();
                    if fits(&screen) {
                        return screen;
                    }
                    if changed.changed().await.is_err() {
                        panic!("{place}: the terminal was closed before {what}:\n{}", self.screen());
                    }
                }
            };
            match timeout(WAIT_MAX, search).await {
                Ok(screen) => screen,
                Err(_) => panic!("{place}: no {what} within {WAIT_MAX:?}:\n{}", self.screen()),
            }
        }
    }

    /// Waits until these words are on the screen, even if wrapped.
    #[track_caller]
    pub fn wait_text(&self, words: &str) -> impl Future<Output = String> {
        let wanted = flat(words);
        self.wait_for(format!("{words:?}"), move |screen| flat(screen).contains(&wanted))
    }

    /// Waits until these words are no longer on the screen.
    #[track_caller]
    pub fn wait_without(&self, words: &str) -> impl Future<Output = String> {
        let unwanted = flat(words);
        self.wait_for(format!("end of {words:?}"), move |screen| !flat(screen).contains(&unwanted))
    }

    /// Waits until the program has read everything that was typed.
    pub(super) async fn wait_taken(&self) {
        let taken = async {
            sleep(ON_ITS_WAY).await;
            while self.unread().is_some_and(|bytes| bytes > 0) {
                sleep(POLL).await;
            }
        };
        if timeout(WAIT_MAX, taken).await.is_err() {
            panic!("what was typed was not read within {WAIT_MAX:?}:\n{}", self.screen());
        }
    }

    /// Waits until the program has exited and the shell has printed how.
    pub async fn wait_end(&self) -> Ended {
        let screen = self.wait_for("end of the program", |screen| screen.contains("no more")).await;
        let code =
            screen.lines().find_map(|line| line.strip_prefix("ended ")).and_then(|code| code.trim().parse().ok());
        let code = code.unwrap_or_else(|| panic!("no exit code on\n{screen}"));
        Ended { code, left_behind: self.left_behind(), screen }
    }
}

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
