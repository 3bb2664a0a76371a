//! Write: a whole file, new or replacing one that was read.

use pod::ToolOutcome;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{
    content,
    diff::diff,
    failure::Failure,
    page::noun,
    preview::Preview,
    seen,
    target::{Missing, Target},
    work::{FileTool, Work, parsed},
};

/// No tool writes a larger file.
pub(super) const CONTENT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Writes a whole file.
#[derive(Debug, Clone, Copy)]
pub struct Write;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The file, absolute or relative to the working directory. Missing folders are created.
    path: String,
    /// The whole content of the file, at most 4 MiB.
    content: String,
}

impl FileTool for Write {
    const NAME: &str = "Write";
    const DESCRIPTION: &str = "Writes a whole text file: a new one, or a replacement for one whose current content was read before. To change \
         part of a file, prefer Edit: it is shorter and safer.";
    type Arguments = Arguments;

    fn run(work: &Work, arguments: &Arguments) -> Result<ToolOutcome, Failure> {
        write(work, arguments, true)
    }
}

/// Writes the file. `reads_first`: the caller must have seen what the file contains now.
pub(super) fn write(work: &Work, arguments: &Arguments, reads_first: bool) -> Result<ToolOutcome, Failure> {
    let new = arguments.content.as_str();
    check_size(new)?;
    let target = Target::find(work, &work.absolute(&arguments.path)?, Missing::Made)?;
    let old = target.present()?;
    let bytes = old.as_ref().map(|file| content::bytes(file, &target.asked)).transpose()?;
    let old_text = bytes.as_deref().map(|bytes| content::text(bytes, &target.asked)).transpose()?;
    if let Some(bytes) = bytes.as_ref().filter(|_| reads_first) {
        seen::require(work, &target.path, &target.asked, bytes)?;
    }
    target.replace(new, old.as_ref())?;

    let diff = diff(&target.asked, old_text, new);
    let lines = new.lines().count();
    let kind = match old_text {
        None => "new".to_owned(),
        Some(_) => format!("+{} −{}", diff.added, diff.removed),
    };
    Ok(ToolOutcome {
        diff: diff.text,
        seen: Some(seen::file(&target.path, new.as_bytes())),
        ..ToolOutcome::done(format!("wrote {}, {lines} {} ({kind})", target.asked, noun(lines)))
    })
}

/// What the call would do now.
pub(super) fn preview(work: &Work, arguments: Value) -> Result<Preview, Failure> {
    let arguments: Arguments = parsed(Write::NAME, arguments)?;
    let new = arguments.content.as_str();
    check_size(new)?;
    let target = match Target::find(work, &work.absolute(&arguments.path)?, Missing::Refused) {
        Err(Failure::NotFound(path)) => return Ok(Preview::new_file(diff(&path, None, new), new)),
        found => found?,
    };
    let Some(file) = target.present()? else {
        return Ok(Preview::new_file(diff(&target.asked, None, new), new));
    };
    let bytes = content::bytes(&file, &target.asked)?;
    let old = content::text(&bytes, &target.asked)?;
    let refusal = (!work.reads_itself).then(|| seen::require(work, &target.path, &target.asked, &bytes).err());
    Ok(Preview::change(diff(&target.asked, Some(old), new), 1, refusal.flatten()))
}

/// Checks whether `content` may be written.
pub(super) fn check_size(content: &str) -> Result<(), Failure> {
    match content.len() > CONTENT_BYTES_MAX {
        false => Ok(()),
        true => Err(Failure::InvalidInput(format!(
            "content: it would have {} bytes, and at most {CONTENT_BYTES_MAX} are written; split it into several files",
            content.len()
        ))),
    }
}
