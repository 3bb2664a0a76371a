//! SpawnPod: creates a child with a task and a part of this Pod's scope.

use async_trait::async_trait;
use pod::ToolOutcome;
use protocol::{ApiError, ErrorCode, PodName, RuntimeId, ScopeRule, WorkerId, WorktreeOptions};

use super::{Caller, Kin, PodTool, arguments::SpawnArguments, list::scope_words, sight};
use crate::{
    Origin,
    family::{self, Spawn, Spawned},
};

/// The length of the random suffix for a name that is taken by a Pod that the parent does not see.
const SUFFIX_LEN: usize = 6;
/// How many names are tried until one is free.
const NAMES_TRIED_MAX: usize = 4;

#[derive(Debug)]
pub(super) struct SpawnPod;

#[async_trait]
impl PodTool for SpawnPod {
    const NAME: &'static str = "SpawnPod";
    const DESCRIPTION: &'static str = "Spawns a child Pod that works on a task alongside you, with a part of your scope lent to it. What you lend for \
         writing, you can only read until the child is stopped. You are told when its turn has ended; ReadPodOutput then \
         gives what it wrote.";
    const DOING: &'static str = "spawning the Pod";
    type Arguments = SpawnArguments;

    async fn act(&self, caller: &Caller<'_>, arguments: SpawnArguments) -> Result<ToolOutcome, ApiError> {
        if arguments.task.trim().is_empty() {
            return Err(ApiError::invalid("the task is empty; say what the child is to do"));
        }
        if arguments.task.len() > protocol::MESSAGE_BYTES_MAX {
            let sentence = format!("the task is too large; at most {} bytes fit", protocol::MESSAGE_BYTES_MAX);
            return Err(ApiError::new(protocol::ErrorCode::PayloadTooLarge, sentence));
        }
        let spawn = Spawn {
            name: PodName::parse(&arguments.name).map_err(|error| ApiError::invalid(error.to_string()))?,
            task: arguments.task,
            scope: arguments.scope.into_iter().map(ScopeRule::from).collect(),
            profile: arguments.profile,
            model: arguments.model,
            worktree: worktree(arguments.worktree, arguments.branch)?,
        };
        let origin = caller.origin().await?;
        let wanted = spawn.name.clone();
        let Spawned { child, scope, tree } = spawn_named(&caller.kin, caller.worker_id(), &origin, spawn).await?;
        let renamed = match child.name == wanted {
            true => String::new(),
            false => format!(" (the name {wanted} is already in use on this server)"),
        };
        let summary = format!("spawned {}{renamed}; it begins its task now", child.name);
        let own = tree.map(|tree| {
            format!("\nit works in a git work tree of its own, {}, on the branch {}", tree.path, tree.branch)
        });
        let lent = format!("lent to {}: {}{}", child.name, scope_words(&scope), own.unwrap_or_default());
        Ok(ToolOutcome::done(summary).with_content(lent))
    }
}

/// The work tree that is asked for.
fn worktree(is_wanted: bool, branch: Option<String>) -> Result<Option<WorktreeOptions>, ApiError> {
    match (is_wanted, branch) {
        (false, Some(_)) => Err(ApiError::invalid("`branch` is for a child with `worktree`; set that to true, too")),
        (false, None) => Ok(None),
        (true, branch) => Ok(Some(WorktreeOptions { branch, from: None })),
    }
}

/// Creates the child. If the name belongs to a Pod that the parent does not see, a refusal would reveal that Pod, so
/// the child gets a name derived from the requested one instead.
async fn spawn_named(kin: &Kin, parent: &WorkerId, origin: &Origin, spawn: Spawn) -> Result<Spawned, ApiError> {
    let mut tried = spawn.clone();
    for _ in 1..NAMES_TRIED_MAX {
        match family::spawn(&kin.family, parent, origin, tried.clone()).await {
            Err(error) if error.code == ErrorCode::NameTaken && !sees(kin, parent, &spawn.name).await? => {
                tried.name = derived(&spawn.name)?;
            }
            done => return done,
        }
    }
    family::spawn(&kin.family, parent, origin, tried).await
}

/// True if the parent sees a Pod of this name in this runtime.
async fn sees(kin: &Kin, parent: &WorkerId, name: &PodName) -> Result<bool, ApiError> {
    let visible = sight::visible(kin, parent).await?;
    Ok(visible.iter().any(|pod| pod.name == *name && pod.pod.runtime_id == RuntimeId::local()))
}

/// `NAME-xxxxxx` with a random suffix; a long name is cut to fit.
fn derived(name: &PodName) -> Result<PodName, ApiError> {
    let random = uuid::Uuid::new_v4().simple().to_string();
    let kept = name.as_str().len().min(protocol::POD_NAME_BYTES_MAX - SUFFIX_LEN - 1);
    let name = format!("{}-{}", &name.as_str()[..kept], &random[..SUFFIX_LEN]);
    PodName::parse(&name).map_err(|error| ApiError::invalid(error.to_string()))
}
