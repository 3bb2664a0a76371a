//! The effect of a change on a file, as a unified diff.

use std::time::Duration;

use similar::{ChangeTag, TextDiff};

const DIFF_BYTES_MAX: usize = 64 * 1024;

/// After this time a diff gets coarser, but stays correct.
const DIFF_TIME_MAX: Duration = Duration::from_millis(500);

/// A change of one file.
#[derive(Debug)]
pub(super) struct Diff {
    /// Unified, with 3 lines of context; `None` if nothing changes.
    pub(super) text: Option<String>,
    pub(super) added: usize,
    pub(super) removed: usize,
}

/// From `old` (`None` if there was no file) to `new`.
pub(super) fn diff(path: &str, old: Option<&str>, new: &str) -> Diff {
    let changes = TextDiff::configure().timeout(DIFF_TIME_MAX).diff_lines(old.unwrap_or_default(), new);
    let count = |tag| changes.iter_all_changes().filter(|change| change.tag() == tag).count();
    let before = if old.is_some() { format!("a/{path}") } else { "/dev/null".to_owned() };
    let text = changes.unified_diff().context_radius(3).header(&before, &format!("b/{path}")).to_string();
    Diff {
        text: (!text.is_empty()).then(|| bounded(text)),
        added: count(ChangeTag::Insert),
        removed: count(ChangeTag::Delete),
    }
}

fn bounded(mut text: String) -> String {
    if text.len() > DIFF_BYTES_MAX {
        let end = text.floor_char_boundary(DIFF_BYTES_MAX);
        let end = text[..end].rfind('\n').map_or(end, |at| at + 1);
        let lines = text[end..].lines().count();
        text.truncate(end);
        text.push_str(&format!("… {lines} more lines of this diff are not shown\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_has_three_lines_of_context_and_counts() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let diff = diff("a.txt", Some(old), &old.replace("5\n", "five\nfünf\n"));
        assert_eq!((diff.added, diff.removed), (2, 1));
        assert_eq!(
            diff.text.unwrap(),
            "--- a/a.txt\n+++ b/a.txt\n@@ -2,7 +2,8 @@\n 2\n 3\n 4\n-5\n+five\n+fünf\n 6\n 7\n 8\n"
        );
    }

    #[test]
    fn a_new_file_comes_from_nowhere_and_nothing_gives_no_diff() {
        assert!(diff("n", None, "x\n").text.unwrap().starts_with("--- /dev/null\n+++ b/n\n"));
        assert!(diff("n", Some("x\n"), "x\n").text.is_none());
    }

    #[test]
    fn a_long_diff_is_cut_and_says_so() {
        let text = diff("n", None, &"some line of text\n".repeat(100_000)).text.unwrap();
        assert!(text.len() < DIFF_BYTES_MAX + 100);
        assert!(text.ends_with(" more lines of this diff are not shown\n"));
    }
}
