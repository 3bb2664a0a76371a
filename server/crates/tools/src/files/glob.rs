//! Glob: lists files.

use std::ops::ControlFlow;

use pod::ToolOutcome;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    failure::Failure,
    open,
    path::beneath,
    walk::{self, Walk, Walked},
    work::{FileTool, Work},
};

const PATHS_MAX: usize = 500;

/// Lists files by a pattern.
#[derive(Debug, Clone, Copy)]
pub struct Glob;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// A pattern for paths beneath `path`: `*` within a name, `**` across folders, `{a,b}` for either.
    pattern: String,
    /// The folder to look in; the working directory when absent.
    #[serde(default)]
    path: Option<String>,
}

impl FileTool for Glob {
    const NAME: &str = "Glob";
    const DESCRIPTION: &str = "Lists files whose path matches a pattern such as **/*.rs, sorted, at most 500. Files that git ignores are left \
         out, and so are hidden files, unless the pattern names them.";
    type Arguments = Arguments;

    fn run(work: &Work, arguments: &Arguments) -> Result<ToolOutcome, Failure> {
        let matcher = walk::glob("pattern", &arguments.pattern)?;
        let path = work.absolute(arguments.path.as_deref().unwrap_or("."))?;
        let folder = open::open(work, &path)?;
        if !folder.kind().is_dir() {
            return Err(Failure::InvalidInput(format!(
                "path: {} is not a folder; give the one it is in",
                work.shown(&path)
            )));
        }
        let walk = Walk { root: folder.path, hidden: walk::names_hidden(&arguments.pattern) };
        let mut found = Vec::new();
        let walked = walk.files(work, |path| {
            let matches = beneath(&walk.root, path).is_some_and(|rest| matcher.is_match(rest));
            // Opened only to make sure that it exists, is in the scope, and is a file; a link may lead to anything.
            if matches && open::open(work, path).is_ok_and(|file| file.kind().is_file()) {
                if found.len() == PATHS_MAX {
                    return Ok(ControlFlow::Break(()));
                }
                found.push(work.shown(path));
            }
            Ok(ControlFlow::Continue(()))
        })?;
        found.sort();
        Ok(outcome(&arguments.pattern, &found, walked))
    }
}

fn outcome(pattern: &str, found: &[String], walked: Walked) -> ToolOutcome {
    let note = match walked {
        Walked::All => "",
        Walked::Stopped => ", and there are more: narrow the pattern",
        Walked::TooMuch => ", and not all folders were looked at: name one as `path`",
    };
    let noun = if found.len() == 1 { "file matches" } else { "files match" };
    let summary = format!("{} {noun} {pattern}{note}", found.len());
    let content = (!found.is_empty()).then(|| found.join("\n"));
    ToolOutcome { content, ..ToolOutcome::done(summary) }
}
