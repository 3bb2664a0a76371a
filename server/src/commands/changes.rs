//! What a Pod changed: the difference, reverting, and a review.

use anyhow::{Context, Result, bail};
use protocol::{
    Changes, CommandId, FileChange, FileStatus, Hunk, RevertCommand, ReviewCommand, ReviewComment,
    operation::Filled,
    operations::{ChangesOf, Revert, Review},
};

use super::Caller;
use crate::{
    cli::{ChangesOptions, RevertOptions, ReviewOptions},
    output::{self, Tint},
};

/// Prints what has changed as a unified diff. The heading of each hunk ends with its id.
pub(super) async fn changes(caller: &Caller, options: ChangesOptions) -> Result<()> {
    let pod = caller.resolve(&options.target).await?;
    let changes = caller.client.read(&ChangesOf { pod, since: Filled(Some(options.since.into())) }).await?;
    if caller.config.json {
        return output::json(&changes);
    }
    changes.files.iter().try_for_each(print_file)?;
    notes(&changes);
    Ok(())
}

fn print_file(file: &FileChange) -> Result<()> {
    let FileChange { path, status, hunks, note, others, .. } = file;
    let (old, new) = (format!("a/{path}"), format!("b/{path}"));
    let nothing = || "/dev/null".to_owned();
    let old = if *status == FileStatus::Added { nothing() } else { old };
    let new = if *status == FileStatus::Deleted { nothing() } else { new };
    output::tinted(Tint::Bold, &format!("--- {old}"))?;
    output::tinted(Tint::Bold, &format!("+++ {new}"))?;
    if *others {
        output::note(&format!("{path}: no call of this Pod changed it"));
    }
    if let Some(note) = note {
        output::note(&format!("{path}: {note}"));
    }
    hunks.iter().try_for_each(print_hunk)
}

fn print_hunk(hunk: &Hunk) -> Result<()> {
    output::tinted(Tint::Cyan, &heading(hunk))?;
    hunk.lines.iter().try_for_each(|line| {
        let tint = match line.as_bytes().first() {
            Some(b'+') => Tint::Green,
            Some(b'-') => Tint::Red,
            _ => Tint::Plain,
        };
        output::tinted(tint, line)
    })
}

/// As in a unified diff, with the id where a heading may stand.
fn heading(hunk: &Hunk) -> String {
    let count = |sign: char| hunk.lines.iter().filter(|line| line.starts_with(' ') || line.starts_with(sign)).count();
    format!("@@ -{},{} +{},{} @@ {}", hunk.old_start, count('-'), hunk.new_start, count('+'), hunk.id)
}

fn notes(changes: &Changes) {
    if changes.files.is_empty() {
        output::note("nothing has changed");
    }
    changes.notes.iter().for_each(|note| output::note(note));
    for left_out in &changes.left_out {
        output::note(&format!("{} is left out: {}", left_out.path, left_out.why));
    }
}

/// Takes a hunk or a file back.
pub(super) async fn revert(caller: &Caller, options: RevertOptions) -> Result<()> {
    let pod = caller.resolve(&options.target).await?;
    let since = options.since.into();
    let body = RevertCommand { path: options.path, hunk: options.hunk, since, version: None };
    let done = caller.client.carry_out(&CommandId::random(), &Revert { pod, body }).await?;
    match caller.config.json {
        true => output::json(&done),
        false => output::line(&format!("{} is reverted", done.path)),
    }
}

/// Sends comments on lines, and a text, as one message.
pub(super) async fn review(caller: &Caller, options: ReviewOptions) -> Result<()> {
    let pod = caller.resolve(&options.target).await?;
    let comments = options.on.chunks(2).map(comment).collect::<Result<Vec<_>>>()?;
    let text = Some(options.text.join(" ")).filter(|text| !text.trim().is_empty());
    let body = ReviewCommand { comments, text };
    let receipt = caller.client.carry_out(&CommandId::random(), &Review { pod, body }).await?;
    match caller.config.json {
        true => output::json(&receipt),
        false => output::line(&format!("sent, accepted at seq {}", receipt.seq)),
    }
}

/// A comment from `PATH:LINE` and its text.
fn comment(pair: &[String]) -> Result<ReviewComment> {
    let [place, text] = pair else { bail!("--on takes PATH:LINE and a comment") };
    let (path, line) = place.rsplit_once(':').context("--on takes PATH:LINE and a comment")?;
    let line = line.parse().with_context(|| format!("{line:?} is not the number of a line"))?;
    Ok(ReviewComment { path: path.to_owned(), line, text: text.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heading_of_a_hunk_counts_its_lines_and_names_it() {
        let lines = [" a", "-b", "+c", "+d", "\\ No newline at end of file"].map(str::to_owned).to_vec();
        let hunk = Hunk { id: "0123".to_owned(), old_start: 4, new_start: 5, lines };
        assert_eq!(heading(&hunk), "@@ -4,2 +5,3 @@ 0123");
    }

    #[test]
    fn a_comment_is_a_place_and_a_text() {
        let pair = |place: &str| comment(&[place.to_owned(), "why?".to_owned()]);
        let read = pair("src/a:b.rs:12").unwrap();
        assert_eq!((read.path.as_str(), read.line), ("src/a:b.rs", 12));
        assert!(pair("src/a.rs").is_err() && pair("src/a.rs:x").is_err());
    }
}
