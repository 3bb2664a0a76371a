//! Converts a unified diff to what an editor shows: the lines before and the lines after.

use std::path::Path;

use agent_client_protocol::v1::schema::{Diff, ToolCallContent};

/// How many hunks of one file are shown.
const PLACES_MAX: usize = 50;

/// The hunks of a unified diff.
pub(super) fn contents(path: &Path, unified: &str) -> Vec<ToolCallContent> {
    let mut places: Vec<(String, String)> = Vec::new();
    for line in unified.lines() {
        if line.starts_with("@@") {
            places.push(Default::default());
            continue;
        }
        // Lines before the first hunk name the files.
        let Some((before, after)) = places.last_mut() else { continue };
        let add = |to: &mut String, text: &str| {
            to.push_str(text);
            to.push('\n');
        };
        match line.split_at_checked(1) {
            Some(("-", text)) => add(before, text),
            Some(("+", text)) => add(after, text),
            Some((" ", text)) => {
                add(before, text);
                add(after, text);
            }
            None => {
                before.push('\n');
                after.push('\n');
            }
            // "\ No newline at end of file", and anything unknown.
            Some(_) => (),
        }
    }
    let shown = places.into_iter().take(PLACES_MAX);
    shown
        .map(|(before, after)| {
            let mut diff = Diff::new(path, after);
            diff.old_text = (!before.is_empty()).then_some(before);
            ToolCallContent::Diff(diff)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_of_a_diff_has_its_lines_before_and_after() {
        let unified =
            "--- a\n+++ b\n@@ -1,2 +1,2 @@\n one\n-two\n+zwei\n@@ -9 +9,2 @@\n+new\n\\ No newline at end of file\n";
        let places = contents(Path::new("/w/a"), unified);
        let of = |content: &ToolCallContent| match content {
            ToolCallContent::Diff(diff) => (diff.old_text.clone(), diff.new_text.clone()),
            other => panic!("{other:?}"),
        };
        assert_eq!(of(&places[0]), (Some("one\ntwo\n".to_owned()), "one\nzwei\n".to_owned()));
        assert_eq!(of(&places[1]), (None, "new\n".to_owned()));
        assert!(contents(Path::new("/a"), "no diff at all").is_empty());
    }
}
