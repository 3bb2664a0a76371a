//! What a Pod changed on the disk, and what people do about it: revert, review, rewind with files.

use serde::{Deserialize, Serialize};

use crate::{Seq, Timestamp};

/// The longest comment of a review, in bytes of UTF-8.
pub const COMMENT_BYTES_MAX: usize = 16 * 1024;
/// The most comments of one review.
pub const COMMENTS_MAX: usize = 200;
/// The most files that are noted as seen, and the most bytes of one such note.
pub const SEEN_MAX: usize = 2_000;
pub const SEEN_BYTES_MAX: usize = 4 * 1024 + 128;

/// What the files are compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Since {
    /// As they were before the Pod's first call that could change them.
    #[default]
    Start,
    /// As they were when its newest turn began.
    Turn,
    /// The commit at which its branch left the branch that it came from.
    Branch,
}

impl Since {
    pub const ALL: [Self; 3] = [Self::Start, Self::Turn, Self::Branch];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Turn => "turn",
            Self::Branch => "branch",
        }
    }
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum FileStatus {
    Added,
    Modified,
    Deleted,
}

/// What changed in a Pod's folders, those files that others changed included. At most 1 MB; `notes` tell what does not fit.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Changes {
    pub since: Since,
    /// By path.
    pub files: Vec<FileChange>,
    /// Lines, over all files.
    pub added: u64,
    pub removed: u64,
    /// The record before which the compared state was kept; absent if there is none, and for a branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_seq: Option<Seq>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Timestamp>,
    /// The commit that a branch is compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Files and folders in which no changes are looked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// Sentences about what is not in this answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Something in which no changes are looked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LeftOut {
    pub path: String,
    pub why: String,
}

/// One changed file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FileChange {
    /// Relative to the Pod's working directory if it is in it, otherwise absolute.
    pub path: String,
    pub status: FileStatus,
    /// Lines.
    pub added: u64,
    pub removed: u64,
    pub hunks: Vec<Hunk>,
    /// Stands for what the file is now; a revert that names another one is refused as `changed`.
    pub version: String,
    /// It is not text, so there are no hunks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub binary: bool,
    /// It is too long to be kept or compared, so there are no hunks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub too_large: bool,
    /// Somebody else changed it: no call of this Pod did.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub others: bool,
    /// Why there are no hunks, or not all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Neighbouring changed lines, with up to 3 lines around them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Hunk {
    /// The same as long as its own lines are the same, whatever happens elsewhere in the file.
    pub id: String,
    /// The first line before the change, from 1; 0 if there are none.
    pub old_start: u64,
    pub new_start: u64,
    /// As in a unified diff: each begins with a space, `+`, `-` or `\`, and has no line break.
    pub lines: Vec<String>,
}

/// Body of `POST P/changes/revert`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct RevertCommand {
    /// As `GET P/changes` names it.
    pub path: String,
    /// The hunk's id; the whole file when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hunk: Option<String>,
    #[serde(default)]
    pub since: Since,
    /// The file's `version`; when absent, the one that the newest `GET P/changes` returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// A file was reverted. Both versions together undo it: `POST P/changes/undo`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Reverted {
    pub path: String,
    /// What the file was before the revert.
    pub before: String,
    /// What it is now.
    pub after: String,
}

/// Body of `POST P/changes/undo`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct UndoCommand {
    pub path: String,
    /// What the file becomes again: `before` of a revert.
    pub before: String,
    /// What it has to be now: `after` of that revert.
    pub after: String,
}

/// Body of `POST P/changes/review`. Has a comment or a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ReviewCommand {
    #[serde(default)]
    pub comments: Vec<ReviewComment>,
    /// A note to go with them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// A comment on a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ReviewComment {
    pub path: String,
    /// From 1, in the file as it is now.
    pub line: u64,
    pub text: String,
}

/// What people noted on a Pod's changes and have not sent yet: the same in every browser. Also the body of
/// `PUT P/changes/drafts`, where `version` is the one that was changed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ReviewDrafts {
    /// Rises with each change; 0 if nothing was ever noted.
    pub version: u64,
    #[serde(default)]
    pub comments: Vec<ReviewComment>,
    /// The files that were seen, each as its `version`, a space and its `path`: a file that changes again is not seen.
    #[serde(default)]
    pub seen: Vec<String>,
}

/// The drafts are kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DraftsKept {
    /// Their version now.
    pub version: u64,
}

/// What a rewind to a record would change.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RewindPreview {
    pub to_seq: Seq,
    /// What leaves the context, oldest first: at most 200, then `more_messages`.
    pub messages: Vec<RewoundMessage>,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_messages: u64,
    /// What a rewind with `files` changes on the disk, by path.
    pub files: Vec<RewoundFile>,
    /// Sentences about what cannot be brought back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A message, an answer or a tool call that leaves the context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RewoundMessage {
    pub seq: Seq,
    /// The kind of its record.
    pub kind: String,
    /// Its beginning, one line.
    pub text: String,
}

/// A file that a rewind changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RewoundFile {
    pub path: String,
    /// What the rewind does to it.
    pub status: FileStatus,
    /// Somebody else has changed it since, so the rewind needs `overwrite`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub others: bool,
}
