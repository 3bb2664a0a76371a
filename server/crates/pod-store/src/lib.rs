//! The only SQL in yoi: journal, inbox, commands, sessions, search, audit, on SQLite and on PostgreSQL.
//!
//! All writes go through one journal writer. It takes whatever has gathered, commits it in one transaction, answers
//! everyone, and takes the next: no timer, so a lone record waits for nothing and many Pods share one commit.

mod batch;
mod error;
mod faults;
mod rows;

pub use batch::{Batch, Checkpoint, Committed, Fold, NewPod, NewRecord, PodChange, PodUpdate, RecordClass, SearchText};
pub use error::StoreError;
pub use faults::{Faults, Step};
pub use rows::{CommandRow, InboxRow, PodKey, PodRow, SearchRow, StoredRecord};
