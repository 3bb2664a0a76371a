use anyhow::{Context, Result, bail};
use jiff::Timestamp;
use protocol::{AddRuntime, RuntimeId, RuntimeState, RuntimeView};
use protocol::{operation::Page, operations};

use super::{Caller, ago, word};
use crate::{
    cli::{AddRuntimeOptions, RuntimesOptions, RuntimesVerb},
    output,
};

/// Prints the runtimes and whether they answer; adds another server, or removes one.
pub(super) async fn runtimes(caller: &Caller, options: RuntimesOptions) -> Result<()> {
    match options.verb {
        None => list(caller).await,
        Some(RuntimesVerb::Add(options)) => add(caller, options).await,
        Some(RuntimesVerb::Remove { name }) => remove(caller, &name).await,
    }
}

async fn list(caller: &Caller) -> Result<()> {
    let listing = caller.client.read(&operations::Runtimes { page: Page::default() }).await?;
    if caller.config.json {
        return output::json(&listing);
    }
    output::headed(["ID", "KIND", "STATE", "SINCE", "DETAIL"], listing.items.iter().map(row))
}

fn row(runtime: &RuntimeView) -> [String; 5] {
    [
        runtime.runtime_id.to_string(),
        word(&runtime.kind),
        word(&runtime.state),
        ago(runtime.since, Timestamp::now()),
        runtime.detail.clone().unwrap_or_default(),
    ]
}

async fn add(caller: &Caller, options: AddRuntimeOptions) -> Result<()> {
    let AddRuntimeOptions { name, url, token_file } = options;
    // Never as an argument: those appear in the process list and in the shell's history.
    let token = match token_file.to_str() {
        Some("-") => std::io::read_to_string(std::io::stdin()).context("standard input is not text")?,
        _ => std::fs::read_to_string(&token_file)
            .with_context(|| format!("the token cannot be read from {}", token_file.display()))?,
    };
    let token = token.trim().to_owned();
    if token.is_empty() {
        bail!("no token in {}; `yoi token` on the other machine prints it", token_file.display());
    }
    let add = AddRuntime { runtime_id: RuntimeId::parse(&name)?, url, token };
    let runtime = caller.client.add_runtime(&add).await?;
    if caller.config.json {
        return output::json(&runtime);
    }
    let detail = runtime.detail.as_deref().map(|detail| format!(" ({detail})")).unwrap_or_default();
    let state = match runtime.state {
        RuntimeState::Live => "live; its Pods are listed".to_owned(),
        state => format!("{}{detail}; retrying", word(&state)),
    };
    output::line(&format!("{name} added; {state}"))
}

async fn remove(caller: &Caller, name: &str) -> Result<()> {
    caller.client.remove_runtime(&RuntimeId::parse(name)?).await?;
    match caller.config.json {
        true => output::json(&serde_json::json!({ "removed": name })),
        false => output::line(&format!("{name} removed; its Pods stay where they are")),
    }
}
