//! The browser's part of a terminal: its socket, its size, and what is typed and selected.

use leptos::web_sys::WheelEvent;
use protocol::TerminalSize;
use wasm_bindgen::{JsCast, closure::Closure};
use web_sys::{BinaryType, HtmlTextAreaElement, MessageEvent, ResizeObserver, WebSocket};

use super::browser::{document, element, window};

/// The most bytes in one message; a longer paste is sent in several.
const SENT_BYTES_MAX: usize = 64 * 1024;
/// How many letters the element that is measured has.
const PROBE_LETTERS: f64 = 10.0;

/// What comes over a terminal's socket.
#[derive(Debug)]
pub(crate) enum TerminalNews {
    Printed(Vec<u8>),
    Told(String),
    /// Nothing more will come.
    Closed,
}

/// The socket of a terminal. Dropping it ends the shell.
pub(crate) struct TerminalLine {
    socket: WebSocket,
    _on_message: Closure<dyn FnMut(MessageEvent)>,
    _on_close: Closure<dyn FnMut()>,
}

/// Opens a terminal at this path of the server.
pub(crate) fn open_terminal(path: &str, told: impl Fn(TerminalNews) + Clone + 'static) -> Option<TerminalLine> {
    let location = window().location();
    let scheme = if location.protocol().ok()? == "https:" { "wss" } else { "ws" };
    let socket = WebSocket::new(&format!("{scheme}://{}{path}", location.host().ok()?)).ok()?;
    socket.set_binary_type(BinaryType::Arraybuffer);
    let closed = told.clone();
    let on_message = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
        let data = event.data();
        match data.as_string() {
            Some(text) => told(TerminalNews::Told(text)),
            None => told(TerminalNews::Printed(js_sys::Uint8Array::new(&data).to_vec())),
        }
    });
    let on_close = Closure::<dyn FnMut()>::new(move || closed(TerminalNews::Closed));
    socket.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
    socket.set_onclose(Some(on_close.as_ref().unchecked_ref()));
    Some(TerminalLine { socket, _on_message: on_message, _on_close: on_close })
}

impl TerminalLine {
    pub(crate) fn type_bytes(&self, bytes: &[u8]) {
        for part in bytes.chunks(SENT_BYTES_MAX).filter(|_| self.is_open()) {
            let _ = self.socket.send_with_u8_array(part);
        }
    }

    pub(crate) fn say(&self, text: &str) {
        if self.is_open() {
            let _ = self.socket.send_with_str(text);
        }
    }

    /// Before it is open and after it has closed, nobody reads.
    fn is_open(&self) -> bool {
        self.socket.ready_state() == WebSocket::OPEN
    }
}

impl Drop for TerminalLine {
    fn drop(&mut self) {
        self.socket.set_onmessage(None);
        self.socket.set_onclose(None);
        let _ = self.socket.close();
    }
}

/// Tells when an element's size changes, until it is dropped.
pub(crate) struct Sizes {
    observer: ResizeObserver,
    _on_resize: Closure<dyn Fn()>,
}

/// Calls `run` now and whenever the size of this element has changed.
pub(crate) fn watch_size(id: &str, run: impl Fn() + 'static) -> Option<Sizes> {
    let on_resize = Closure::<dyn Fn()>::new(run);
    let observer = ResizeObserver::new(on_resize.as_ref().unchecked_ref()).ok()?;
    let place = element(id)?;
    observer.observe(&place);
    Some(Sizes { observer, _on_resize: on_resize })
}

impl Drop for Sizes {
    fn drop(&mut self) {
        self.observer.disconnect();
    }
}

/// How many letters fit into an element, its height, and that of a line, in pixels. `probe` is an element of ten
/// letters in the same font.
pub(crate) fn terminal_room(id: &str, probe: &str) -> Option<(TerminalSize, f64, f64)> {
    let (place, probe) = (element(id)?, element(probe)?.get_bounding_client_rect());
    let (width, height) = (f64::from(place.client_width()), f64::from(place.client_height()));
    if probe.width() <= 0.0 || probe.height() <= 0.0 || width <= 0.0 || height <= 0.0 {
        return None;
    }
    let count = |room: f64, each: f64, max: u16| (room / each).floor().clamp(1.0, f64::from(max)) as u16;
    let columns = count(width, probe.width() / PROBE_LETTERS, TerminalSize::COLUMNS_MAX);
    let rows = count(height, probe.height(), TerminalSize::ROWS_MAX);
    Some((TerminalSize { columns, rows }, height, probe.height()))
}

/// How far an element is scrolled down, in pixels.
pub(crate) fn scrolled(id: &str) -> f64 {
    element(id).map_or(0.0, |element| f64::from(element.scroll_top()))
}

pub(crate) fn scroll_to_end(id: &str) {
    if let Some(element) = element(id) {
        element.set_scroll_top(element.scroll_height());
    }
}

/// Takes the text out of a text box.
pub(crate) fn take_text(id: &str) -> String {
    let area = element(id).and_then(|area| area.dyn_into::<HtmlTextAreaElement>().ok());
    area.map(|area| {
        let text = area.value();
        area.set_value("");
        text
    })
    .unwrap_or_default()
}

/// The selected text of the page; empty if none is selected.
pub(crate) fn selected_text() -> String {
    let selection = window().get_selection().ok().flatten();
    selection.map(|selection| String::from(selection.to_string())).unwrap_or_default()
}

/// Whether the focus is in this element.
pub(crate) fn has_focus_within(id: &str) -> bool {
    element(id).is_some_and(|place| place.contains(document().active_element().as_deref()))
}

/// Whether a wheel was turned up.
pub(crate) fn is_wheeled_up(event: &WheelEvent) -> bool {
    event.delta_y() < 0.0
}
