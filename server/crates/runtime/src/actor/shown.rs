//! A file that an agent has yoi write just after a person allowed its own question about that file. Some agents ask
//! first, with the change, and then send the whole new text. If that is what the question showed, it is not asked again.

use std::{fs::File, io::Read as _, path::Path};

use pod::{OpenCall, Pod};
use serde_json::Value;

/// The largest file that is compared.
const BYTES_MAX: u64 = 1024 * 1024;
const WRITE: &str = "Write";
/// The name under which agents show a change as a unified diff, and those under which they show a whole new text.
const DIFF: &str = "diff";
const TEXTS: [&str; 2] = ["content", "newText"];

/// Whether a person has allowed this very change of this file, in a question of the agent about a call that is still
/// open. The path has to be in the Pod's scope.
pub(super) async fn is_granted(pod: &Pod, tool: &str, arguments: &Value) -> bool {
    let text = |arguments: &Value, name: &str| arguments.get(name).and_then(Value::as_str).map(str::to_owned);
    let (Some(path), Some(content)) = (text(arguments, "path"), text(arguments, "content")) else { return false };
    let is_about = |call: &&OpenCall| text(&call.arguments, "path").as_ref() == Some(&path);
    let granted = pod.calls.iter().filter(is_about).filter_map(|call| call.granted.clone());
    let granted: Vec<Value> = granted.filter(|granted| text(granted, "path").as_ref() == Some(&path)).collect();
    if tool != WRITE || granted.is_empty() {
        return false;
    }
    let compared = crate::heavy::blocking(move || {
        let before = current(Path::new(&path));
        granted.iter().any(|granted| {
            let is_whole = TEXTS.iter().filter_map(|name| text(granted, name)).any(|shown| shown == content);
            let changed = || patched(before.as_deref()?, &text(granted, DIFF)?);
            is_whole || changed().is_some_and(|changed| changed == content)
        })
    });
    compared.await.unwrap_or(false)
}

/// The text of a file; empty if there is none. `None`: it is not a plain file, too long, or no text.
fn current(path: &Path) -> Option<String> {
    match path.symlink_metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Some(String::new()),
        Ok(found) if found.is_file() => (),
        _ => return None,
    }
    let mut text = String::new();
    let read = File::open(path).ok()?.take(BYTES_MAX + 1).read_to_string(&mut text).ok()?;
    (read as u64 <= BYTES_MAX).then_some(text)
}

/// The text after a unified diff of one file. `None`: the diff is not about this text, or not one.
fn patched(before: &str, diff: &str) -> Option<String> {
    let lines: Vec<&str> = before.split_inclusive('\n').collect();
    let (mut after, mut at, mut has_hunk) = (String::new(), 0, false);
    let mut rest = diff.split_inclusive('\n').skip_while(|line| !line.starts_with("@@ ")).peekable();
    while let Some(line) = rest.next() {
        let has_end = !rest.peek().is_some_and(|next| next.starts_with('\\'));
        let text = |line: &str| {
            let bare = line[1..].trim_end_matches('\n');
            if has_end { format!("{bare}\n") } else { bare.to_owned() }
        };
        match line.as_bytes().first()? {
            b'@' => {
                let start = hunk_start(line)?;
                after.push_str(&lines.get(at..start)?.concat());
                (at, has_hunk) = (start, true);
            }
            b' ' | b'-' => {
                let shown = text(line);
                if lines.get(at).copied() != Some(shown.as_str()) {
                    return None;
                }
                at += 1;
                if line.starts_with(' ') {
                    after.push_str(&shown);
                }
            }
            b'+' => after.push_str(&text(line)),
            b'\\' => (),
            b'\n' => (),
            _ => return None,
        }
    }
    after.push_str(&lines.get(at..)?.concat());
    has_hunk.then_some(after)
}

/// The number of lines before a hunk, from its head `@@ -4,2 +4,3 @@`.
fn hunk_start(head: &str) -> Option<usize> {
    let range = head.strip_prefix("@@ -")?.split(' ').next()?;
    let (start, count) = match range.split_once(',') {
        Some((start, count)) => (start.parse::<usize>().ok()?, count.parse::<usize>().ok()?),
        None => (range.parse().ok()?, 1),
    };
    // A hunk without old lines names the line before it.
    if count == 0 { Some(start) } else { start.checked_sub(1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_is_applied_to_the_text_that_it_is_about_and_to_no_other() {
        let diff = "Index: a\n--- a\n+++ a\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n@@ -5,1 +5,2 @@\n five\n+six\n";
        let before = "one\ntwo\nthree\nfour\nfive\n";
        assert_eq!(patched(before, diff).as_deref(), Some("one\nTWO\nthree\nfour\nfive\nsix\n"));
        assert_eq!(patched("one\n2\nthree\nfour\nfive\n", diff), None);
        assert_eq!(patched("", diff), None);
        let new = "@@ -0,0 +1,1 @@\n+a line\n\\ No newline at end of file\n";
        assert_eq!(patched("", new).as_deref(), Some("a line"));
        assert_eq!(patched("x\n", "@@ -1,0 +2,1 @@\n+y\n").as_deref(), Some("x\ny\n"));
        let no_end = "@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n";
        assert_eq!(patched("a", no_end).as_deref(), Some("b"));
        for odd in
            ["", "+a\n", "@@ -x +1 @@\n+a\n", "@@ -9,0 +9,1 @@\n+a\n", "@@ -2,1 +1,0 @@\n-x\n@@ -1,1 +1,0 @@\n-x\n"]
        {
            assert_eq!(patched("x\nx\n", odd), None, "{odd}");
        }
    }
}
