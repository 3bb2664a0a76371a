//! The transcript: a list of blocks, one file for each kind.

mod again;
mod alert;
mod approval;
mod arrivals;
mod assistant;
mod attached;
pub(crate) mod background;
mod block;
mod changes;
mod cut;
pub(crate) mod find;
mod finished;
mod linked;
mod list;
mod markup;
mod notes;
mod peer;
mod person;
mod reads;
mod reasoning;
mod relation;
mod run_end;
mod sent;
mod tool;
mod tool_line;
mod turn;
mod unknown;

pub(crate) use arrivals::Arrivals;
pub(crate) use linked::provide_linked;
pub(crate) use list::{KEPT_BLOCKS_MAX, TranscriptPane, complete_beginning, ready};
pub(crate) use markup::Markup;
#[cfg(feature = "ssr")]
pub(crate) use markup::whole as markup_whole;
pub(crate) use notes::rule_words;
pub(crate) use person::rewind;
