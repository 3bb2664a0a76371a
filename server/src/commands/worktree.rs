//! A Pod's own work tree, and commits in its folder.

use anyhow::Result;
use client::ClientError;
use protocol::{CommandId, CommitCommand, WorktreeCommand, operations};

use super::Caller;
use crate::{
    cli::{CommitOptions, WorktreeArguments},
    output,
};

/// Merges the branch of a Pod's own work tree, or removes both.
pub(super) async fn worktree(caller: &Caller, options: WorktreeArguments) -> Result<()> {
    let pod = caller.resolve(&options.target).await?;
    let body = WorktreeCommand { verb: options.verb, into: options.into, force: options.force };
    let answer = caller.client.carry_out(&CommandId::random(), &operations::ChangeWorktree { pod, body }).await;
    let answer = answer.map_err(with_paths)?;
    match caller.config.json {
        true => output::json(&answer),
        false => output::line(&answer.words()),
    }
}

/// Commits what is changed in a Pod's folder.
pub(super) async fn commit(caller: &Caller, options: CommitOptions) -> Result<()> {
    let pod = caller.resolve(&options.target).await?;
    let paths = (!options.paths.is_empty()).then_some(options.paths);
    let body = CommitCommand { message: options.message, paths };
    let answer = caller.client.carry_out(&CommandId::random(), &operations::CommitChanges { pod, body }).await;
    let answer = answer.map_err(with_paths)?;
    if caller.config.json {
        return output::json(&answer);
    }
    let on = answer.branch.as_deref().map(|branch| format!(" on {branch}")).unwrap_or_default();
    output::line(&format!("committed{on} as {}:", answer.commit))?;
    answer.files.iter().try_for_each(|file| output::line(&format!("  {file}")))
}

/// The files that an error is about are printed below it.
fn with_paths(error: ClientError) -> anyhow::Error {
    let paths = match &error {
        ClientError::Api(refusal) => refusal.paths.clone(),
        _ => Vec::new(),
    };
    let list = paths.iter().fold(String::new(), |list, path| format!("{list}\n  {}", output::printable(path)));
    match list.is_empty() {
        true => error.into(),
        false => anyhow::anyhow!("{error}{list}"),
    }
}
