//! The browser's way to the server: one thin forward to [`backend::Backend`] per verb, under `/fn`.
//!
//! The names are stable. Nothing is decided here: the API's handlers call the same methods.

mod add_runtime;
mod answer_approval;
mod asked_change;
mod close_preview;
mod compaction_preview;
mod control_pod;
mod create_pod;
mod decide_held;
mod decide_request;
mod delete_pod;
mod fitting_files;
mod forget_rule;
mod highlight;
mod introduce_pods;
mod list_audit;
mod list_pods;
mod list_previews;
mod list_providers;
mod list_runtimes;
mod load_pod;
mod older_records;
mod open_approvals;
mod open_preview;
mod open_requests;
mod pod_approvals;
mod pod_detail;
mod pod_exchange;
mod pod_peers;
#[cfg(feature = "ssr")]
mod print_part;
#[cfg(feature = "ssr")]
mod read_back;
mod read_settings;
mod read_usage;
mod relations;
mod remove_runtime;
mod rename_pod;
mod resolve;
mod restore_pod;
mod rewind_pod;
mod run_tool;
mod search;
mod set_network;
mod sign_out;
mod steer_input;
mod submit_input;
mod take_back_input;
mod test_provider;
mod unlink_pods;

pub use add_runtime::add_runtime;
pub use answer_approval::answer_approval;
pub use asked_change::asked_change;
pub use close_preview::close_preview;
pub use compaction_preview::compaction_preview;
pub use control_pod::control_pod;
pub use create_pod::create_pod;
pub use decide_held::decide_held;
pub use decide_request::decide_request;
pub use delete_pod::delete_pod;
pub use fitting_files::fitting_files;
pub use forget_rule::forget_rule;
#[cfg(feature = "ssr")]
pub(crate) use highlight::Budget;
pub use highlight::{BLOCKS_MAX, CODE_BYTES_MAX, CODE_LINES_MAX, CodeText, KINDS, Run, highlight};
pub use introduce_pods::introduce_pods;
pub use list_audit::{AuditAsked, list_audit};
pub use list_pods::list_pods;
pub use list_previews::list_previews;
pub use list_providers::{ProvidersFound, list_providers};
pub use list_runtimes::list_runtimes;
pub use load_pod::{PodPageData, load_pod};
pub use older_records::{OlderPage, older_records};
pub use open_approvals::open_approvals;
pub use open_preview::open_preview;
pub use open_requests::open_requests;
pub use pod_approvals::pod_approvals;
pub use pod_detail::pod_detail;
pub use pod_exchange::{ExchangeData, pod_exchange};
pub use pod_peers::pod_peers;
#[cfg(feature = "ssr")]
pub(crate) use print_part::{PrintPart, print_part};
pub use read_settings::{SettingsFound, read_settings};
pub use read_usage::read_usage;
pub use relations::{Loan, PeerPair, RelationsFound, relations};
pub use remove_runtime::remove_runtime;
pub use rename_pod::rename_pod;
pub use resolve::resolve;
pub use restore_pod::restore_pod;
pub use rewind_pod::rewind_pod;
pub use run_tool::run_tool;
pub use search::search;
pub use set_network::set_network;
pub use sign_out::sign_out;
pub use steer_input::steer_input;
pub use submit_input::submit_input;
pub use take_back_input::take_back_input;
pub use test_provider::test_provider;
pub use unlink_pods::unlink_pods;

/// Records of the first paint.
pub const TAIL_RECORDS: u32 = 200;

#[cfg(feature = "ssr")]
mod door {
    use axum::http::StatusCode;
    use backend::{Backend, Origin, Session};
    use leptos::prelude::use_context;
    use protocol::{ApiError, ErrorCode, Record};

    use crate::UiError;

    /// Who asks, and the door. Both are put into the context by the binary, for pages and for server functions.
    pub(super) fn caller() -> Result<(Backend, Origin), UiError> {
        match (use_context::<Backend>(), use_context::<Origin>()) {
            (Some(backend), Some(origin)) => Ok((backend, origin)),
            _ => Err(UiError::new(ErrorCode::Internal, "this server has no Pods")),
        }
    }

    /// The browser's login, when the request came with one.
    pub(super) fn login() -> Option<Session> {
        use_context::<axum::http::request::Parts>()?.extensions.get::<Session>().cloned()
    }

    /// Gives the answer the HTTP status that the API would give. For a page that the server renders it becomes the
    /// page's: an unknown Pod is a 404 page.
    pub(super) fn answer<T>(done: Result<T, ApiError>) -> Result<T, UiError> {
        if let Err(error) = &done {
            let options = use_context::<leptos_axum::ResponseOptions>();
            if let (Some(options), Ok(status)) = (options, StatusCode::from_u16(error.code.status())) {
                options.set_status(status);
            }
        }
        Ok(done?)
    }

    /// Records come encoded from the store; the page needs them as values.
    pub(super) fn decode<B: AsRef<[u8]>>(records: &[B]) -> Result<Vec<Record>, ApiError> {
        records.iter().map(|record| serde_json::from_slice(record.as_ref())).collect::<Result<_, _>>().map_err(
            |error| ApiError::new(ErrorCode::Internal, format!("a record in the journal is unreadable: {error}")),
        )
    }
}
