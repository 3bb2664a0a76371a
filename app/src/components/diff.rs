use leptos::prelude::*;
use transcript::unseen;

use super::output::folded;

/// A unified diff: added and removed lines are marked by their sign and by their background, and numbered on both sides.
#[component]
pub(crate) fn DiffView(diff: String) -> impl IntoView {
    folded("output diff", "Change", diff.lines().count(), diff_lines(&diff))
}

/// All lines, without a frame.
pub(crate) fn diff_lines(diff: &str) -> AnyView {
    let mut numbers = Numbers::default();
    let line = |line: &str| {
        let (old, new) = numbers.next(line).map(|(old, new)| (column(old), column(new))).unzip();
        view! { <span class=class_of(line) data-o=old data-n=new>{format!("{}\n", unseen::shown(line))}</span> }
            .into_any()
    };
    diff.lines().map(line).collect_view().into_any()
}

/// The next line's numbers in the old and the new file, once a hunk has given them.
#[derive(Debug, Default)]
struct Numbers(Option<(u32, u32)>);

impl Numbers {
    /// The numbers of this line in the old and the new file, where it is in them; `None` for what is no line of a file.
    fn next(&mut self, line: &str) -> Option<(Option<u32>, Option<u32>)> {
        if line.starts_with("@@") {
            self.0 = starts_of(line);
            return None;
        }
        let (old, new) = self.0.as_mut()?;
        let taken = |number: &mut u32| {
            *number += 1;
            Some(*number - 1)
        };
        match line.as_bytes().first() {
            Some(b'+') => Some((None, taken(new))),
            Some(b'-') => Some((taken(old), None)),
            Some(b'\\') => None,
            _ => Some((taken(old), taken(new))),
        }
    }
}

/// A number as wide as the others in its column.
fn column(number: Option<u32>) -> String {
    format!("{:>4}", number.map(|number| number.to_string()).unwrap_or_default())
}

/// The first lines of a hunk: `@@ -40,5 +41,6 @@`.
fn starts_of(hunk: &str) -> Option<(u32, u32)> {
    let mut ranges = hunk.split(' ').skip(1);
    let mut start = |mark: char| ranges.next()?.strip_prefix(mark)?.split(',').next()?.parse().ok();
    Some((start('-')?, start('+')?))
}

fn class_of(line: &str) -> &'static str {
    match line.as_bytes() {
        [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => "line line-file",
        [b'+', ..] => "line line-added",
        [b'-', ..] => "line line-removed",
        [b'@', b'@', ..] => "line line-hunk",
        _ => "line",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_their_numbers_in_both_files() {
        let diff = "--- a/x\n+++ b/x\n@@ -40,3 +41,3 @@ fn\n same\n-old\n+new\n\\ No newline\n@@ odd\n+x";
        let mut numbers = Numbers::default();
        let all: Vec<_> = diff.lines().map(|line| numbers.next(line)).collect();
        let (same, old, new) = ((Some(40), Some(41)), (Some(41), None), (None, Some(42)));
        assert_eq!(all, [None, None, None, Some(same), Some(old), Some(new), None, None, None]);
        assert_eq!(
            (column(Some(7)), column(None), column(Some(12_345))),
            ("   7".into(), "    ".into(), "12345".into())
        );
    }
}
