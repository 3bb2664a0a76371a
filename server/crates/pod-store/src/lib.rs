//! The only SQL in yoi: Pods and who leads them, journal, inbox, mail, commands, sessions, search, audit, on SQLite and
//! on PostgreSQL.
//!
//! All writes go through one journal writer. It takes whatever has gathered, commits it in one transaction, answers
//! everyone, and takes the next: no timer, so a lone record waits for nothing and many Pods share one commit.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod batch;
mod chore;
mod columns;
mod engine;
mod error;
mod faults;
mod group;
mod heads;
mod options;
mod plan;
mod postgres;
mod reads;
mod rows;
mod sqlite;
mod store;
mod tables;
mod words;
mod writer;

pub use batch::{
    Batch, Checkpoint, Committed, Fold, LoanChange, NewPod, NewRecord, ParentLink, PodChange, PodUpdate, RecordClass,
    SearchText,
};
pub use error::StoreError;
pub use faults::{Faults, Step};
pub use options::{Database, StoreOptions};
pub use rows::{ChildRow, CommandRow, InboxRow, MailPut, MailRow, ParentRow, PodKey, PodRow, SearchRow, StoredRecord};
pub use store::Store;
