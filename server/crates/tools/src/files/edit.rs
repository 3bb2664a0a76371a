//! Edit: replaces a passage of a file.

use pod::ToolOutcome;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{
    content,
    diff::diff,
    failure::Failure,
    preview::Preview,
    seen,
    target::{Missing, Target},
    work::{FileTool, Work, parsed},
    write::check_size,
};

/// Changes part of a file.
#[derive(Debug, Clone, Copy)]
pub struct Edit;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The file, absolute or relative to the working directory.
    path: String,
    /// The passage to replace, exactly as it is in the file, without line numbers.
    old: String,
    /// The replacement; may be empty.
    new: String,
    /// Replace every occurrence; otherwise `old` must occur exactly once.
    #[serde(default)]
    replace_all: Option<bool>,
}

impl FileTool for Edit {
    const NAME: &str = "Edit";
    const DESCRIPTION: &str = "Replaces a passage of a text file that was read before. `old` must match exactly, including spaces, and \
         occur only once unless replace_all is set: include as many surrounding lines as that takes. The line endings of \
         the file are kept.";
    type Arguments = Arguments;

    fn run(work: &Work, arguments: &Arguments) -> Result<ToolOutcome, Failure> {
        check_passages(arguments)?;
        let target = Target::find(work, &work.absolute(&arguments.path)?, Missing::Refused)?;
        let file = target.present()?.ok_or_else(|| Failure::NotFound(target.asked.clone()))?;
        let bytes = content::bytes(&file, &target.asked)?;
        let old = content::text(&bytes, &target.asked)?;
        seen::require(work, &target.path, &target.asked, &bytes)?;
        let new = changed(old, arguments, &target.asked)?;
        check_size(&new)?;
        target.replace(&new, Some(&file))?;

        let diff = diff(&target.asked, Some(old), &new);
        let summary = format!("edited {}: +{} −{}", target.asked, diff.added, diff.removed);
        let seen = Some(seen::file(&target.path, new.as_bytes()));
        Ok(ToolOutcome { diff: diff.text, seen, ..ToolOutcome::done(summary) })
    }
}

/// What the call would do now.
pub(super) fn preview(work: &Work, arguments: Value) -> Result<Preview, Failure> {
    let arguments: Arguments = parsed(Edit::NAME, arguments)?;
    check_passages(&arguments)?;
    let target = Target::find(work, &work.absolute(&arguments.path)?, Missing::Refused)?;
    let file = target.present()?.ok_or_else(|| Failure::NotFound(target.asked.clone()))?;
    let bytes = content::bytes(&file, &target.asked)?;
    let old = content::text(&bytes, &target.asked)?;
    let new = changed(old, &arguments, &target.asked)?;
    check_size(&new)?;
    let places = old.matches(in_line_endings_of(old, &arguments.old, "").0.as_str()).count();
    let refusal = seen::require(work, &target.path, &target.asked, &bytes).err();
    Ok(Preview::change(diff(&target.asked, Some(old), &new), places, refusal))
}

fn check_passages(arguments: &Arguments) -> Result<(), Failure> {
    if arguments.old.is_empty() {
        return Err(Failure::InvalidInput(
            "old: it is empty; give the passage to replace, or use Write for a whole file".to_owned(),
        ));
    }
    if arguments.old == arguments.new {
        return Err(Failure::InvalidInput("new: it is the same as `old`, so nothing would change".to_owned()));
    }
    Ok(())
}

/// The text with the passage replaced.
fn changed(text: &str, arguments: &Arguments, asked: &str) -> Result<String, Failure> {
    let (old, new) = in_line_endings_of(text, &arguments.old, &arguments.new);
    match (text.matches(old.as_str()).count(), arguments.replace_all.unwrap_or(false)) {
        (0, _) => Err(Failure::NoMatch { path: asked.to_owned() }),
        (count, false) if count > 1 => Err(Failure::NotUnique { path: asked.to_owned(), count }),
        _ => Ok(text.replace(old.as_str(), &new)),
    }
}

/// A model sees and writes plain line breaks. In a file whose lines all end in CR LF, its passages are converted to
/// that.
fn in_line_endings_of(text: &str, old: &str, new: &str) -> (String, String) {
    let breaks = text.matches('\n').count();
    if breaks == 0 || breaks != text.matches("\r\n").count() {
        return (old.to_owned(), new.to_owned());
    }
    let with_cr = |passage: &str| passage.replace("\r\n", "\n").replace('\n', "\r\n");
    (with_cr(old), with_cr(new))
}
