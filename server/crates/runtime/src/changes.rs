//! What a Pod changed on the disk: snapshots around its calls, the comparison with what is there now, reverting, and
//! what a rewind brings back.
//!
//! Nothing here knows a running Pod: its folders, its positions and the moments of snapshots come from the caller.

mod answer;
mod base;
mod plan;
mod preview;
mod quote;
mod revert;
mod shelf;
mod shown;
mod turn;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use ::changes::Tree;
use pod::Scope;
use pod_store::PodKey;
use protocol::{ApiError, ErrorCode, Since};
use tools::files::{Content, Found, Keep, Refused, look};

use crate::{git, ground::Ground};

pub(crate) use self::{
    answer::changes,
    base::Base,
    plan::{Plan, restore},
    preview::preview,
    quote::message,
    revert::{left_by_pod, revert, undo},
    shelf::{Archive, Shelf, Step, sweep},
    shown::Shown,
    turn::newest_turn,
};

/// The version of a file that is not there.
const ABSENT: &str = "absent";

/// A Pod's folders: where it works, what it may write, and where its snapshots are.
#[derive(Debug, Clone)]
pub(crate) struct Folders {
    pub(crate) cwd: String,
    pub(crate) scope: Scope,
    pub(crate) snapshots: PathBuf,
    /// Files that are looked at even if git ignores them: those that a call names which changes them.
    pub(crate) also: Vec<String>,
}

/// Keeps nothing: for a look that is only compared.
struct NoKeep;

impl Keep for NoKeep {
    fn keep(&mut self, _: &str, _: &[u8]) -> std::io::Result<Option<u64>> {
        Ok(None)
    }
}

impl Folders {
    /// Why there is nothing to compare, as a sentence: the folder is gone, as after its work tree was removed. Blocks.
    fn gone(&self) -> Option<String> {
        let gone = || {
            format!(
                "the Pod's folder {} is gone, so nothing is compared and nothing can be reverted; create it again, or make \
                 another Pod",
                self.cwd
            )
        };
        (!Path::new(&self.cwd).exists()).then(gone)
    }

    /// # Errors
    /// `not_found`: the folder is gone. Writing a file would create it anew.
    fn check_there(&self) -> Result<(), ApiError> {
        self.gone().map_or(Ok(()), |sentence| Err(ApiError::new(ErrorCode::NotFound, sentence)))
    }

    /// The files as they are now. Blocks.
    fn now(&self, known: &Tree) -> Result<Found, ApiError> {
        look(&self.cwd, &self.scope, (known, &self.also), &mut NoKeep)
            .map_err(|why| ApiError::new(ErrorCode::Timeout, why))
    }
}

/// What the files of a Pod are compared with.
///
/// # Errors
/// `invalid_input`: there is no branch to compare with.
pub(crate) async fn base(ground: &Ground, key: PodKey, folders: &Folders, since: Since) -> Result<Base, ApiError> {
    let turn = match since {
        Since::Start => None,
        Since::Turn => newest_turn(&ground.store, key).await?,
        Since::Branch => return since_branch(folders).await,
    };
    let snapshots = folders.snapshots.clone();
    blocking(move || Ok(Base::of(&Archive::read(&snapshots)?, since, turn))).await
}

async fn since_branch(folders: &Folders) -> Result<Base, ApiError> {
    let of = folders.clone();
    if blocking(move || Ok(of.gone())).await?.is_some() {
        return Ok(Base::Snapshot(None));
    }
    let from = folders.scope.work_tree().and_then(|tree| tree.from.as_deref());
    let since = git::since_branch(Path::new(&folders.cwd), from).await.ok_or_else(|| {
        ApiError::invalid("the Pod's folder is in no git repository with a commit; use `since` start or turn")
    })?;
    Ok(Base::of_branch(&folders.cwd, since))
}

/// Runs work that blocks, in a thread for it.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let done = crate::heavy::blocking(work).await;
    done.unwrap_or_else(|error| {
        tracing::error!(%error, "work on a Pod's files broke");
        Err(ApiError::new(ErrorCode::Internal, "the work on the files broke inside yoi; its log says more"))
    })
}

fn refused(refused: Refused) -> ApiError {
    let code = match refused.code {
        "permission_denied" => ErrorCode::ScopeNotHeld,
        "not_found" => ErrorCode::NotFound,
        "invalid_input" => ErrorCode::InvalidInput,
        "read_first" => return changed(format!("{}; look at the changes again", first_part(&refused.detail))),
        _ => ErrorCode::Internal,
    };
    ApiError::new(code, refused.detail)
}

/// The sentence without the advice, which is for models.
fn first_part(detail: &str) -> &str {
    detail.split(';').next().unwrap_or(detail)
}

fn changed(detail: impl Into<String>) -> ApiError {
    ApiError::new(ErrorCode::Changed, detail)
}

/// Stands for what a file is now, towards clients; the same as that of its entry in a snapshot.
fn version_of(content: Option<&Content>) -> String {
    match content {
        None => ABSENT.to_owned(),
        Some(Content { bytes, is_executable, .. }) => {
            format!("{}{}", ::changes::sha256(bytes), if *is_executable { "x" } else { "" })
        }
    }
}
