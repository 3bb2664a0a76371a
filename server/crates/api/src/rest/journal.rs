//! A Pod's journal: its pages, and its records.

use axum::{
    extract::State,
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use backend::RecordForm;
use protocol::{Listing, Record, Seq};
use serde::Deserialize;

use crate::{
    Api,
    answer::{Problem, records_page},
    extract::{Asked, Caller, PodPath, Within, flag, invalid, limit},
};

const RECORDS_DEFAULT: u32 = 200;
const RECORDS_MAX: u32 = 1_000;

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PageAsked {
    /// Only records with a lower seq: `next` of the previous page.
    before: Option<String>,
    /// The maximum number of items; 200 when absent, never more than 1,000.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 4_294_967_295_u32)]
    limit: Option<String>,
    /// If `true`, no record is cut, however large it is.
    #[param(value_type = Option<bool>)]
    whole: Option<String>,
}

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct RecordAsked {
    /// `json` (the default), or `text`: only the text in the record.
    format: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct RecordNamed {
    seq: String,
}

/// One page of records in seq order: the newest, or those before `before`.
///
/// A page has at most about 900 kB. A record of more than 256 KiB is cut and has `cut`; `whole=true` leaves
/// it whole, and the page then contains at least one record.
#[utoipa::path(get, path = "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/transcript", tag = "journal",
    params(("runtime_id" = String, Path), ("worker_id" = String, Path), PageAsked),
    responses((status = 200, description = "One page", body = Listing<Record>)))]
pub(crate) async fn transcript(
    State(api): State<Api>,
    _: Caller,
    PodPath(pod): PodPath,
    Asked(asked): Asked<PageAsked>,
) -> Result<Response, Problem> {
    let limit = limit(asked.limit.as_deref(), RECORDS_DEFAULT, RECORDS_MAX)?;
    let form = match flag("whole", asked.whole.as_deref())? {
        true => RecordForm::Whole,
        false => RecordForm::Shown,
    };
    let page = api.backend().journals().page(&pod, asked.before.as_deref(), limit, form).await?;
    Ok(records_page(&page.items, page.next.as_deref()))
}

/// One record, whole; or only its text.
#[utoipa::path(get, path = "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/records/{seq}", tag = "journal",
    params(("runtime_id" = String, Path), ("worker_id" = String, Path),
        ("seq" = i64, Path, description = "Its place in the journal"), RecordAsked),
    responses((status = 200, description = "The record", content(
        (Record = "application/json"), (String = "text/plain")))))]
pub(crate) async fn record(
    State(api): State<Api>,
    _: Caller,
    PodPath(pod): PodPath,
    Within(RecordNamed { seq }): Within<RecordNamed>,
    Asked(asked): Asked<RecordAsked>,
) -> Result<Response, Problem> {
    let seq = seq.parse().ok().filter(|seq| *seq > 0).map(Seq);
    let seq = seq.ok_or_else(|| invalid("a record is named by its seq: a whole number from 1"))?;
    Ok(match asked.format.as_deref() {
        None | Some("json") => {
            let kind = HeaderValue::from_static("application/json");
            ([(header::CONTENT_TYPE, kind)], api.backend().journals().record(&pod, seq).await?).into_response()
        }
        // Answered as plain text.
        Some("text") => api.backend().journals().record_text(&pod, seq).await?.into_response(),
        Some(other) => return Err(invalid(format!("`format` is json or text, not \"{other}\""))),
    })
}
