//! Checks of the server: whether it answers, whose it is, which models it has.

use anyhow::Result;
use client::ClientError;
use jiff::Timestamp;
use protocol::{
    ErrorCode, PodState, ProviderView,
    operation::{Filled, Page},
    operations::{self, Pods},
};

use super::{Report, local};
use crate::{
    commands::{Caller, ago, providers},
    config::Config,
    data_dir, output,
};

/// `is_named`: a person chose the server, so the folder on this machine says nothing about it.
pub(super) async fn server(
    report: &mut Report,
    caller: &Caller,
    config: &Config,
    is_named: bool,
    tests: bool,
) -> Result<()> {
    let address = caller.client.address();
    report.server = Some(address.clone());
    let holder = if is_named { None } else { data_dir::holder(&config.data) };
    if let Err(error) = caller.client.health().await {
        match &holder {
            Some(pid) => {
                report.broken("server", format!("pid {pid} holds the data folder, but {address} does not answer"))
            }
            None => report.note("server", format!("no server at {address}; `yoi` starts one")),
        }
        if !is_named && holder.is_none() {
            local::port(report, config);
        }
        return Err(error.into());
    }
    match about(caller).await {
        Ok(text) => {
            let pid = holder.map(|pid| format!(", pid {pid}")).unwrap_or_default();
            report.ok("server", format!("{address} answers and takes the token{pid}; {text}"));
        }
        Err(ClientError::Api(error)) if error.code == ErrorCode::Unauthorized => {
            report.broken("server", format!("{address}: {}", output::UNAUTHORIZED));
            return Ok(());
        }
        Err(error) => {
            report.broken("server", error.to_string());
            return Ok(());
        }
    }
    walls(report, caller).await?;
    pods(report, caller).await?;
    models(report, caller, tests).await
}

/// Its version, and since when it has been running.
async fn about(caller: &Caller) -> Result<String, ClientError> {
    let runtimes = caller.client.read(&operations::Runtimes { page: Page::default() }).await?;
    let version = caller.client.version().await?;
    let since = runtimes.items.first().map(|runtime| ago(runtime.since, Timestamp::now()));
    Ok(format!("version {version}, started {}", since.as_deref().unwrap_or("some time ago")))
}

/// An older server cannot report its walls.
async fn walls(report: &mut Report, caller: &Caller) -> Result<()> {
    match caller.client.read(&operations::Walls { page: Page::default() }).await {
        Ok(found) => report.walls = found.items,
        Err(ClientError::Api(_)) => (),
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

async fn pods(report: &mut Report, caller: &Caller) -> Result<()> {
    let filter = Pods { state: Filled(Some(PodState::Broken)), ..Pods::default() };
    for pod in caller.client.read(&filter).await?.items {
        let reason = pod.state_reason.as_deref().unwrap_or("its log says why");
        report.broken("pods", format!("{} cannot be restored: {reason}", pod.name));
    }
    Ok(())
}

async fn models(report: &mut Report, caller: &Caller, tests: bool) -> Result<()> {
    let page = caller.client.read(&operations::ModelProviders { page: Page::default() }).await?;
    let (missing, usable): (Vec<_>, Vec<_>) =
        page.items.iter().cloned().partition(|provider| provider.missing.is_some());
    for provider in &missing {
        let what = provider.missing.as_deref().unwrap_or_default();
        report.note("provider", format!("{}: {what}", title(provider)));
    }
    let results = match tests {
        true => providers::test_each(caller, &usable).await?,
        false => Vec::new(),
    };
    for provider in &usable {
        match results.iter().find(|result| result.provider == provider.name) {
            Some(result) if result.is_ok => {
                let models = format!("{} models in {} ms", result.models, result.took_ms);
                report.ok("provider", format!("{} answers: {models}", title(provider)));
            }
            Some(result) => {
                let why = result.detail.as_deref().unwrap_or("it did not say why");
                report.broken("provider", format!("{} does not work: {why}", title(provider)));
            }
            None => report.ok("provider", format!("{} was not asked", title(provider))),
        }
    }
    for absent in &page.unconfigured {
        report.note("provider", format!("{} is not available: {}", absent.kind, absent.missing));
    }
    (report.providers, report.unconfigured) = (page.items, page.unconfigured);
    Ok(())
}

fn title(provider: &ProviderView) -> String {
    let default = if provider.default { ", the default" } else { "" };
    format!("{} ({}, {}{default})", provider.name, provider.kind, provider.source)
}
