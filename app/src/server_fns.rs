//! The browser's way to the server: for each verb one thin function under `/fn` that forwards to
//! [`backend::Backend`], in one file per noun.
//!
//! The names are stable. Nothing is decided here: the API's handlers carry out the same operations.

mod approvals;
mod audit;
mod background;
mod board;
mod changes;
mod formulas;
mod highlight;
mod input;
mod own;
mod peers;
mod pods;
mod previews;
#[cfg(feature = "ssr")]
mod print_part;
#[cfg(feature = "ssr")]
mod read_back;
mod relations;
mod runtimes;
mod search;
mod settings;
mod terminal;
mod transcript;
mod usage;

#[cfg(feature = "ssr")]
pub(crate) use formulas::draw as draw_formula_now;
#[cfg(feature = "ssr")]
pub(crate) use highlight::Budget;
#[cfg(feature = "ssr")]
pub(crate) use print_part::{PrintPart, print_part};
pub use {
    approvals::{answer_approval, answer_approvals, asked_change, open_approvals, pod_approvals},
    audit::{AuditAsked, list_audit},
    background::{command_output, list_commands, stop_command},
    board::{BoardFound, read_board},
    changes::{
        ChangesData, changed_files, keep_drafts, pod_changes, revert_change, review_changes, review_drafts,
        rewind_preview, undo_revert,
    },
    formulas::{FORMULAS_MAX, draw_formulas},
    highlight::{BLOCKS_MAX, CODE_BYTES_MAX, CODE_LINES_MAX, CodeText, KINDS, Run, highlight},
    input::{
        attach_resource, fitting_files, fitting_resources, interrupt_pod, list_prompts, make_prompt, steer_input,
        submit_input, take_back_input,
    },
    own::{expand_own, list_own},
    peers::{
        ExchangeData, decide_held, decide_request, introduce_pods, open_requests, pod_exchange, pod_peers, unlink_pods,
    },
    pods::{
        Choices, change_pod, change_worktree, commit_changes, compaction_preview, control_pod, create_pod, delete_pod,
        find_folders, fork_pod, list_pods, new_pod_choices, pod_detail, resolve, restore_pod, rewind_pod, run_tool,
    },
    previews::{close_preview, list_previews, open_preview},
    relations::{Loan, PeerPair, Program, RelationsFound, relations},
    runtimes::{add_runtime, list_runtimes, remove_runtime},
    search::search,
    settings::{
        ProvidersFound, SettingsFound, forget_key, list_agents, list_providers, list_servers, log_in_to_server,
        log_out_of_server, read_settings, remove_rule, restart_server, server_log, set_key, sign_out, test_provider,
    },
    terminal::find_terminal,
    transcript::{OlderPage, PodPageData, load_pod, older_records},
    usage::read_usage,
};

/// How many records come with the first paint.
pub const TAIL_RECORDS: u32 = 200;

#[cfg(feature = "ssr")]
mod door {
    use axum::http::StatusCode;
    use backend::{Backend, Origin, ReturnAddress, Session};
    use leptos::prelude::use_context;
    use protocol::{
        ApiError, CommandId, ErrorCode, Record,
        operations::{ToCommand, ToQuery},
    };
    pub(super) use protocol::{operation, operations};

    use crate::UiError;

    /// The backend and the origin of the request. The binary puts both into the context, for pages and for server
    /// functions.
    pub(super) fn caller() -> Result<(Backend, Origin), UiError> {
        match (use_context::<Backend>(), use_context::<Origin>()) {
            (Some(backend), Some(origin)) => Ok((backend, origin)),
            _ => Err(UiError::new(ErrorCode::Internal, "this server has no Pods")),
        }
    }

    /// Carries out a command on behalf of the caller.
    pub(super) async fn carry_out<C: ToCommand>(id: CommandId, command: C) -> Result<C::Answer, UiError> {
        let (backend, origin) = caller()?;
        answer(backend.carry_out(&origin, id, command).await)
    }

    /// Reads something on behalf of the caller.
    pub(super) async fn read<Q: ToQuery>(query: Q) -> Result<Q::Answer, UiError> {
        let (backend, _) = caller()?;
        answer(backend.read(query).await)
    }

    /// The browser's login, if the request has one.
    pub(super) fn login() -> Option<Session> {
        use_context::<axum::http::request::Parts>()?.extensions.get::<Session>().cloned()
    }

    /// Where the browser comes back to after a login elsewhere.
    pub(super) fn return_address() -> Result<ReturnAddress, UiError> {
        let parts = use_context::<axum::http::request::Parts>();
        let address = parts.and_then(|parts| parts.extensions.get::<ReturnAddress>().cloned());
        address.ok_or_else(|| UiError::new(ErrorCode::Internal, "the address of this page is not known"))
    }

    /// Sets the HTTP status that the API would return. When the server renders a page, this becomes the page's
    /// status: an unknown Pod gives a 404 page.
    pub(super) fn answer<T>(done: Result<T, ApiError>) -> Result<T, UiError> {
        if let Err(error) = &done {
            let options = use_context::<leptos_axum::ResponseOptions>();
            if let (Some(options), Ok(status)) = (options, StatusCode::from_u16(error.code.status())) {
                options.set_status(status);
            }
        }
        Ok(done?)
    }

    /// Decodes records, which the store returns encoded.
    pub(super) fn decode<B: AsRef<[u8]>>(records: &[B]) -> Result<Vec<Record>, ApiError> {
        records.iter().map(|record| serde_json::from_slice(record.as_ref())).collect::<Result<_, _>>().map_err(
            |error| ApiError::new(ErrorCode::Internal, format!("a record in the journal is unreadable: {error}")),
        )
    }
}
