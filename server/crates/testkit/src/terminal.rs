//! A terminal: a pty with a shell that runs one program, and the screen that a user would see.
//!
//! After the program has exited, the shell prints its exit code and the terminal's settings, so that a test sees what
//! it left behind as the next program would.

mod waits;

use std::{
    num::NonZeroU16,
    sync::{Arc, Mutex, MutexGuard},
};

use pty_process::{OwnedReadPty, OwnedWritePty, Size};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::Child,
    sync::watch,
};
use vt100::{MouseProtocolMode, Parser};

/// Leaves the message field of the terminal client without ending a run.
pub const CTRL_T: &str = "\x14";

/// Runs its arguments; then prints how they ended and the terminal's settings.
const SHELL: &str = r#""$@"; code=$?; echo; echo "ended $code"; stty -a; echo "no more""#;

/// A screen with a program on it. Dropping it kills the shell; the program gets SIGHUP.
#[derive(Debug)]
pub struct Terminal {
    seen: Arc<Mutex<Seen>>,
    changed: watch::Receiver<u64>,
    keyboard: OwnedWritePty,
    shell: Child,
}

/// What has been printed.
struct Seen {
    parser: Parser,
    /// Every byte, for what a screen does not show.
    raw: Vec<u8>,
}

/// How a program left its terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// Its exit code, or 128 plus the signal.
    pub code: i32,
    /// The screen afterwards, as text.
    pub screen: String,
    /// What differs from before; empty if the terminal was restored.
    pub left_behind: Vec<&'static str>,
}

impl Terminal {
    /// Runs the command, with its environment and directory, on a screen of this size.
    pub async fn start(command: &tokio::process::Command, columns: u16, rows: u16) -> Self {
        let command = command.as_std();
        let mut shell = pty_process::Command::new("sh").args(["-c", SHELL, "sh"]).arg(command.get_program());
        shell = shell.args(command.get_args()).kill_on_drop(true).env("TERM", "xterm-256color").env_remove("NO_COLOR");
        for (name, value) in command.get_envs() {
            shell = match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        if let Some(folder) = command.get_current_dir() {
            shell = shell.current_dir(folder);
        }
        let (pty, pts) = pty_process::open().expect("a pty can be opened");
        pty.resize(Size::new(rows, columns)).expect("a pty has a size");
        let shell = shell.spawn(pts).expect("a shell can be started");
        let (output, keyboard) = pty.into_split();
        let parser = Parser::new(size(rows), size(columns), 0);
        let seen = Arc::new(Mutex::new(Seen { parser, raw: Vec::new() }));
        let (told, changed) = watch::channel(0);
        tokio::spawn(read(output, Arc::clone(&seen), told));
        Self { seen, changed, keyboard, shell }
    }

    /// Types text unchanged: `\r` is Enter, `\x1b` is Esc.
    pub async fn types(&mut self, text: &str) {
        self.keyboard.write_all(text.as_bytes()).await.expect("the terminal is there");
    }

    /// Types a line and Enter.
    pub async fn enters(&mut self, line: &str) {
        self.types(&format!("{line}\r")).await;
    }

    /// Presses Esc and waits until the program has read it on its own: together with the next key, it would be the
    /// beginning of a longer sequence.
    pub async fn escape(&mut self) {
        self.types("\x1b").await;
        self.wait_taken().await;
    }

    /// Pastes text as a terminal with bracketed paste does.
    pub async fn pastes(&mut self, text: &str) {
        self.types(&format!("\x1b[200~{text}\x1b[201~")).await;
    }

    pub fn resize(&mut self, columns: u16, rows: u16) {
        // While the lock is held, nothing that the program draws in its new size is taken for something of the old
        // one.
        let mut seen = self.seen.lock().expect("no reader panics while it holds the screen");
        self.keyboard.resize(Size::new(rows, columns)).expect("the terminal is there");
        seen.parser.set_size(size(rows), size(columns));
    }

    /// The text on the screen, one line per row.
    pub fn screen(&self) -> String {
        self.lock().parser.screen().contents()
    }

    /// Everything that was printed, including escape sequences.
    pub fn raw(&self) -> String {
        String::from_utf8_lossy(&self.lock().raw).into_owned()
    }

    /// Whether any cell of the screen has a colour.
    pub fn is_coloured(&self) -> bool {
        let seen = self.lock();
        let screen = seen.parser.screen();
        let (rows, columns) = screen.size();
        let cells = (0..rows.get()).flat_map(|row| (0..columns.get()).map(move |column| (row, column)));
        cells
            .filter_map(|(row, column)| screen.cell(row, column))
            .any(|cell| (cell.fgcolor(), cell.bgcolor()) != (vt100::Color::Default, vt100::Color::Default))
    }

    /// How many typed bytes have not been read yet; `None` if the system does not tell. For raw mode, which a console
    /// uses.
    fn unread(&self) -> Option<u64> {
        let shell = self.shell.id()?;
        // Otherwise this process could acquire the terminal as its own.
        let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::NOCTTY | rustix::fs::OFlags::NONBLOCK;
        let side = rustix::fs::open(format!("/proc/{shell}/fd/0"), flags, rustix::fs::Mode::empty()).ok()?;
        rustix::io::ioctl_fionread(side).ok()
    }

    /// The process that the shell runs.
    pub async fn pid(&self) -> u32 {
        let shell = self.shell.id().expect("the shell runs");
        let output = tokio::process::Command::new("pgrep").args(["-P", &shell.to_string()]).output().await;
        let text = String::from_utf8(output.expect("`pgrep` can be run").stdout).expect("it prints numbers");
        text.trim().parse().unwrap_or_else(|_| panic!("not one process of the shell: {text:?}"))
    }

    /// Sends the program a signal: `TERM`, `HUP`, `INT`.
    pub async fn signal(&self, signal: &str) {
        let pid = self.pid().await.to_string();
        let status = tokio::process::Command::new("kill").args([&format!("-{signal}"), &pid]).status().await;
        assert!(status.expect("`kill` can be run").success(), "no process {pid} to send SIG{signal} to");
    }

    /// What was not restored in the terminal.
    fn left_behind(&self) -> Vec<&'static str> {
        let seen = self.lock();
        let screen = seen.parser.screen();
        let text = screen.contents();
        let has = |word: &str| text.split_whitespace().any(|found| found.trim_end_matches(';') == word);
        [
            ("the alternate screen", screen.alternate_screen()),
            ("a hidden cursor", screen.hide_cursor()),
            ("bracketed paste", screen.bracketed_paste()),
            ("the mouse", screen.mouse_protocol_mode() != MouseProtocolMode::None),
            ("raw mode", !has("icanon")),
            ("no echo", !has("echo")),
        ]
        .into_iter()
        .filter_map(|(what, is_left)| is_left.then_some(what))
        .collect()
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().expect("no reader panics while it holds the screen")
    }
}

impl std::fmt::Debug for Seen {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.parser.screen().contents())
    }
}

fn size(cells: u16) -> NonZeroU16 {
    NonZeroU16::new(cells).expect("a screen has rows and columns")
}

/// Reads until the shell has closed its side.
async fn read(mut output: OwnedReadPty, seen: Arc<Mutex<Seen>>, told: watch::Sender<u64>) {
    let mut buffer = [0; 8192];
    while let Ok(count @ 1..) = output.read(&mut buffer).await {
        {
            let mut seen = seen.lock().expect("no reader panics while it holds the screen");
            seen.parser.process(&buffer[..count]);
            seen.raw.extend_from_slice(&buffer[..count]);
        }
        told.send_modify(|count| *count += 1);
    }
}
