use anyhow::{Result, bail};
use futures_util::future::join_all;
use protocol::{Listing, ProviderTest, ProviderView};
use protocol::{operation::Page, operations};

use super::Caller;
use crate::{
    cli::{ProvidersOptions, ProvidersVerb},
    output,
};

/// Prints the providers, or tests them.
pub(super) async fn providers(caller: &Caller, options: ProvidersOptions) -> Result<()> {
    match options.verb {
        Some(ProvidersVerb::Test { name: Some(name) }) => test_one(caller, &name).await,
        Some(ProvidersVerb::Test { name: None }) => test_all(caller).await,
        None => list(caller).await,
    }
}

async fn list(caller: &Caller) -> Result<()> {
    let page = caller.client.read(&operations::ModelProviders { page: Page::default() }).await?;
    if caller.config.json {
        return output::json(&page);
    }
    output::headed(["NAME", "KIND", "FOUND IN", "MODELS"], page.items.iter().map(row))?;
    for absent in &page.unconfigured {
        output::note(&format!("{} is not available: {}", absent.kind, absent.missing));
    }
    Ok(())
}

fn row(provider: &ProviderView) -> [String; 4] {
    let name = if provider.default { format!("{} (default)", provider.name) } else { provider.name.clone() };
    let models = match (&provider.missing, provider.models.as_slice()) {
        (Some(missing), _) => missing.clone(),
        (None, []) => "any name (no model list)".to_owned(),
        (None, models) => models.iter().map(|model| model.name.as_str()).collect::<Vec<_>>().join(", "),
    };
    let source = match (provider.has_key, provider.hides_key) {
        (_, true) => format!("{} (a kept key is not used)", provider.source),
        (true, false) => format!("{}, with a key", provider.source),
        (false, false) => provider.source.clone(),
    };
    [name, provider.kind.to_string(), source, models]
}

async fn test_one(caller: &Caller, name: &str) -> Result<()> {
    let test = caller.client.read(&operations::TestProvider { name: name.to_owned() }).await?;
    match caller.config.json {
        true => output::json(&test)?,
        false => output::line(&said(&test))?,
    }
    judge(std::slice::from_ref(&test))
}

async fn test_all(caller: &Caller) -> Result<()> {
    let tests =
        test_each(caller, &caller.client.read(&operations::ModelProviders { page: Page::default() }).await?.items)
            .await?;
    match caller.config.json {
        true => output::json(&Listing { items: tests.clone(), next: None })?,
        false => tests.iter().try_for_each(|test| output::line(&said(test)))?,
    }
    judge(&tests)
}

/// Tests all of them at the same time.
pub(super) async fn test_each(caller: &Caller, providers: &[ProviderView]) -> Result<Vec<ProviderTest>> {
    let tests = join_all(
        providers
            .iter()
            .map(async |provider| caller.client.read(&operations::TestProvider { name: provider.name.clone() }).await),
    )
    .await;
    Ok(tests.into_iter().collect::<Result<_, _>>()?)
}

/// The result of a test, in a sentence.
pub(super) fn said(test: &ProviderTest) -> String {
    match (test.is_ok, &test.detail) {
        (true, _) => format!("{} works: {} models, answered in {} ms", test.provider, test.models, test.took_ms),
        (false, Some(detail)) => format!("{} does not work: {detail}", test.provider),
        (false, None) => format!("{} does not work", test.provider),
    }
}

fn judge(tests: &[ProviderTest]) -> Result<()> {
    let broken: Vec<_> = tests.iter().filter(|test| !test.is_ok).map(|test| test.provider.as_str()).collect();
    match broken.as_slice() {
        [] => Ok(()),
        broken => bail!("{} gave an unexpected answer", broken.join(", ")),
    }
}
