//! Review drafts: comments that are not sent yet and marks of seen files, kept with the Pod for every browser.

use pod_store::PodKey;
use protocol::{
    ApiError, COMMENT_BYTES_MAX, COMMENTS_MAX, DraftsKept, ErrorCode, ReviewComment, ReviewDrafts, SEEN_BYTES_MAX,
    SEEN_MAX,
};

use super::{commands::Carrying, commit::Extras};
use crate::{clock, command::answer_of, ground::Ground};

/// The most bytes that are kept, as JSON.
const BYTES_MAX: usize = 1024 * 1024;
/// The longest path of a comment, in bytes.
const PATH_BYTES_MAX: usize = 4 * 1024;

/// The Pod's review drafts.
pub(crate) async fn drafts_of(ground: &Ground, pod: PodKey) -> Result<ReviewDrafts, ApiError> {
    let kept = ground.patiently(|| ground.store.pods().drafts(pod)).await?;
    let Some(kept) = kept else { return Ok(ReviewDrafts::default()) };
    serde_json::from_str(&kept).map_err(|error| {
        tracing::error!(%error, "what was noted on changes cannot be read");
        ApiError::new(ErrorCode::Internal, "what was noted on the changes of this Pod cannot be read")
    })
}

impl Carrying<'_> {
    /// Replaces the drafts, unless somebody has changed them meanwhile.
    pub(super) async fn keep_drafts(&mut self, drafts: ReviewDrafts) -> Result<String, ApiError> {
        check(&drafts)?;
        let kept = drafts_of(&self.actor.actors, self.actor.state.key).await?;
        if kept.version != drafts.version {
            let sentence = format!(
                "the drafts have version {} by now, not {}; read them again with GET P/changes/drafts",
                kept.version, drafts.version
            );
            return Err(ApiError::new(ErrorCode::Changed, sentence));
        }
        let drafts = ReviewDrafts { version: drafts.version + 1, ..drafts };
        let json = answer_of(&drafts);
        if json.len() > BYTES_MAX {
            return Err(ApiError::invalid("the drafts have at most 1 MiB; send some of the comments first"));
        }
        self.drafts = Some(json);
        let kept = DraftsKept { version: drafts.version };
        // Drafts change several times a minute and are not in the audit; what is sent is.
        let extras = Extras { audit: None, ..self.extras("drafts", clock::now(), &kept) };
        Ok(self.commit([], extras).await?.unwrap_or_else(|| answer_of(&kept)))
    }

    /// The drafts without these sent comments, as JSON; `None` if none of them was a draft.
    pub(super) async fn drafts_without(&mut self, sent: &[ReviewComment]) -> Result<Option<String>, ApiError> {
        let mut drafts = drafts_of(&self.actor.actors, self.actor.state.key).await?;
        let count = drafts.comments.len();
        drafts.comments.retain(|comment| !sent.contains(comment));
        let is_less = drafts.comments.len() < count;
        drafts.version += u64::from(is_less);
        Ok(is_less.then(|| answer_of(&drafts)))
    }
}

/// Checks the drafts against the limits. An unfinished comment may be empty.
fn check(drafts: &ReviewDrafts) -> Result<(), ApiError> {
    if drafts.comments.len() > COMMENTS_MAX {
        return Err(ApiError::invalid(format!("there are at most {COMMENTS_MAX} comments; send some of them first")));
    }
    if drafts.seen.len() > SEEN_MAX || drafts.seen.iter().any(|seen| seen.len() > SEEN_BYTES_MAX) {
        return Err(ApiError::invalid(format!("`seen` has at most {SEEN_MAX} files of {SEEN_BYTES_MAX} bytes")));
    }
    for comment in &drafts.comments {
        if comment.text.len() > COMMENT_BYTES_MAX {
            let sentence = format!("a comment has at most {COMMENT_BYTES_MAX} bytes; shorten that on {}", comment.path);
            return Err(ApiError::invalid(sentence));
        }
        if comment.line == 0 || comment.path.len() > PATH_BYTES_MAX {
            return Err(ApiError::invalid("`line` is the number of a line, from 1, and `path` has at most 4 KiB"));
        }
    }
    Ok(())
}
