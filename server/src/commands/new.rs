use std::path::Path;

use anyhow::{Context, Result};
use protocol::{Access, CommandId, CreatePod, PodName, RuntimeId, ScopeRule};

use super::Caller;
use crate::{cli::NewOptions, config::BadConfig, output};

/// Makes a Pod and prints its address.
pub(super) async fn new(caller: &Caller, options: NewOptions) -> Result<()> {
    let name = PodName::parse(&options.name).map_err(|error| BadConfig(error.to_string()))?;
    // Taken from where the command is typed, as every program does.
    let cwd = match options.cwd {
        Some(cwd) => Some(absolute("--cwd", &cwd)?),
        None => None,
    };
    let runtime_id = options.runtime.as_deref().map(RuntimeId::parse).transpose();
    let rule = |(access, path): (Access, String)| {
        let path = absolute("--scope", Path::new(&path))?;
        anyhow::Ok(ScopeRule { path, access, recursive: true })
    };
    let scope = options.scope.into_iter().map(rule).collect::<Result<Vec<_>>>()?;
    let create = CreatePod {
        provider: options.provider,
        model: options.model,
        profile: options.profile,
        instructions: options.instructions,
        cwd,
        runtime_id: runtime_id.map_err(|error| BadConfig(error.to_string()))?,
        scope: (!scope.is_empty()).then_some(scope),
        peer_policy: options.peer_policy,
        wake_on_peer: options.wake,
        reasoning: options.reasoning,
        ..CreatePod::named(name)
    };
    let pod = caller.client.create(&CommandId::random(), &create).await?;
    match caller.config.json {
        true => output::json(&pod),
        false => output::line(&format!("{} is {} ({} of {})", pod.name, pod.pod, pod.model, pod.provider)),
    }
}

fn absolute(option: &str, path: &Path) -> Result<String> {
    let absolute = std::path::absolute(path).with_context(|| format!("{option} {} is no path", path.display()))?;
    let text = absolute.into_os_string().into_string();
    Ok(text.map_err(|_| BadConfig(format!("{option} has to be valid UTF-8")))?)
}
