//! Files that you paste, drop or choose, and their upload.

use gloo_net::http::Request;
use leptos::{ev::DragEvent, web_sys::ClipboardEvent};
use protocol::{ApiError, BlobView, CommandId, ErrorCode, PodName, PodSummary};
use wasm_bindgen::JsCast;
use web_sys::{File, FileList, HtmlInputElement};

use super::browser::document;
use crate::{UiError, codec};

/// A file to be uploaded.
#[derive(Debug, Clone)]
pub(crate) struct Picked {
    pub(crate) name: String,
    pub(crate) bytes: f64,
    file: File,
}

fn picked(files: Option<FileList>) -> Vec<Picked> {
    let Some(files) = files else { return Vec::new() };
    let one = |file: File| Picked { name: file.name(), bytes: file.size(), file };
    (0..files.length()).filter_map(|at| files.get(at)).map(one).collect()
}

pub(crate) fn pasted_files(event: &ClipboardEvent) -> Vec<Picked> {
    picked(event.clipboard_data().and_then(|data| data.files()))
}

pub(crate) fn dropped_files(event: &DragEvent) -> Vec<Picked> {
    picked(event.data_transfer().and_then(|data| data.files()))
}

/// Whether what is dragged over the page is files and not text.
pub(crate) fn drags_files(event: &DragEvent) -> bool {
    event.data_transfer().is_some_and(|data| data.types().includes(&"Files".into(), 0))
}

/// Opens the browser's file dialog.
pub(crate) fn ask_for_files(input: &str) {
    if let Some(input) = document().get_element_by_id(input).and_then(|found| found.dyn_into::<HtmlInputElement>().ok())
    {
        input.click();
    }
}

/// Takes the chosen files and clears the input, so that the same file can be chosen again.
pub(crate) fn chosen_files(input: &str) -> Vec<Picked> {
    let found = document().get_element_by_id(input).and_then(|found| found.dyn_into::<HtmlInputElement>().ok());
    let Some(input) = found else { return Vec::new() };
    let files = picked(input.files());
    input.set_value("");
    files
}

/// The chosen file, which stays chosen.
pub(crate) fn held_file(input: &str) -> Option<Picked> {
    let found = document().get_element_by_id(input).and_then(|found| found.dyn_into::<HtmlInputElement>().ok());
    picked(found?.files()).into_iter().next()
}

/// Creates a Pod with the history in the file.
pub(crate) async fn import_file(
    picked: Picked,
    id: CommandId,
    name: &PodName,
    cwd: Option<String>,
) -> Result<PodSummary, UiError> {
    let away = || UiError::new(ErrorCode::RuntimeUnavailable, "the server does not answer; try it again");
    let query = [("name", Some(name.to_string())), ("cwd", cwd)];
    let query = query.into_iter().filter_map(|(field, value)| Some((field, value?)));
    let request = Request::post("/api/v1/import")
        .query(query)
        .header("content-type", "application/x-ndjson")
        .header("idempotency-key", id.as_str())
        .body(picked.file);
    let answer = request.map_err(|_| away())?.send().await.map_err(|_| away())?;
    let text = answer.text().await.map_err(|_| away())?;
    match answer.ok() {
        true => codec::read(&text).map_err(|_| away()),
        false => Err(codec::read::<ApiError>(&text).map_or_else(|_| away(), UiError::from)),
    }
}

/// Uploads the file to the server.
pub(crate) async fn keep_file(picked: Picked) -> Result<BlobView, UiError> {
    let away = || UiError::new(ErrorCode::RuntimeUnavailable, "the server does not answer; attach the file again");
    let said = picked.file.type_();
    let media_type = if said.is_empty() { "application/octet-stream" } else { said.as_str() };
    let request = Request::post("/api/v1/blobs").header("content-type", media_type).body(picked.file);
    let answer = request.map_err(|_| away())?.send().await.map_err(|_| away())?;
    let text = answer.text().await.map_err(|_| away())?;
    match answer.ok() {
        true => codec::read(&text).map_err(|_| away()),
        false => Err(codec::read::<ApiError>(&text).map_or_else(|_| away(), UiError::from)),
    }
}
