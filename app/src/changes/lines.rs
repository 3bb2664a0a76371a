//! The lines of a hunk with their numbers, pure.

use protocol::Hunk;

/// One line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) old: Option<u64>,
    pub(super) new: Option<u64>,
    pub(super) sign: char,
    pub(super) text: String,
}

/// Numbers the lines of a hunk on both sides.
pub(super) fn lines_of(hunk: &Hunk) -> Vec<Line> {
    let (mut old, mut new) = (hunk.old_start, hunk.new_start);
    let next = |at: &mut u64| {
        let number = *at;
        *at += 1;
        Some(number)
    };
    let line = |line: &String| {
        let sign = line.chars().next().unwrap_or(' ');
        let text = line.get(sign.len_utf8()..).unwrap_or_default().to_owned();
        let (old, new) = match sign {
            '+' => (None, next(&mut new)),
            '-' => (next(&mut old), None),
            ' ' => (next(&mut old), next(&mut new)),
            // It says that the last line has no line break.
            _ => (None, None),
        };
        Line { old, new, sign, text }
    };
    hunk.lines.iter().map(line).collect()
}

/// The line on which a comment is begun by a key: the first one that was added, otherwise the first one there is.
pub(super) fn commented(hunk: &Hunk) -> Option<u64> {
    let lines = lines_of(hunk);
    let added = lines.iter().find(|line| line.sign == '+').and_then(|line| line.new);
    added.or_else(|| lines.iter().find_map(|line| line.new))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_has_its_numbers_on_both_sides() {
        let lines = [" a", "-b", "+c", "+d", "\\ No newline at end of file"].map(str::to_owned).to_vec();
        let hunk = Hunk { id: String::new(), old_start: 4, new_start: 6, lines };
        let numbers: Vec<_> = lines_of(&hunk).into_iter().map(|line| (line.old, line.new, line.sign)).collect();
        assert_eq!(
            numbers,
            [
                (Some(4), Some(6), ' '),
                (Some(5), None, '-'),
                (None, Some(7), '+'),
                (None, Some(8), '+'),
                (None, None, '\\')
            ]
        );
        assert_eq!(commented(&hunk), Some(7));
    }
}
