use protocol::operations;
use std::path::Path;

use anyhow::{Context, Result, bail};
use client::ClientError;
use protocol::{Access, CommandId, CreatePod, PodName, RuntimeId, ScopeRule, WorktreeOptions, WorktreeWish};

use super::Caller;
use crate::{cli::NewOptions, config::BadConfig, output};

/// Creates a Pod and prints its address.
pub(super) async fn new(caller: &Caller, options: NewOptions) -> Result<()> {
    let name = PodName::parse(&options.name).map_err(|error| BadConfig(error.to_string()))?;
    let runtime_id = options.runtime.as_deref().map(RuntimeId::parse).transpose();
    // Relative to the directory in which the command is typed, as usual.
    let is_given = options.cwd.is_some();
    let cwd = match (&options.cwd, &options.runtime) {
        (Some(cwd), _) => Some(absolute("--cwd", cwd)?),
        (None, None) => caller.client.shared_folder(),
        (None, Some(_)) => None,
    };
    let is_shared = cwd.is_some();
    let from = options.from;
    let worktree = options.worktree.map(|branch| WorktreeWish::Of(WorktreeOptions { branch, from }));
    let scope = options.scope.into_iter().map(scope_rule).collect::<Result<Vec<_>>>()?;
    let create = CreatePod {
        provider: options.provider,
        agent: options.agent,
        model: options.model,
        thinking: options.thinking,
        profile: options.profile,
        instructions: options.instructions,
        cwd,
        worktree,
        runtime_id: runtime_id.map_err(|error| BadConfig(error.to_string()))?,
        scope: (!scope.is_empty()).then_some(scope),
        peer_policy: options.peer_policy,
        network: options.network,
        mode: options.mode,
        wake_on_peer: options.wake,
        reasoning: options.reasoning,
        ..CreatePod::named(name)
    };
    let made = caller.client.carry_out(&CommandId::random(), &operations::Create { body: create.clone() }).await;
    let pod = match made {
        Err(ClientError::Api(refusal)) if is_shared && !is_given && refusal.detail.contains("working directory") => {
            bail!("{}: the server seems to be on another machine; give one of its folders with --cwd", refusal.detail)
        }
        made => made?,
    };
    let whose = if is_shared { "" } else { " (the server's; change it with --cwd)" };
    match caller.config.json {
        true => output::json(&pod),
        false => {
            let own = pod.git.as_ref().filter(|git| git.worktree.is_some());
            let branch = own.map(|git| format!(" on the new branch {}", git.branch)).unwrap_or_default();
            output::line(&format!(
                "created {} in {}{branch}{whose}: {}, {} of {}",
                pod.name, pod.cwd, pod.pod, pod.model, pod.provider
            ))
        }
    }
}

/// The rule, with its path made absolute from the directory in which the command is typed.
pub(super) fn scope_rule((access, path): (Access, String)) -> Result<ScopeRule> {
    let path = absolute("--scope", Path::new(&path))?;
    Ok(ScopeRule { path, access, recursive: true })
}

/// The path as seen from the directory in which the command is typed; `option` named it.
pub(super) fn absolute(option: &str, path: &Path) -> Result<String> {
    let absolute = std::path::absolute(path).with_context(|| format!("{option} {} is not a path", path.display()))?;
    let text = absolute.into_os_string().into_string();
    Ok(text.map_err(|_| BadConfig(format!("{option} has to be valid UTF-8")))?)
}
