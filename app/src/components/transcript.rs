//! The transcript: a list of blocks, one file for each kind.

mod alert;
mod approval;
mod assistant;
mod block;
mod changes;
mod code;
mod context;
mod diff;
mod list;
mod markup;
mod notes;
mod output;
mod peer;
mod person;
mod reasoning;
mod relation;
mod rows;
mod run_end;
mod sent;
mod tool;
mod tool_line;
mod turn;
mod unknown;

pub(crate) use code::CodeBlock;
pub(crate) use context::{PodContext, Returned, use_pod};
pub(crate) use diff::DiffView;
pub(crate) use list::{TranscriptPane, complete_beginning};
pub(crate) use markup::Markup;
pub(crate) use notes::rule_words;
pub(crate) use person::rewind;
pub(crate) use rows::{Leaving, Row, Rows};
