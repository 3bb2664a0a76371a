//! Git in a Pod's folder: a work tree of its own, and what is committed.

use serde::{Deserialize, Serialize};

/// Whether a new Pod gets a git work tree of its own, and which: `true`, or an object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(untagged, expecting = "`worktree` is true, false, or an object with `branch` and `from`, both optional")]
pub enum WorktreeWish {
    Plain(WorktreeSwitch),
    Of(WorktreeOptions),
}

/// `true` for a work tree with the default branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(transparent)]
pub struct WorktreeSwitch(pub bool);

/// The work tree that a new Pod gets.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct WorktreeOptions {
    /// The name of its branch, which does not exist yet. When absent, the Pod's name, with a number if that is taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The branch, tag or commit that it begins with. When absent, what is checked out in the working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

impl WorktreeWish {
    /// What is wished for; `None` for no work tree.
    pub fn options(&self) -> Option<WorktreeOptions> {
        match self {
            Self::Plain(WorktreeSwitch(false)) => None,
            Self::Plain(WorktreeSwitch(true)) => Some(WorktreeOptions::default()),
            Self::Of(options) => Some(options.clone()),
        }
    }
}

/// What becomes of a Pod's work tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum WorktreeVerb {
    /// Its branch goes into the branch that it came from. The work tree stays.
    Merge,
    /// The work tree and its branch are removed. The Pod stays, without a folder.
    Discard,
}

/// Body of `POST P/worktree`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct WorktreeCommand {
    #[serde(rename = "do")]
    pub verb: WorktreeVerb,
    /// For `merge`: another branch than the one that it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub into: Option<String>,
    /// For `discard`: even if commits or changes are lost by it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub force: bool,
}

impl WorktreeCommand {
    pub fn merge() -> Self {
        Self { verb: WorktreeVerb::Merge, into: None, force: false }
    }

    /// Discards it, with `force` whatever is lost.
    pub fn discard(force: bool) -> Self {
        Self { verb: WorktreeVerb::Discard, into: None, force }
    }
}

/// What a command did with a work tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum WorktreeDone {
    /// The other branch is at the same commit now.
    FastForward,
    /// A commit with both as its parents is on the other branch now.
    Merged,
    /// The other branch had all of it.
    UpToDate,
    Discarded,
}

/// The answer to `POST P/worktree`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WorktreeAnswer {
    pub done: WorktreeDone,
    /// The branch that is checked out in the work tree, or the beginning of its commit's id if that is none.
    pub branch: String,
    /// The branch that it was merged into.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub into: Option<String>,
    /// The commit that this branch is at now, as a full id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// For a work tree that was discarded: its branch stays, because it is checked out in this folder, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_in: Option<String>,
}

impl WorktreeAnswer {
    /// `merged refunds into main`.
    pub fn words(&self) -> String {
        let (branch, into) = (&self.branch, self.into.as_deref().unwrap_or_default());
        match self.done {
            WorktreeDone::FastForward => format!("{into} was fast-forwarded to {branch}"),
            WorktreeDone::Merged => format!("merged {branch} into {into}"),
            WorktreeDone::UpToDate => format!("{into} already has everything of {branch}"),
            WorktreeDone::Discarded => match &self.kept_in {
                Some(folder) => {
                    format!("removed the work tree; its branch {branch} stays, because it is checked out in {folder}")
                }
                None => format!("removed the work tree and its branch {branch}"),
            },
        }
    }
}

/// Body of `POST P/changes/commit`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct CommitCommand {
    /// The commit's message.
    pub message: String,
    /// Only these of the changed files, relative to the working directory or absolute; a folder stands for what is
    /// changed beneath it. All when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paths: Option<Vec<String>>,
}

/// The answer to `POST P/changes/commit`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CommitAnswer {
    /// The new commit, as a full id.
    pub commit: String,
    /// The branch that it is on; absent if none is checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// What was committed, relative to the working directory where it is in it, else absolute.
    pub files: Vec<String>,
}
