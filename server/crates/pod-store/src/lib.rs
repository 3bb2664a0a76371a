//! The only SQL in yoi: Pods, their parents and peers, journals, inboxes, mail, messages, commands, sessions, search,
//! audit, pictures and files, on SQLite and on PostgreSQL.
//!
//! All writes go through one journal writer. It takes whatever has gathered, commits it in one transaction, answers
//! everyone, and takes the next. There is no timer, so a lone record waits for nothing, and many Pods share one commit.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod batch;
mod blobs;
mod checksum;
mod chore;
mod claims;
mod columns;
mod engine;
mod error;
mod far;
mod far_changes;
mod faults;
mod heads;
mod hosts;
mod inspect;
mod membership;
mod messages;
mod meters;
mod on_the_spot;
mod options;
mod outage;
mod peer_columns;
mod peer_plan;
mod peers;
mod postgres;
mod reader;
mod rows;
mod rules;
mod search;
mod sessions;
mod sqlite;
mod statement;
mod step;
mod store;
mod txn;
mod usage;
#[cfg(feature = "shared-file")]
mod way;
mod wire;
mod words;
mod writer;

pub use batch::{
    Batch, Checkpoint, Committed, Fold, LoanChange, NewPod, NewRecord, ParentLink, PodChange, PodUpdate, RecordClass,
    SearchText,
};
pub use blobs::BlobRow;
pub use error::StoreError;
pub use far::{FarCardRow, FarChange, FarMessageRow, FarPeerRow, FarPosition, FarReceipt, FarState};
pub use faults::Faults;
pub use hosts::{Followed, ForeignPod, HostCall, HostIdentity, HostRow, Moves, WakeUps, Whereabouts};
pub use messages::{MessageChange, MessageRow, NewMessage};
pub use on_the_spot::{wait_on_the_spot, waits_on_the_spot};
pub use options::{DamagedRecord, DamagedRecords, Database, Inspection, Probe, StoreOptions};
pub use outage::{Failures, Health, OUTAGE_WAIT_MAX, Outage, OutageKind, Patience};
pub use peers::{NewRequest, PairRow, PeerChange, PeerLinkRow, RequestRow};
pub use rows::{
    AuditFilter, ChildRow, CommandRow, FoundRecord, InboxRow, MailPut, MailRow, ParentRow, PodGroup, PodKey, PodRow,
    Portion, SearchRow, StoredRecord,
};
pub use rules::{RuleChange, RuleRow};
pub use search::SearchFilter;
pub use sessions::{SESSIONS_LISTED_MAX, SessionRow};
#[cfg(feature = "shared-file")]
pub use sqlite::{LeaseEvent, LeaseLine, lease_log};
pub use step::Step;
pub use store::{
    Audit, Blobs, Census, Commands, Family, Far, Hosts, Inboxes, Journals, Messages, Peers, Pods, Rules, Search,
    Sessions, Store, Usage,
};
pub use usage::{DayTokens, LinkTokens, ModelTokens, PodTokens, Spent, Tokens, UsageRows};
#[cfg(feature = "shared-file")]
pub use way::Way;
