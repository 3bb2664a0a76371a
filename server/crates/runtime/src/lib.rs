//! Hosts Pods: one task per running Pod, effects, the live feed, recovery.
//!
//! Commit, then publish, then act (I2): nothing reaches a viewer or the outside world before its record is on the disk.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod about;
mod actor;
mod agents;
mod approvals;
mod asked;
mod blobs;
mod changes;
mod clock;
mod cluster;
mod command;
mod create;
mod cursor;
mod encode;
mod error;
mod export;
mod family;
mod find;
mod folders;
mod git;
mod git_watch;
mod ground;
pub mod heavy;
mod history;
mod hold;
mod host;
mod import;
mod limits;
mod list;
mod looking_in;
mod mail;
mod meters;
mod names;
mod observe;
mod options;
mod peers;
mod pod_tokens;
mod pod_tools;
mod recipe;
mod records;
mod rules;
mod session_files;
mod spans;
mod trees;
mod usage;
mod view;
mod walls;
mod watchdog;

pub use about::{about_answer, about_call};
pub use command::{CommandKey, Origin, PodQuery, Readiness, SearchQuery};
pub use export::Export;
pub use ground::DatabaseState;
pub use host::{Claimed, Health, Host, PodToolView, Settings};
pub use observe::{FeedItem, Observation, PodsItem, PodsObservation, RecordForm, RecordPage};
pub use options::{HostOptions, Profile};
pub use peers::{FarName, FarNames, FarPod, Introduced, link_card};
pub use pod::{Protected, rules_refusal};
pub use pod_store::{AuditFilter, SessionRow};
pub use pod_tokens::{PodToken, PodTokens, TokenHolder};
pub use session_files::{Glance, glance};
pub use usage::{USAGE_DAYS_MAX, USAGE_LISTED_MAX};
pub use walls::Walls;
pub use watchdog::watched;
