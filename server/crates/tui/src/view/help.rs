//! What can be typed, from the one table of commands; and what a peer is.

use commands::{TABLE, Topic, Where, refusal};
use ratatui::{
    style::Stylize,
    text::{Line, Span},
};

use crate::{
    model::Model,
    wrap::{fit, padded, wrap},
};

/// Columns of a key or a command.
const WORD_WIDTH: usize = 20;

const DASHBOARD_KEYS: [(&str, &str); 8] = [
    ("Enter", "open the Pod"),
    ("j k", "next, previous Pod"),
    ("n", "new Pod"),
    ("/", "filter"),
    ("g a", "all questions to you"),
    ("g s", "search in all transcripts"),
    (":", "a command"),
    ("q", "quit; Ctrl-C quits everywhere"),
];

const COMPOSER_KEYS: [(&str, &str); 10] = [
    ("Enter", "send; while the Pod runs it waits in the queue"),
    ("Alt-Enter", "send into the present run, for its model's next question"),
    ("Ctrl-J  Shift-Enter", "new line; most terminals send Enter for Shift-Enter"),
    ("@", "name a file; Tab or Enter takes the one that is chosen"),
    ("Alt-a  Alt-A  Alt-d", "answer the oldest question: allow, always, deny"),
    ("Up  Down", "earlier and later messages"),
    ("PgUp  PgDn  wheel", "scroll"),
    (":", "a command, as the first character"),
    ("Ctrl-A E W U K", "start, end; cut a word, to the start, to the end"),
    ("Esc", "leave it for the transcript"),
];

const TRANSCRIPT_KEYS: [(&str, &str); 15] = [
    ("i  Enter", "write"),
    ("j k", "scroll; PgUp, PgDn, Ctrl-U, Ctrl-D by a page"),
    ("J K", "next, previous message to the Pod"),
    ("g g  G  g e", "beginning of what is loaded, end"),
    ("v", "detail: brief, normal, full"),
    ("/  n  N", "find words; the next hit up, down"),
    ("y", "copy the block at hand, marked ▎ (OSC 52)"),
    ("o", "show all of the block at hand, where it is cut"),
    ("a  A  d", "the same without Alt: allow, always, deny"),
    ("w", "what waits and what is held back: change it, decide on it"),
    ("p", "introduce this Pod to another one"),
    ("g p", "all Pods"),
    ("g a  g s", "all questions to you, search"),
    ("?", "this"),
    ("Esc", "back to all Pods"),
];

const PEERS: [&str; 7] = [
    "Two Pods that were introduced are peers. Each finds the other in ListPods and can write to it with SendToPeerPod.",
    "Neither gets files, control, or output of the other, and nobody else sees either. A Pod can be a child and a peer at \
     once and keeps both rights.",
    ":peer NAME introduces this Pod to another one; :unpeer NAME ends the link from either side, or withdraws a request.",
    "An introduction touches no conversation: no model reads of it, and no run starts.",
    "A Pod whose policy is to ask has to accept it: g a lists what waits. A closed one refuses, and says so.",
    "A name that two runtimes hold is settled by NAME@RUNTIME, or by RUNTIME/WORKER.",
    "A message is held when it is too far from a person or comes too fast: :release and :drop decide on it, and :queue lists \
     them.",
];

/// All lines of the sheet.
pub(crate) fn lines(model: &Model, topic: Topic, width: u16) -> Vec<Line<'static>> {
    let width = usize::from(width);
    match topic {
        Topic::Peers => {
            let mut lines = vec![Line::from("Peers").bold()];
            for text in PEERS {
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
    let line = Line::from(vec![
        Span::raw("  "),
        Span::raw(padded(word, WORD_WIDTH)),
        Span::raw(fit(&what, width.saturating_sub(WORD_WIDTH + 2))),
    ]);
    if refusal.is_some() { line.dim() } else { line }
}
