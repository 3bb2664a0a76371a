//! The part of a Pod's page that is a terminal. Closing it ends the shell.

use leptos::{ev, prelude::*, task::spawn_local};
use protocol::{PodRef, TerminalAsk, TerminalPlace, TerminalSize, TerminalTold};

use super::{
    emulator::{Emulator, Row},
    typing::{self, Meant, Pressed},
};
use crate::{
    UiError,
    console::{PodContext, TERMINAL, TERMINAL_FIELD, use_console},
    format::{sentence_case, short_path},
    live::{self, Sizes, TerminalLine, TerminalNews},
    redrawn::redrawn,
    server_fns::find_terminal,
};

/// The element that scrolls, and the one that is measured.
const SCREEN: &str = "terminal-screen";
const PROBE: &str = "terminal-probe";

/// A terminal for this Pod's folder, with its head.
#[component]
pub(crate) fn TerminalPane(pod: PodContext) -> impl IntoView {
    let place = RwSignal::new(None::<Result<TerminalPlace, UiError>>);
    let address = pod.pod.get_value();
    let asked = address.clone();
    spawn_local(async move {
        place.try_set(Some(find_terminal(asked).await));
    });
    let whose = move || match place.get() {
        Some(Ok(TerminalPlace { shell, folder })) => {
            format!("Your own {shell} in {}: it runs as yoi's account, in no sandbox", short_path(&folder))
        }
        _ => "Your own shell".to_owned(),
    };
    let body = move || match place.get() {
        None => view! { <p class="terminal-words">"Opening…"</p> }.into_any(),
        Some(Ok(_)) => view! { <Terminal address=address.clone() /> }.into_any(),
        Some(Err(error)) => {
            view! { <p class="terminal-words" role="alert">{sentence_case(error.sentence())}</p> }.into_any()
        }
    };
    let close = move |_| {
        pod.shows_terminal.set(false);
        live::focus_soon("message");
    };
    view! {
        <section id=TERMINAL class="terminal" aria-label="Terminal">
            <header>
                <h2>"Terminal"</h2>
                <p class="terminal-whose" title=whose>
                    {redrawn(whose)}
                </p>
                <span class="terminal-way-out">
                    <kbd>"Ctrl"</kbd>
                    " "
                    <kbd>"`"</kbd>
                    " leaves"
                </span>
                <button type="button" class="button" title="Close the terminal; its shell ends" on:click=close>
                    "Close"
                </button>
            </header>
            {redrawn(body)}
        </section>
    }
}

/// Runs one shell at a time: when one has ended, its screen stays until you open the next one.
#[component]
fn Terminal(address: PodRef) -> impl IntoView {
    let over = RwSignal::new(None::<String>);
    let number = RwSignal::new(0_u32);
    let again = move |_| {
        over.set(None);
        number.update(|number| *number += 1);
    };
    let end = move || {
        over.get().map(|words| {
            view! {
                <p class="terminal-end" role="status">
                    {words}
                    " "
                    <button type="button" class="button" on:click=again>
                        "Open again"
                    </button>
                </p>
            }
            .into_any()
        })
    };
    view! {
        {redrawn(move || {
            number.track();
            view! { <ScreenView address=address.clone() over=over /> }.into_any()
        })}
        {redrawn(end)}
    }
}

/// What the parts of a screen share.
#[derive(Clone, Copy)]
struct Wires {
    emulator: StoredValue<Emulator, LocalStorage>,
    line: StoredValue<Option<TerminalLine>, LocalStorage>,
    /// The height of the screen and of a line, in pixels.
    heights: RwSignal<(f64, f64)>,
    size: StoredValue<TerminalSize>,
    rows: RwSignal<Vec<Row>>,
    lines_above: RwSignal<usize>,
    /// Whether the newest lines are shown.
    follows: StoredValue<bool>,
    /// Whether the screen will be drawn in the next frame.
    is_due: StoredValue<bool>,
    over: RwSignal<Option<String>>,
}

impl Wires {
    fn new(over: RwSignal<Option<String>>) -> Self {
        Self {
            emulator: StoredValue::new_local(Emulator::new(TerminalSize::default())),
            line: StoredValue::new_local(None),
            heights: RwSignal::new((0.0, 0.0)),
            size: StoredValue::new(TerminalSize::default()),
            rows: RwSignal::new(Vec::new()),
            lines_above: RwSignal::new(0),
            follows: StoredValue::new(true),
            is_due: StoredValue::new(false),
            over,
        }
    }

    /// Measures the screen, and opens the line with that size at first.
    fn measure(self, address: &PodRef) {
        let Some((size, height, line_height)) = live::terminal_room(SCREEN, PROBE) else { return };
        self.heights.try_set((height, line_height));
        let is_open = self.line.try_with_value(Option::is_some).unwrap_or(true);
        if is_open && self.size.try_get_value() == Some(size) {
            return;
        }
        self.size.try_set_value(size);
        self.emulator.try_update_value(|emulator| emulator.resize(size));
        match is_open {
            true => self.say(TerminalAsk { resize: size }),
            false => self.open(address, size),
        }
        self.draw_soon();
    }

    fn open(self, address: &PodRef, size: TerminalSize) {
        let PodRef { runtime_id, worker_id } = address;
        let TerminalSize { columns, rows } = size;
        let path = format!("/api/v1/runtimes/{runtime_id}/workers/{worker_id}/terminal?columns={columns}&rows={rows}");
        let line = live::open_terminal(&path, move |news| self.take(news));
        if line.is_none() {
            self.end("The terminal could not be opened.".to_owned());
        }
        self.line.try_set_value(line);
    }

    fn take(self, news: TerminalNews) {
        match news {
            TerminalNews::Printed(bytes) => {
                let reply = self.emulator.try_update_value(|emulator| emulator.take(&bytes)).unwrap_or_default();
                self.send(&reply);
                self.draw_soon();
            }
            TerminalNews::Told(text) => match serde_json::from_str(&text) {
                Ok(TerminalTold { problem: Some(sentence), .. }) => self.end(sentence_case(&sentence)),
                Ok(TerminalTold { ended: Some(end), .. }) => self.end(match end.code {
                    Some(0) | None => "The shell has ended.".to_owned(),
                    Some(code) => format!("The shell has ended with exit code {code}."),
                }),
                _ => (),
            },
            TerminalNews::Closed => self.end("The connection is gone, and the shell has ended with it.".to_owned()),
        }
    }

    /// Only the first reason counts.
    fn end(self, words: String) {
        self.over.try_update(|over| {
            over.get_or_insert(words);
        });
    }

    fn send(self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.line.try_with_value(|line| line.iter().for_each(|line| line.type_bytes(bytes)));
        }
    }

    fn say(self, ask: TerminalAsk) {
        if let Ok(text) = serde_json::to_string(&ask) {
            self.line.try_with_value(|line| line.iter().for_each(|line| line.say(&text)));
        }
    }

    /// Sends what a person typed, and shows the newest lines.
    fn type_in(self, bytes: &[u8]) {
        self.follows.set_value(true);
        self.send(bytes);
        self.draw_soon();
    }

    fn draw_soon(self) {
        if self.is_due.try_get_value() == Some(false) {
            self.is_due.set_value(true);
            live::next_frame(move || self.draw());
        }
    }

    fn draw(self) {
        let Some(follows) = self.follows.try_get_value() else { return };
        self.is_due.set_value(false);
        let drawn = self.emulator.try_update_value(|emulator| {
            if follows {
                emulator.scroll_to(0);
            }
            (emulator.lines_above(), emulator.rows())
        });
        let Some((above, rows)) = drawn else { return };
        self.lines_above.set(above);
        self.rows.set(rows);
        if follows {
            live::next_frame(|| live::scroll_to_end(SCREEN));
        }
    }

    fn scrolled(self) {
        let line_height = self.heights.get_untracked().1.max(1.0);
        let above = self.lines_above.get_untracked();
        let first = (live::scrolled(SCREEN) / line_height).round() as usize;
        let lines = above.saturating_sub(first);
        self.follows.set_value(lines == 0);
        let before = self.emulator.try_update_value(|emulator| {
            emulator.scroll_to(lines);
            emulator.rows()
        });
        if let Some(rows) = before.filter(|rows| self.rows.with_untracked(|shown| shown != rows)) {
            self.rows.set(rows);
        }
    }

    fn modes(self) -> typing::Modes {
        self.emulator.try_with_value(Emulator::modes).unwrap_or_default()
    }

    fn pressed(self, event: &ev::KeyboardEvent, copied: impl FnOnce(bool) + 'static) {
        let key = event.key();
        let has_control = event.ctrl_key();
        if event.is_composing() || key == "c" && has_control && !live::selected_text().is_empty() {
            // The browser copies what is selected.
            return;
        }
        let pressed = Pressed {
            key: &key,
            has_control,
            has_alt: event.alt_key(),
            has_shift: event.shift_key(),
            has_meta: event.meta_key(),
            makes_a_letter: live::makes_a_letter(event),
        };
        match typing::meant(pressed, self.modes()) {
            Meant::Nothing => return,
            Meant::Typed(bytes) => {
                self.type_in(&bytes);
                live::focus(TERMINAL_FIELD);
            }
            Meant::Copied => match live::selected_text() {
                text if text.is_empty() => (),
                text => live::copy_text(text, copied),
            },
        }
        event.prevent_default();
    }
}

/// The screen of one shell.
#[component]
fn ScreenView(address: PodRef, over: RwSignal<Option<String>>) -> impl IntoView {
    let console = use_console();
    let wires = Wires::new(over);
    let sizes = StoredValue::new_local(None::<Sizes>);
    // Once it is in the document.
    live::next_frame(move || {
        let watched = live::watch_size(SCREEN, move || wires.measure(&address));
        sizes.try_set_value(watched);
        live::focus(TERMINAL_FIELD);
    });
    let typed = move || {
        let text = live::take_text(TERMINAL_FIELD);
        wires.type_in(text.as_bytes());
    };
    let is_composing = StoredValue::new(false);
    let composed = move |_| {
        is_composing.set_value(false);
        typed();
    };
    let input = move |_| {
        if !is_composing.get_value() {
            typed();
        }
    };
    let paste = move |event: ev::ClipboardEvent| {
        event.prevent_default();
        if let Some(text) = live::pasted_text(&event) {
            wires.type_in(&typing::pasted(&text, wires.modes()));
        }
    };
    let wheel = move |event: ev::WheelEvent| {
        let modes = wires.modes();
        if modes.is_whole_screen {
            wires.send(&typing::wheeled(live::is_wheeled_up(&event), modes));
        }
    };
    let copied = move |worked: bool| {
        if !worked {
            console.note("The browser does not allow copying here; use its menu.");
        }
    };
    // Where text is selected, the focus would take the selection away.
    let click = move |_| {
        if live::selected_text().is_empty() {
            live::focus(TERMINAL_FIELD);
        }
    };
    let height = move || format!("{}px", wires.heights.get().0);
    let above = move || format!("{}px", wires.lines_above.get() as f64 * wires.heights.get().1);
    let count = Memo::new(move |_| wires.rows.with(Vec::len));
    view! {
        <div
            id=SCREEN
            class="terminal-screen"
            tabindex="-1"
            on:keydown=move |event| wires.pressed(&event, copied)
            on:scroll=move |_| wires.scrolled()
            on:wheel=wheel
            on:click=click
        >
            <span id=PROBE class="terminal-probe" aria-hidden="true">
                "MMMMMMMMMM"
            </span>
            <div class="terminal-sheet" style:height=height>
                <textarea
                    id=TERMINAL_FIELD
                    class="terminal-field"
                    rows="1"
                    aria-label="Terminal: what you type goes to the shell; Ctrl ` leaves it"
                    autocapitalize="off"
                    autocomplete="off"
                    spellcheck="false"
                    on:input=input
                    on:compositionstart=move |_| is_composing.set_value(true)
                    on:compositionend=composed
                    on:paste=paste
                ></textarea>
                <div class="terminal-rows" role="group" aria-label="Screen">
                    <For each=move || 0..count.get() key=|row| *row let:row>
                        <RowView rows=wires.rows row=row />
                    </For>
                </div>
            </div>
            <div style:height=above></div>
        </div>
    }
}

/// One row, drawn again only when it has changed.
#[component]
fn RowView(rows: RwSignal<Vec<Row>>, row: usize) -> impl IntoView {
    let pieces = Memo::new(move |_| rows.with(|rows| rows.get(row).cloned().unwrap_or_default()));
    let drawn = move || {
        let piece = |piece: super::emulator::Piece| match piece.class.is_empty() {
            true => piece.text.into_any(),
            false => view! { <span class=piece.class>{piece.text}</span> }.into_any(),
        };
        pieces.get().into_iter().map(piece).collect_view()
    };
    view! { <div>{redrawn(drawn)}</div> }
}
