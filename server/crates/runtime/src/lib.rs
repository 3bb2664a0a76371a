//! Hosts Pods: one task per working Pod, effects, the live feed, recovery.
//!
//! Commit, then show, then act (I2): nothing reaches a viewer or the world before its record is on the disk.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod about;
mod approvals;
mod asked;
mod clock;
mod command;
mod create;
mod cursor;
mod encode;
mod error;
mod export;
mod far;
mod feed;
mod find;
mod ground;
mod heavy;
mod history;
mod hold;
mod host;
mod hosts;
mod import;
mod lead;
mod list;
mod looking_in;
mod mail;
mod names;
mod observe;
mod peers;
mod place;
mod pod_task;
mod pod_tools;
mod recipe;
mod records;
mod recovery;
mod usage;
mod view;
mod viewer;
mod watchdog;

pub use about::{about_answer, about_call};
pub use command::{CommandKey, Figures, Origin, PodQuery, Readiness, SearchQuery};
pub use export::Export;
pub use far::{FarName, FarNames, FarPod, link_card};
pub use ground::DatabaseState;
pub use host::{Claimed, FamilyLimits, Host, HostOptions, Profile, Walls};
pub use observe::{FeedItem, Observation, PodsItem, PodsObservation, RecordForm, RecordPage};
pub use peers::Introduced;
pub use pod::{Protected, rules_refusal};
pub use pod_store::{AuditFilter, SessionRow};
pub use usage::{USAGE_DAYS_MAX, USAGE_LISTED_MAX};
pub use watchdog::watched;
