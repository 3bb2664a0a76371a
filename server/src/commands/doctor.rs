use anyhow::Result;
use client::ProvidersPage;
use protocol::ProviderView;

use tools::bash::{Confinement, confinement};

use super::Caller;
use crate::output;

/// Says whether the server answers, whether it takes the token, which models it has, and whether the kernel of this
/// machine can hold commands to a Pod's scope. No server: exit 3.
pub(super) async fn doctor(caller: &Caller) -> Result<()> {
    caller.client.health().await?;
    let providers = caller.client.providers().await?;
    if caller.config.json {
        let server = caller.client.address();
        let data = caller.config.data.display().to_string();
        return output::json(&serde_json::json!({
            "server": server, "data": data, "providers": providers.items, "unconfigured": providers.unconfigured,
            "commands_confined": matches!(confinement(), Confinement::Landlock { .. }),
        }));
    }
    output::line(&format!("server     {} answers and takes the token", caller.client.address()))?;
    output::line(&format!("data       {}", caller.config.data.display()))?;
    output::line(&format!("commands   {}", confined()))?;
    print_providers(&providers)
}

fn confined() -> String {
    match confinement() {
        Confinement::Landlock { abi } => format!("are held to a Pod's scope by the kernel here (Landlock {abi})"),
        Confinement::Missing { reason } => {
            format!("cannot be held to a Pod's scope here, so each is asked for: {reason}")
        }
    }
}

fn print_providers(providers: &ProvidersPage) -> Result<()> {
    for provider in &providers.items {
        output::line(&format!("provider   {}", sentence(provider)))?;
    }
    for absent in &providers.unconfigured {
        output::line(&format!("not there  {}: {}", absent.kind, absent.missing))?;
    }
    Ok(())
}

fn sentence(provider: &ProviderView) -> String {
    let default = if provider.default { ", the default" } else { "" };
    let state = match (&provider.missing, provider.models.len()) {
        (Some(missing), _) => missing.clone(),
        (None, 0) => "its list of models is empty or cannot be read; any model name can be used".to_owned(),
        (None, 1) => format!("model {}", provider.models[0].name),
        (None, models) => format!("{models} models, such as {}", provider.models[0].name),
    };
    format!("{} ({}, {}{default}): {state}", provider.name, provider.kind, provider.source)
}
