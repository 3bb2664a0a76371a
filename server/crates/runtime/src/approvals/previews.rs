//! What open calls would do, as far as it can be seen before they run.

use std::collections::BTreeMap;

use pod::{PodSpec, Scope, call_folder};
use protocol::{Access, Approval, CallPreview, CommandReach, PreviewHunk, ScopeRule};
use serde_json::Value;
use tools::files::Preview;

/// The most hunks of a preview, and the most lines of all of them.
const HUNKS_MAX: usize = 100;
const LINES_MAX: usize = 1_000;
/// The most folders that a command's reach lists, of each kind.
const FOLDERS_MAX: usize = 20;

/// Takes a file's preview apart.
pub(super) fn of_file(arguments: &Value, preview: &Preview) -> CallPreview {
    let count = |lines: usize| u32::try_from(lines).unwrap_or(u32::MAX);
    let (added, removed) = preview.lines.unzip();
    let deletes = removed.filter(|lines| *lines > 0).map(|lines| match lines {
        1 => "1 line is removed".to_owned(),
        lines => format!("{lines} lines are removed"),
    });
    CallPreview {
        path: arguments.get("path").and_then(Value::as_str).map(str::to_owned),
        added: added.map(count),
        removed: removed.map(count),
        is_new: preview.is_new,
        hunks: preview.diff.as_deref().map(hunks).unwrap_or_default(),
        deletes,
        reach: None,
        note: preview.note.clone(),
    }
}

/// The hunks of a unified diff.
fn hunks(diff: &str) -> Vec<PreviewHunk> {
    let mut hunks: Vec<PreviewHunk> = Vec::new();
    for line in diff.lines().take(LINES_MAX) {
        if let Some((old_start, new_start)) = starts(line) {
            if hunks.len() == HUNKS_MAX {
                break;
            }
            hunks.push(PreviewHunk { old_start, new_start, lines: Vec::new() });
        } else if let Some(hunk) = hunks.last_mut().filter(|_| line.starts_with([' ', '+', '-'])) {
            hunk.lines.push(line.to_owned());
        }
    }
    hunks
}

/// The first lines of a hunk: `@@ -3,7 +3,8 @@`. No line of a file begins so in a diff.
fn starts(line: &str) -> Option<(u32, u32)> {
    let (old, new) = line.strip_prefix("@@ -")?.split_once(" @@")?.0.split_once(" +")?;
    let first = |range: &str| range.split(',').next()?.parse().ok();
    Some((first(old)?, first(new)?))
}

/// What a command can touch.
pub(super) fn of_command(spec: &PodSpec, scope: &Scope, approval: &Approval, is_sandboxed: bool) -> CallPreview {
    let reach = CommandReach {
        sandboxed: is_sandboxed,
        cwd: call_folder(&spec.cwd, &approval.tool, &approval.arguments),
        writes: folders(scope, Access::Write),
        reads: folders(scope, Access::Read),
        network: if is_sandboxed { spec.network_now().as_str() } else { "open" }.to_owned(),
    };
    CallPreview { reach: Some(reach), note: approval.effect.clone(), ..CallPreview::default() }
}

fn folders(scope: &Scope, access: Access) -> Vec<String> {
    let lent: BTreeMap<&str, ()> = scope.lent().iter().map(|rule| (rule.path.as_str(), ())).collect();
    let is_here = |rule: &&ScopeRule| rule.access == access && !lent.contains_key(rule.path.as_str());
    scope.rules().iter().filter(is_here).take(FOLDERS_MAX).map(|rule| rule.path.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_is_taken_apart_into_its_places() {
        let diff = "--- a/a\n+++ b/a\n@@ -1,3 +1,2 @@\n-1\n 2\n-3\n+x\n@@ -10 +9,2 @@\n a\n+--- b\n… 3 more lines\n";
        let hunks = hunks(diff);
        assert_eq!(hunks.len(), 2);
        assert_eq!((hunks[0].old_start, hunks[0].new_start, hunks[0].lines.len()), (1, 1, 4));
        assert_eq!((hunks[1].old_start, hunks[1].new_start), (10, 9));
        assert_eq!(hunks[1].lines, [" a", "+--- b"]);
    }
}
