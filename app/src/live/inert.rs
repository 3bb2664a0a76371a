//! The server's version of `live`: without a browser these functions do nothing.

use std::sync::Arc;

use leptos::{
    prelude::Memo,
    web_sys::{ClipboardEvent, DragEvent, Element, Event, KeyboardEvent, WheelEvent},
};

use protocol::{BlobView, CommandId, PodName, PodSummary, TerminalSize};

use transcript::markup::Formula;

use super::{Answering, KeyPress, Memory, Places, Press, Pressed};
use crate::{
    UiError,
    notify::Means,
    rows::Rows,
    server_fns::{CodeText, Run},
};

pub(crate) fn now_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

pub(crate) fn zone_minutes() -> Option<i32> {
    None
}

pub(crate) fn tell_zone() -> bool {
    false
}

pub(crate) fn every(_ms: u32, _run: impl Fn() + 'static) {}

pub(crate) fn after(_ms: u32, _run: impl FnOnce() + 'static) {}

pub(crate) async fn rest(_ms: u32) {}

pub(crate) fn kept(_memory: Memory, _name: &str) -> Option<String> {
    None
}

pub(crate) fn remember(_memory: Memory, _name: &str, _text: Option<&str>) {}

pub(crate) fn focus(_id: &str) {}

pub(crate) fn focus_soon(_id: &str) {}

pub(crate) fn refocus_soon() {}

pub(crate) fn plain_key(_event: &KeyboardEvent) -> Option<String> {
    None
}

pub(crate) fn next_question(_reach: impl FnOnce() -> bool) -> bool {
    false
}

pub(crate) fn answer_question(_key: &str, _reach: impl FnOnce() -> bool) -> Answering {
    Answering::NoQuestion
}

pub(crate) fn answer_settled(_key: &str) -> bool {
    false
}

pub(crate) fn has_focus(_id: &str) -> bool {
    false
}

pub(crate) fn focus_content() {}

pub(crate) fn focus_card(_card: &str) {}

pub(crate) fn focus_if_lost(_id: &str) {}

pub(crate) fn blur() {}

pub(crate) fn may_take_focus() -> bool {
    false
}

pub(crate) fn is_focus_free() -> bool {
    false
}

pub(crate) fn html_in(_id: &str) -> String {
    String::new()
}

pub(crate) fn replace_rows(_id: &str, _html: &str) {}

pub(crate) fn hold_height(_id: &str) {}

pub(crate) fn keep_looked(_since_ms: i64) {}

pub(crate) fn move_row(_step: i32) {}

pub(crate) fn show_dialog(_id: &'static str) {}

pub(crate) fn close_dialog(_id: &str) {}

pub(crate) fn begin_in(_id: &str) {}

pub(crate) fn hold_keys(_give_up: impl Fn() + 'static) {}

pub(crate) fn keys_wait(_is_awaited: bool) {}

pub(crate) fn on_key(_handle: impl Fn(KeyPress) -> bool + 'static) {}

pub(crate) fn pasted_text(_event: &ClipboardEvent) -> Option<String> {
    None
}

/// A file to be uploaded.
#[derive(Debug, Clone)]
pub(crate) struct Picked {
    pub(crate) name: String,
    pub(crate) bytes: f64,
}

pub(crate) fn pasted_files(_event: &ClipboardEvent) -> Vec<Picked> {
    Vec::new()
}

pub(crate) fn dropped_files(_event: &DragEvent) -> Vec<Picked> {
    Vec::new()
}

pub(crate) fn drags_files(_event: &DragEvent) -> bool {
    false
}

pub(crate) fn ask_for_files(_input: &str) {}

pub(crate) fn chosen_files(_input: &str) -> Vec<Picked> {
    Vec::new()
}

pub(crate) fn held_file(_input: &str) -> Option<Picked> {
    None
}

pub(crate) async fn import_file(
    _picked: Picked,
    _id: CommandId,
    _name: &PodName,
    _cwd: Option<String>,
) -> Result<PodSummary, UiError> {
    std::future::pending().await
}

pub(crate) async fn keep_file(_picked: Picked) -> Result<BlobView, UiError> {
    std::future::pending().await
}

pub(crate) fn copy_text(_text: String, _told: impl FnOnce(bool) + 'static) {}

pub(crate) fn is_dark() -> bool {
    false
}

pub(crate) fn set_theme(_theme: &str) {}

pub(crate) fn keep_url(url: &str) -> String {
    url.to_owned()
}

pub(crate) fn go_to_login() {}

pub(crate) fn visit(_href: &str) {}

pub(crate) fn host_name() -> String {
    String::new()
}

pub(crate) fn reload() {}

pub(crate) fn has_attention() -> bool {
    true
}

pub(crate) fn notice_means() -> Means {
    Means::Missing
}

pub(crate) fn ask_for_notices(_told: impl FnOnce(Means) + 'static) {}

pub(crate) fn notify(_words: &str, _tag: &str, _lead: impl FnOnce() + 'static) -> bool {
    false
}

pub(crate) fn is_at(_id: &str) -> bool {
    true
}

pub(crate) fn rows() -> Vec<String> {
    Vec::new()
}

pub(crate) fn reveal(_id: &str) {}

pub(crate) fn open_block(_id: &str) {}

pub(crate) fn row_in_focus() -> Option<String> {
    None
}

pub(crate) fn on_leave(_run: impl Fn() + 'static) {}

pub(crate) fn send_last(_path: &str, _json: &str) {}

pub(crate) fn once_touched(_run: impl FnOnce() + 'static) {}

pub(crate) fn hold_press(_place: &Element, _event: &Event) -> Pressed {
    Pressed::Nothing
}

#[derive(Debug)]
pub(crate) struct Done;

pub(crate) fn done_to(_place: &Element, _presses: Vec<Press>) -> Option<Done> {
    None
}

pub(crate) fn do_again(_done: Done) {}

pub(crate) fn watch_hand() {}

pub(crate) fn once_let_go(_view: Option<&Element>, _run: impl FnOnce() + 'static) {}

pub(crate) fn fetch_first(_fetch: std::pin::Pin<Box<dyn Future<Output = ()> + Send>>) {}

pub(crate) fn once_taken_over(_run: impl FnOnce() + 'static) {}

pub(crate) fn has_taken_over() -> bool {
    false
}

pub(crate) fn log_attach(
    _key: String,
    _rows: Rows,
    _told: impl Fn(bool) + 'static,
    _near_start: impl Fn() + 'static,
) -> u64 {
    0
}

pub(crate) fn log_detach(_number: u64) {}

pub(crate) fn log_put_aside(_number: u64) {}

pub(crate) fn log_fold(_number: u64) {}

pub(crate) fn log_take_back(_number: u64) {}

pub(crate) fn log_restore(_linked: Option<&str>) -> bool {
    true
}

/// The fragment of an address is never sent to the server.
pub(crate) fn linked(_hash: Memo<String>) -> Option<String> {
    None
}

pub(crate) fn log_show(_id: &str) -> bool {
    false
}

pub(crate) fn log_key(_event: &KeyboardEvent) {}

pub(crate) fn log_to_end() {}

pub(crate) fn log_stop_following() {}

pub(crate) fn log_keep_place(change: impl FnOnce()) {
    change();
}

pub(crate) fn log_to_question() -> bool {
    false
}

pub(crate) fn log_to_turn(_step: i32) {}

pub(crate) fn caret_in(_id: &str) -> Option<u32> {
    None
}

pub(crate) fn put_caret(_id: &str, _units: u32) {}

pub(crate) fn text_in(_id: &str) -> String {
    String::new()
}

pub(crate) async fn painted() {}

pub(crate) fn out_of_sight(_elements: &[Element], _is_out: bool) {}

pub(crate) fn once_painted(_run: impl FnOnce() + 'static) {}

pub(crate) fn next_frame(_run: impl FnOnce() + 'static) {}

pub(crate) fn colours_known(_code: &CodeText) -> Option<Arc<[Run]>> {
    None
}

pub(crate) fn colours_when_seen(_element: &Element, _code: CodeText, _told: impl FnOnce(Arc<[Run]>) + 'static) -> u64 {
    0
}

pub(crate) fn colours_forget(_number: u64) {}

pub(crate) fn mark_found(_id: &str, _words: String, _places: Places) {}

pub(crate) fn unmark_found() {}

pub(crate) fn formula_known(_formula: &Formula) -> Option<String> {
    None
}

pub(crate) fn draw_formula(_formula: Formula, _told: impl FnOnce(String) + 'static) {}

/// What comes over a terminal's socket.
#[derive(Debug)]
pub(crate) enum TerminalNews {
    Printed(Vec<u8>),
    Told(String),
    Closed,
}

/// The socket of a terminal.
pub(crate) struct TerminalLine;

impl TerminalLine {
    pub(crate) fn type_bytes(&self, _bytes: &[u8]) {}

    pub(crate) fn say(&self, _text: &str) {}
}

pub(crate) fn open_terminal(_path: &str, _told: impl Fn(TerminalNews) + Clone + 'static) -> Option<TerminalLine> {
    None
}

/// Tells when an element's size changes.
pub(crate) struct Sizes;

pub(crate) fn watch_size(_id: &str, _run: impl Fn() + 'static) -> Option<Sizes> {
    None
}

pub(crate) fn terminal_room(_id: &str, _probe: &str) -> Option<(TerminalSize, f64, f64)> {
    None
}

pub(crate) fn scrolled(_id: &str) -> f64 {
    0.0
}

pub(crate) fn scroll_to_end(_id: &str) {}

pub(crate) fn take_text(_id: &str) -> String {
    String::new()
}

pub(crate) fn selected_text() -> String {
    String::new()
}

pub(crate) fn has_focus_within(_id: &str) -> bool {
    false
}

pub(crate) fn makes_a_letter(_event: &KeyboardEvent) -> bool {
    false
}

pub(crate) fn is_wheeled_up(_event: &WheelEvent) -> bool {
    false
}
