//! From a Pod's records to what is drawn: one reducer for the browser, the server's first paint and the terminal.
//!
//! Pure: no clock, no I/O, no HTML. [`Transcript`] turns records into [`Block`]s, [`markup`] turns Markdown into a
//! typed tree, [`ansi`] turns a program's output into styled spans, [`words`] and [`export`] render things as text.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod ansi;
mod block;
pub mod call;
mod change;
mod complete;
pub mod export;
pub mod group;
mod last_words;
pub mod markup;
mod reach;
mod reduce;
mod rows;
mod snippet;
pub mod unseen;
pub mod words;

pub use block::{
    ApprovalState, Block, BlockId, BlockKind, ChildStep, CutRecord, PersonState, Receipt, RelationStep, Status,
    ToolResult,
};
pub use change::Change;
pub use export::{export_markdown, plain_text, record_text};
pub use last_words::last_words;
pub use reduce::{PodStatus, Transcript};
pub use rows::OPEN_BLOCKS_MAX;
pub use snippet::snippet_words;
