//! The frames of the event socket.

use serde::{Deserialize, Serialize};

use crate::{PodRef, PodSummary, Record, Timestamp};

/// What a client sends on the socket. The socket observes; commands are sent by POST.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum ClientFrame {
    /// Either `pods: true` for the list, or `pod` for one Pod.
    Subscribe {
        id: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pods: Option<bool>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pod: Option<PodRef>,
        /// Continue after this cursor; begin with a snapshot when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<String>,
        /// How many of the newest records a snapshot contains; 200 by default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tail: Option<u32>,
    },
    Unsubscribe {
        id: String,
    },
    Ping {},
}

/// What the server sends on the socket, and in the `data` of each SSE event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ServerFrame {
    Hello {
        protocol: u32,
        server: String,
        heartbeat_ms: u64,
        /// Changes when the server comes with another build of the console.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        build: Option<String>,
    },
    Snapshot {
        id: String,
        cursor: String,
        summary: Box<PodSummary>,
        records: Vec<Record>,
        /// Older records exist; `GET P/transcript?before=` has them.
        has_more: bool,
    },
    Records {
        id: String,
        after: String,
        cursor: String,
        records: Vec<Record>,
    },
    Pods {
        id: String,
        revision: u64,
        /// `upserts` is the whole list.
        snapshot: bool,
        upserts: Vec<PodSummary>,
        removed: Vec<PodRef>,
    },
    Diagnostic {
        id: Option<String>,
        code: DiagnosticCode,
        detail: String,
    },
    Closed {
        id: String,
        reason: String,
    },
    Pong {},
    Heartbeat {
        at: Timestamp,
    },
}

/// Why the server sends a diagnostic on a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum DiagnosticCode {
    CursorInvalid,
    CursorExpired,
    Lagged,
    CommandOnSocket,
    BadFrame,
    TooManySubscriptions,
    PodNotFound,
    PodGone,
    RuntimeUnavailable,
    Unauthorized,
}

impl DiagnosticCode {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CursorInvalid => "cursor_invalid",
            Self::CursorExpired => "cursor_expired",
            Self::Lagged => "lagged",
            Self::CommandOnSocket => "command_on_socket",
            Self::BadFrame => "bad_frame",
            Self::TooManySubscriptions => "too_many_subscriptions",
            Self::PodNotFound => "pod_not_found",
            Self::PodGone => "pod_gone",
            Self::RuntimeUnavailable => "runtime_unavailable",
            Self::Unauthorized => "unauthorized",
        }
    }
}
