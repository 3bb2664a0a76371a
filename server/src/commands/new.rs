use anyhow::{Context, Result};
use protocol::{CommandId, CreatePod, PodName};

use super::Caller;
use crate::{cli::NewOptions, config::BadConfig, output};

/// Makes a Pod and prints its address.
pub(super) async fn new(caller: &Caller, options: NewOptions) -> Result<()> {
    let name = PodName::parse(&options.name).map_err(|error| BadConfig(error.to_string()))?;
    // Taken from where the command is typed, as every program does.
    let cwd = match options.cwd {
        Some(cwd) => {
            let cwd = std::path::absolute(&cwd).with_context(|| format!("--cwd {} is no path", cwd.display()))?;
            Some(cwd.into_os_string().into_string().map_err(|_| BadConfig("--cwd has to be valid UTF-8".into()))?)
        }
        None => None,
    };
    let create = CreatePod {
        provider: options.provider,
        model: options.model,
        profile: options.profile,
        instructions: options.instructions,
        cwd,
        ..CreatePod::named(name)
    };
    let pod = caller.client.create(&CommandId::random(), &create).await?;
    match caller.config.json {
        true => output::json(&pod),
        false => output::line(&format!("{} is {} ({} of {})", pod.name, pod.pod, pod.model, pod.provider)),
    }
}
