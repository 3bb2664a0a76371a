//! The transcript: a list of blocks, one file for each kind.

mod alert;
mod approval;
mod arrivals;
mod assistant;
mod block;
mod changes;
pub(crate) mod code;
mod context;
mod cut;
mod diff;
pub(crate) mod find;
mod linked;
mod list;
mod markup;
mod notes;
mod output;
mod peer;
mod person;
mod presence;
mod reads;
mod reasoning;
mod relation;
mod rows;
mod run_end;
mod sent;
mod tool;
mod tool_line;
mod turn;
mod unknown;
mod window;

pub(crate) use arrivals::Arrivals;
pub(crate) use code::CodeBlock;
pub(crate) use context::{PodContext, Returned, use_pod};
pub(crate) use diff::DiffView;
#[cfg(feature = "ssr")]
pub(crate) use diff::diff_lines;
pub(crate) use linked::provide_linked;
pub(crate) use list::{KEPT_BLOCKS_MAX, TranscriptPane, complete_beginning};
pub(crate) use markup::Markup;
#[cfg(feature = "ssr")]
pub(crate) use markup::whole as markup_whole;
pub(crate) use notes::rule_words;
#[cfg(feature = "ssr")]
pub(crate) use output::output_lines;
pub(crate) use person::rewind;
pub(crate) use presence::Presence;
pub(crate) use rows::{Leaving, Rows};
#[cfg(feature = "hydrate")]
pub(crate) use window::View;
