//! Count: how long a file is.

use pod::ToolOutcome;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    content,
    failure::Failure,
    open,
    work::{FileTool, Work},
};

/// Counts the lines and bytes of a text file.
#[derive(Debug, Clone, Copy)]
pub struct Count;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The file, from the working directory or absolute.
    path: String,
}

impl FileTool for Count {
    const NAME: &str = "Count";
    const DESCRIPTION: &str = "Says how many lines and bytes a text file has.";
    type Arguments = Arguments;

    fn run(work: &Work, arguments: &Arguments) -> Result<ToolOutcome, Failure> {
        let path = work.absolute(&arguments.path)?;
        let asked = work.shown(&path);
        let file = open::open(work, &path)?;
        let bytes = content::bytes(&file, &asked)?;
        let lines = content::text(&bytes, &asked)?.lines().count();
        Ok(ToolOutcome::done(format!("{asked} has {lines} lines, {} bytes", bytes.len())))
    }
}
