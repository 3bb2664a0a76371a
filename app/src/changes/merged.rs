//! Notes that two browsers changed at the same time, pure.

use protocol::{ReviewComment, ReviewDrafts};

/// `theirs` with the changes that `own` made since `base`: what was added, edited or removed. Where both sides edited
/// one comment, the text of `own` wins.
pub(super) fn merged(base: &ReviewDrafts, own: ReviewDrafts, theirs: ReviewDrafts) -> ReviewDrafts {
    let ReviewDrafts { version, mut comments, mut seen } = theirs;
    let is_left = |comment: &ReviewComment| own.comments.iter().any(|one| is_same_place(one, comment));
    comments.retain(|comment| !base.comments.contains(comment) || is_left(comment));
    seen.retain(|mark| !base.seen.contains(mark) || own.seen.contains(mark));
    for comment in own.comments.into_iter().filter(|comment| !base.comments.contains(comment)) {
        put(&mut comments, comment);
    }
    let fresh = own.seen.into_iter().filter(|mark| !base.seen.contains(mark) && !seen.contains(mark));
    seen.extend(fresh.collect::<Vec<_>>());
    ReviewDrafts { version, comments, seen }
}

/// Puts a comment in its place, instead of one that is there.
pub(super) fn put(comments: &mut Vec<ReviewComment>, comment: ReviewComment) {
    comments.retain(|known| !is_same_place(known, &comment));
    comments.push(comment);
    comments.sort_by(|one, other| (&one.path, one.line).cmp(&(&other.path, other.line)));
}

fn is_same_place(one: &ReviewComment, other: &ReviewComment) -> bool {
    one.path == other.path && one.line == other.line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drafts(version: u64, comments: &[(u64, &str)], seen: &[&str]) -> ReviewDrafts {
        let comment =
            |(line, text): &(u64, &str)| ReviewComment { path: "a".into(), line: *line, text: (*text).into() };
        ReviewDrafts {
            version,
            comments: comments.iter().map(comment).collect(),
            seen: seen.iter().map(|mark| (*mark).to_owned()).collect(),
        }
    }

    #[test]
    fn what_nobody_else_changed_is_as_it_was_left_here() {
        let base = drafts(3, &[(1, "why"), (2, "gone")], &["v1 a"]);
        let own = drafts(3, &[(1, "why not"), (5, "new")], &[]);
        assert_eq!(merged(&base, own.clone(), base.clone()), own);
    }

    #[test]
    fn both_sides_keep_what_they_added_and_what_they_took_away() {
        let base = drafts(3, &[(1, "why"), (2, "here taken away"), (3, "there taken away")], &["v1 a", "v1 b"]);
        let own = drafts(3, &[(1, "why"), (3, "there taken away"), (9, "own")], &["v1 a", "v1 c"]);
        let theirs =
            drafts(5, &[(1, "edited there"), (2, "here taken away"), (4, "theirs")], &["v1 a", "v1 b", "v1 d"]);
        let expected = drafts(5, &[(1, "edited there"), (4, "theirs"), (9, "own")], &["v1 a", "v1 d", "v1 c"]);
        assert_eq!(merged(&base, own, theirs), expected);
    }

    #[test]
    fn what_was_edited_there_is_not_taken_away_and_what_both_edited_is_the_own_text() {
        let base = drafts(1, &[(1, "a"), (2, "b")], &[]);
        let (own, theirs) = (drafts(1, &[(1, "own")], &[]), drafts(2, &[(1, "theirs"), (2, "b, edited")], &[]));
        assert_eq!(merged(&base, own, theirs), drafts(2, &[(1, "own"), (2, "b, edited")], &[]));
    }
}
