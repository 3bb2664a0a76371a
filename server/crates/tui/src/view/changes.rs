//! What has changed in a Pod's folders, as a diff that is scrolled.

use protocol::{FileChange, FileStatus};
use ratatui::{style::Stylize, text::Line};
use transcript::unseen;

use super::diff;
use crate::{
    model::Changed,
    wrap::{fit, wrap},
};

/// All lines of the sheet.
pub(crate) fn lines(changed: &Changed, width: u16) -> Vec<Line<'static>> {
    let width = usize::from(width);
    let Some(changes) = &changed.changes else { return vec![Line::from("Reading the files …").dim()] };
    let left_out = changes.left_out.iter().map(|one| format!("{} is left out: {}", one.path, one.why));
    let notes = changes.notes.iter().cloned().chain(left_out);
    let notes = notes.flat_map(|note| wrap(&unseen::shown(&note), width)).map(|line| Line::from(line).dim());
    let files = changes.files.iter().flat_map(|file| of_file(file, width));
    let nothing = changes.files.is_empty().then(|| Line::from("Nothing has changed.").dim());
    nothing.into_iter().chain(files).chain(notes).collect()
}

fn of_file(file: &FileChange, width: usize) -> Vec<Line<'static>> {
    let word = match file.status {
        FileStatus::Added => "added",
        FileStatus::Modified => "modified",
        FileStatus::Deleted => "deleted",
    };
    let others = if file.others { " · changed by somebody else" } else { "" };
    let heading = format!("{}  {word} +{} −{}{others}", unseen::shown(&file.path), file.added, file.removed);
    let mut lines = vec![Line::from(fit(&heading, width)).bold()];
    lines.extend(file.note.as_ref().map(|note| Line::from(fit(&format!("  {note}"), width)).dim()));
    for hunk in &file.hunks {
        let text = format!("@@ line {} @@\n{}", hunk.new_start, hunk.lines.join("\n"));
        lines.extend(diff::lines(&unseen::shown(&text), width));
    }
    lines.push(Line::default());
    lines
}
