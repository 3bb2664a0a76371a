//! The message of a review, with the lines that its comments are about.

use std::collections::HashMap;

use ::changes::{Remark, is_text, message as worded};
use protocol::{ApiError, ReviewCommand};
use tools::files::{named, read_file};

use super::{Folders, refused};

/// The message that the Pod gets. A line that is not there is not quoted. Blocks.
///
/// # Errors
/// `scope_not_held`: a path outside of what the Pod may write. `invalid_input`: no path at all.
pub(crate) fn message(folders: &Folders, review: &ReviewCommand) -> Result<String, ApiError> {
    let mut texts: HashMap<String, Option<String>> = HashMap::new();
    let mut remarks = Vec::new();
    for comment in &review.comments {
        let path = named(&folders.cwd, &comment.path).map_err(refused)?;
        if !texts.contains_key(&path) {
            let content = match read_file(&folders.cwd, &folders.scope, &path) {
                Ok(content) => content,
                Err(error) if error.code == "permission_denied" => return Err(refused(error)),
                // What is no text, or too long, can be commented on and not quoted.
                Err(_) => None,
            };
            let text = content.and_then(|content| is_text(&content.bytes).map(str::to_owned));
            texts.insert(path.clone(), text);
        }
        let line = usize::try_from(comment.line).unwrap_or(usize::MAX);
        let text = texts.get(&path).and_then(Option::as_deref);
        let quoted = text.and_then(|text| text.lines().nth(line - 1)).map(str::to_owned);
        remarks.push(Remark { path, line: comment.line, quoted, text: comment.text.clone() });
    }
    Ok(worded(&remarks, review.text.as_deref()))
}
