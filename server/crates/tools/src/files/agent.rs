//! Read and Write for an agent, which also reads files by itself: the text is unchanged, and it does not matter what
//! was read before. The scope and the protected files apply as always.

use std::sync::Arc;

use pod::ToolOutcome;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    content,
    failure::Failure,
    open,
    page::noun,
    work::{FileTool, Work},
    write,
};
use crate::Tool;

/// Returns the agent's version of this tool, or `None` if all callers share one version.
pub fn for_agent(name: &str) -> Option<Arc<dyn Tool>> {
    match name {
        PlainRead::NAME => Some(Arc::new(PlainRead)),
        Overwrite::NAME => Some(Arc::new(Overwrite)),
        _ => None,
    }
}

/// Reads a file's text without line numbers.
#[derive(Debug, Clone, Copy)]
struct PlainRead;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Lines {
    path: String,
    /// The line to begin at, from 1.
    #[serde(default)]
    offset: Option<u64>,
    #[serde(default)]
    limit: Option<u64>,
}

impl FileTool for PlainRead {
    const NAME: &str = "Read";
    const DESCRIPTION: &str = "Gives a text file, or some lines of it.";
    type Arguments = Lines;

    fn run(work: &Work, arguments: &Lines) -> Result<ToolOutcome, Failure> {
        let path = work.absolute(&arguments.path)?;
        let asked = work.shown(&path);
        let bytes = content::bytes(&open::open(work, &path)?, &asked)?;
        let text = content::text(&bytes, &asked)?;
        let from = arguments.offset.unwrap_or(1).saturating_sub(1);
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        let limit = arguments.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
        let part: String = text.split_inclusive('\n').skip(from).take(limit).collect();
        let lines = part.lines().count();
        Ok(ToolOutcome::done(format!("read {asked}, {lines} {}", noun(lines))).with_content(part))
    }
}

/// Writes a whole file, whatever it contained.
#[derive(Debug, Clone, Copy)]
struct Overwrite;

impl FileTool for Overwrite {
    const NAME: &str = "Write";
    const DESCRIPTION: &str = "Writes a whole text file.";
    type Arguments = write::Arguments;

    fn run(work: &Work, arguments: &write::Arguments) -> Result<ToolOutcome, Failure> {
        write::write(work, arguments, false)
    }
}
