//! What is known about the models that Pods can use.

use anyhow::Result;
use protocol::{FactOrigin, ModelFacts, ModelItem, Price, operation::Page, operations};
use transcript::words::tokens_words;

use super::Caller;
use crate::output;

/// Shown for unknown values.
const NOT_KNOWN: &str = "–";

/// Prints the models of all providers. A fact that is not from the built-in table is marked: `*` from the model's
/// server, `+` from the configuration.
pub(super) async fn models(caller: &Caller) -> Result<()> {
    let page = caller.client.read(&operations::Models { page: Page::default() }).await?;
    if caller.config.json {
        return output::json(&page);
    }
    output::headed(["MODEL", "PROVIDER", "CONTEXT", "ANSWER", "IN", "OUT", "THINKING"], page.items.iter().map(row))?;
    output::note(
        "* from the model's server, + from the configuration, else from the built-in table; prices of a million tokens",
    );
    Ok(())
}

fn row(item: &ModelItem) -> [String; 7] {
    let ModelFacts { context_limit, output_limit, prices, currency, thinking, origin, .. } = &item.facts;
    let sign = currency.as_deref().filter(|name| *name != "USD").map_or("$".to_owned(), |name| format!("{name} "));
    let tokens = |count: &Option<u64>, from| marked(count.map(tokens_words), from);
    let price = |amount: Option<Price>| marked(amount.map(|amount| format!("{sign}{amount}")), origin.prices);
    let levels =
        thinking.as_ref().map(|levels| levels.iter().map(|level| level.as_str()).collect::<Vec<_>>().join(" "));
    [
        item.model.clone(),
        item.provider.clone(),
        tokens(context_limit, origin.context_limit),
        tokens(output_limit, origin.output_limit),
        price(prices.map(|prices| prices.input)),
        price(prices.map(|prices| prices.output)),
        marked(levels, origin.thinking),
    ]
}

/// A fact with a mark for its origin.
fn marked(fact: Option<String>, from: Option<FactOrigin>) -> String {
    let Some(fact) = fact else { return NOT_KNOWN.to_owned() };
    match from {
        Some(FactOrigin::Server) => format!("{fact}*"),
        Some(FactOrigin::Config) => format!("{fact}+"),
        Some(FactOrigin::Table) | None => fact,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fact_says_where_it_comes_from_and_what_is_not_known_is_a_dash() {
        let item = serde_json::json!({ "provider": "mine", "model": "own", "context_limit": 8_000, "thinking": ["off", "high"],
            "prices": { "input": 2, "output": 0.5 }, "currency": "EUR",
            "origin": { "context_limit": "server", "prices": "config", "thinking": "table" } });
        let cells = row(&serde_json::from_value(item).unwrap());
        assert_eq!(cells, ["own", "mine", "8k*", NOT_KNOWN, "EUR 2+", "EUR 0.5+", "off high"]);
    }
}
