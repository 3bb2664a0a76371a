//! The one door to everything that Pods can be asked: see [`Backend`].

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod codes;
mod door;
mod embedded;
mod gathered;
mod kept;
mod kept_keys;
mod lines;
mod link_way;
mod port;
mod previews;
mod private_file;
mod random;
mod registry;
mod remote;
mod sessions;
mod sums;
mod terminals;
mod terms;

pub use mcp::LoginAnswer;
pub use runtime::{
    DatabaseState, Export, FeedItem, Observation, Origin, PodToken, PodTokens, PodToolView, PodsItem, PodsObservation,
    Readiness, RecordForm, RecordPage, TokenHolder, watched,
};

pub use crate::{
    codes::{CODE_LIFE, Codes},
    door::{
        Backend, BackendOptions, ExportFormat, ExportText, MCP_CALLBACK, MCP_CLIENT, NotStarted, ReturnAddress,
        redirect_uri,
    },
    kept_keys::{KeptKeys, KeysUnread},
    link_way::{LinkFailure, LinkWay},
    port::{RuntimePort, pod_query, second, whole},
    previews::{Guest, OpenPreview, PREVIEW_ENTER},
    private_file::write_private,
    registry::{Entry, EntryKind, Registry},
    sessions::{SESSION_SECONDS, Session, SessionSecret},
    terminals::{Shell, ShellInput, ShellOutput, ShellProcess, TerminalOptions, TerminalSeat},
    terms::Terms,
};
