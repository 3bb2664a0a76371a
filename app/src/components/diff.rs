use leptos::prelude::*;
use transcript::unseen;

use super::output::folded;

/// A unified diff: added and removed lines are marked by their sign and by their background, and numbered.
#[component]
pub(crate) fn DiffView(diff: String) -> impl IntoView {
    folded("output diff", "Change", diff.lines().count(), diff_lines(&diff))
}

/// All lines, without a frame.
pub(crate) fn diff_lines(diff: &str) -> AnyView {
    let mut numbers = Numbers::default();
    let line = |line: &str| {
        let number = numbers.next(line);
        view! { <span class=class_of(line) data-n=number>{format!("{}\n", unseen::shown(line))}</span> }.into_any()
    };
    diff.lines().map(line).collect_view().into_any()
}

/// The next line's numbers in the old and the new file, once a hunk has given them.
#[derive(Debug, Default)]
struct Numbers(Option<(u32, u32)>);

impl Numbers {
    /// The number of this line in the file that has it, if known.
    fn next(&mut self, line: &str) -> Option<String> {
        if line.starts_with("@@") {
            self.0 = starts_of(line);
            return None;
        }
        let (old, new) = self.0.as_mut()?;
        let taken = |number: &mut u32| {
            *number += 1;
            Some((*number - 1).to_string())
        };
        match line.as_bytes().first() {
            Some(b'+') => taken(new),
            Some(b'-') => taken(old),
            Some(b'\\') => None,
            _ => {
                *old += 1;
                taken(new)
            }
        }
    }
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
    fn lines_have_the_numbers_of_the_file_that_has_them() {
        let diff = "--- a/x\n+++ b/x\n@@ -40,3 +41,3 @@ fn\n same\n-old\n+new\n\\ No newline\n@@ odd\n+x";
        let mut numbers = Numbers::default();
        let all: Vec<_> = diff.lines().map(|line| numbers.next(line)).collect();
        let number = |number: &str| Some(number.to_owned());
        let expected = [None, None, None, number("41"), number("41"), number("42"), None, None, None];
        assert_eq!(all, expected);
    }
}
