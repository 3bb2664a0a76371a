//! Keys and commands, from the one table of commands; and an explanation of peers.

use commands::{TABLE, Topic, Where, refusal, said::PEERS};
use ratatui::{
    style::Stylize,
    text::{Line, Span},
};

use crate::{
    model::Model,
    wrap::{fit, padded, width_of, wrap},
};

/// Columns of a key or a command.
const WORD_WIDTH: usize = 20;

const DASHBOARD_KEYS: [(&str, &str); 8] = [
    ("Enter  i", "Open the Pod, and write"),
    ("j k", "Next or previous Pod"),
    ("n", "New Pod"),
    ("/", "Filter"),
    ("g a", "Pending approvals"),
    ("g s", "Search all transcripts"),
    (":", "Command"),
    ("q", "Quit (Ctrl-C anywhere)"),
];

const COMPOSER_KEYS: [(&str, &str); 12] = [
    ("Enter", "Send (queued while the Pod is running)"),
    ("Alt-Enter", "Send into the current run, for its next model call"),
    ("Ctrl-J  Shift-Enter", "New line (most terminals send Enter for Shift-Enter)"),
    ("@", "Name a file (Tab or Enter accepts it)"),
    ("Alt-a  Alt-A  Alt-d", "Answer the oldest approval: allow, always allow, deny"),
    ("Shift-Tab", "Next mode: ask, accept edits, plan, free"),
    ("Up  Down", "Earlier and later messages"),
    ("PgUp  PgDn  wheel", "Scroll"),
    (":", "Command, as the first character"),
    ("Ctrl-A E W U K", "Start, end; cut a word, to the start, to the end"),
    ("Esc", "Stop the run, even while it asks; without one, back to the transcript"),
    ("Ctrl-T", "Back to the transcript, without stopping the run"),
];

const TRANSCRIPT_KEYS: [(&str, &str); 16] = [
    ("i  Enter", "Write"),
    ("j k", "Scroll; PgUp, PgDn, Ctrl-U, Ctrl-D by a page"),
    ("J K", "Next or previous message to the Pod"),
    ("g g  G  g e", "Start of the loaded part, end"),
    ("v", "Detail: brief, normal, full"),
    ("/  n  N", "Find; next match up, down"),
    ("y", "Copy the marked ▎ block (OSC 52)"),
    ("o", "Show all of the marked block where it is cut"),
    ("a  A  d", "The same without Alt: allow, always allow, deny"),
    ("r", "Retry: ask the model again"),
    ("w", "Queued and held messages"),
    ("p", "Add a peer"),
    ("g p", "List of Pods"),
    ("g a  g s", "Pending approvals, search"),
    ("?", "This help"),
    ("Esc", "Back to the list of Pods"),
];

const PEERS_HERE: [&str; 5] = [
    ":peer NAME adds a peer; :unpeer NAME removes one from either side, or withdraws a request.",
    "A new peer changes no conversation: no model reads of it, and no run starts.",
    "With the peer policy “ask” you accept the request (g a lists it); with “closed” the Pod refuses.",
    "If two runtimes have a Pod of that name, write NAME@RUNTIME or RUNTIME/WORKER.",
    "A message is held when too many automatic steps led to it, or too many come too fast: :queue lists them, :release \
     and :drop decide.",
];

/// All lines of the sheet.
pub(crate) fn lines(model: &Model, topic: Topic, width: u16) -> Vec<Line<'static>> {
    let width = usize::from(width);
    match topic {
        Topic::Peers => {
            let mut lines = vec![Line::from("Peers").bold()];
            for text in PEERS.into_iter().chain(PEERS_HERE) {
                lines.push(Line::default());
                lines.extend(wrap(text, width).into_iter().map(Line::from));
            }
            lines
        }
        Topic::Keys => {
            let mut lines = section("Message", &COMPOSER_KEYS, width);
            lines.extend(section("Transcript", &TRANSCRIPT_KEYS, width));
            lines.extend(section("All Pods", &DASHBOARD_KEYS, width));
            lines.extend(commands_lines(model, width));
            lines.push(Line::from("To select text with the mouse, hold Shift.").dim());
            lines
        }
    }
}

fn section(title: &'static str, keys: &[(&str, &str)], width: usize) -> Vec<Line<'static>> {
    let mut lines = vec![Line::from(title).bold()];
    lines.extend(keys.iter().map(|(key, what)| row(key, what, None, width)));
    lines.push(Line::default());
    lines
}

fn commands_lines(model: &Model, width: usize) -> Vec<Line<'static>> {
    let here = model.here();
    let mut lines = vec![Line::from("Commands").bold()];
    for entry in TABLE.iter().filter(|entry| entry.place != Where::Browser) {
        let word = format!(":{} {}", entry.word, entry.argument);
        lines.push(row(&word, entry.what, refusal(entry.word, here), width));
    }
    lines.push(Line::default());
    lines
}

fn row(word: &str, what: &str, refusal: Option<&str>, width: usize) -> Line<'static> {
    let what = refusal.map_or_else(|| what.to_owned(), |refusal| format!("({refusal}) {what}"));
    // A long one is shown whole, because it is what one types.
    let word = match width_of(word) < WORD_WIDTH {
        true => padded(word, WORD_WIDTH),
        false => format!("{word} "),
    };
    let room = width.saturating_sub(width_of(&word) + 2);
    let line = Line::from(vec![Span::raw("  "), Span::raw(word), Span::raw(fit(&what, room))]);
    if refusal.is_some() { line.dim() } else { line }
}
