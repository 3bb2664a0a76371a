//! Export and import of whole journals.

use axum::{
    Json,
    body::{Body, Bytes},
    extract::{FromRequest, FromRequestParts, Request, State},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use backend::ExportFormat;
use protocol::{ImportCommand, ImportFormat, PodName, PodSummary, operations::Import};
use serde::Deserialize;

use crate::{
    Api,
    answer::Problem,
    extract::{Asked, Caller, Fields, Key, PodPath, invalid},
    media::Media,
};

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ExportAsked {
    /// `markdown` (the default) or `jsonl`.
    format: Option<String>,
}

/// A Pod's whole journal as a file: the transcript as Markdown, or one record per line.
#[utoipa::path(get, path = "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/export", tag = "journal",
    params(("runtime_id" = String, Path), ("worker_id" = String, Path), ExportAsked),
    responses((status = 200, description = "The file", content(
        (String = "text/markdown"), (String = "application/x-ndjson")))))]
pub(crate) async fn export(
    State(api): State<Api>,
    _: Caller,
    PodPath(pod): PodPath,
    Asked(asked): Asked<ExportAsked>,
) -> Result<Response, Problem> {
    let format = format(asked.format.as_deref())?;
    let export = api.backend().journals().export(&pod, format).await?;
    let (kind, extension) = match format {
        ExportFormat::Markdown => ("text/markdown; charset=utf-8", "md"),
        ExportFormat::Jsonl => ("application/x-ndjson", "jsonl"),
    };
    // A name consists of letters, digits and `._-`, so it needs no escaping within the quotes.
    let disposition = format!("attachment; filename=\"{}.{extension}\"", export.name);
    let headers = [(header::CONTENT_TYPE, kind.to_owned()), (header::CONTENT_DISPOSITION, disposition)];
    Ok((headers, Body::from_stream(export.text)).into_response())
}

fn format(text: Option<&str>) -> Result<ExportFormat, Problem> {
    let Some(text) = text else { return Ok(ExportFormat::Markdown) };
    let known = ExportFormat::ALL.into_iter().find(|format| format.as_str() == text);
    known.ok_or_else(|| invalid(format!("`format` is markdown or jsonl, not \"{text}\"")))
}

#[derive(Debug, Deserialize)]
struct ImportAsked {
    name: Option<String>,
    format: Option<String>,
    cwd: Option<String>,
}

/// What is to be imported: either a JSON object with everything, or the file itself, and the rest in the query.
#[derive(Debug)]
pub(crate) struct Imported(ImportCommand);

impl<S: Send + Sync> FromRequest<S> for Imported {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        if !Media::is_imported_file(request.headers(), request.uri()) {
            return Fields::from_request(request, state).await.map(|Fields(command)| Self(command));
        }
        let (mut parts, body) = request.into_parts();
        let Asked(ImportAsked { name, format, cwd }) = Asked::from_request_parts(&mut parts, state).await?;
        let name = name.ok_or_else(|| invalid("`?name=NAME` has to say what the new Pod is called"))?;
        let name = PodName::parse(&name).map_err(|error| invalid(format!("`name`: {error}")))?;
        let format = format.map(|word| import_format(&word)).transpose()?;
        let bytes = Bytes::from_request(Request::from_parts(parts, body), state).await;
        let bytes = bytes.map_err(|error| invalid(error.body_text()))?;
        let jsonl =
            String::from_utf8(bytes.into()).map_err(|error| invalid(format!("the body is not UTF-8: {error}")))?;
        Ok(Self(ImportCommand { name, jsonl, format, cwd }))
    }
}

fn import_format(word: &str) -> Result<ImportFormat, Problem> {
    ImportFormat::parse(word)
        .ok_or_else(|| invalid(format!("`format` is yoi, claude, codex or opencode, not \"{word}\"")))
}

/// Creates a stopped Pod with the history of another one, or of a session of Claude Code, Codex or opencode.
///
/// The file is sent as a string in a JSON object, or as the body itself: then `name`, `format` and `cwd` go into
/// the query, and the body may have up to 64 MiB.
#[utoipa::path(post, path = "/api/v1/import", tag = "pods",
    request_body(content((ImportCommand = "application/json"), (String = "application/x-ndjson"))),
    params(("Idempotency-Key" = Option<String>, Header, description = "The command's id; generated when absent"),
        ("name" = Option<String>, Query, description = "The new Pod's name, when the body is the file"),
        ("format" = Option<String>, Query,
            description = "`yoi`, `claude`, `codex` or `opencode`: the body is such a file; detected when absent"),
        ("cwd" = Option<String>, Query, description = "The new Pod's folder, when the body is the file")),
    responses((status = 201, description = "The Pod", body = PodSummary)))]
pub(crate) async fn import(
    State(api): State<Api>,
    Caller(origin): Caller,
    Key(key): Key,
    Imported(command): Imported,
) -> Result<(StatusCode, Json<PodSummary>), Problem> {
    Ok((StatusCode::CREATED, Json(api.backend().carry_out(&origin, key, Import { body: command }).await?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_one_of_two_words() {
        let of = |text| format(text).map_err(|problem| problem.0.code.as_str());
        assert_eq!((of(None), of(Some("markdown"))), (Ok(ExportFormat::Markdown), Ok(ExportFormat::Markdown)));
        assert_eq!(of(Some("jsonl")), Ok(ExportFormat::Jsonl));
        for bad in ["", "json", "md", "JSONL", "markdown "] {
            assert_eq!(of(Some(bad)), Err("invalid_input"), "{bad:?}");
        }
    }
}
