//! Facts about models: from the built-in table, from their servers, and from the configuration. Later sources
//! override earlier ones.

mod table;

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use protocol::{Cost, Currency, FactOrigin, FactOrigins, ModelFacts, ModelView, Price, Prices, Thinking, Usage};
use serde::Deserialize;

use crate::ProviderKind;

/// How long a server's list of models counts as fresh.
const LIST_AGE_MAX: Duration = Duration::from_secs(60);

/// Ollama gives a model as much context as the request asks for, and allocates memory for it. By default yoi asks for
/// no more than this.
pub(crate) const OLLAMA_CONTEXT_MAX: u64 = 16_384;

/// `[models."NAME"]` in the configuration; prices are per million tokens.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ModelSettings {
    pub context_limit: Option<u64>,
    pub output_limit: Option<u64>,
    pub input: Option<Price>,
    pub output: Option<Price>,
    pub cached: Option<Price>,
    pub cache_write: Option<Price>,
    /// ISO 4217; US dollars if absent.
    pub currency: Option<String>,
    pub images: Option<bool>,
    pub tools: Option<bool>,
    pub thinking: Option<Vec<Thinking>>,
}

/// Whether the model is known to think; some do without being asked to.
pub(crate) fn thinks(model: &str) -> bool {
    table::facts(model).thinking.is_some_and(|levels| levels.iter().any(|level| *level != Thinking::Off))
}

impl ModelSettings {
    /// What is wrong with these settings, as a sentence.
    pub fn refusal(&self) -> Option<&'static str> {
        let has_more = self.cached.is_some() || self.cache_write.is_some() || self.currency.is_some();
        match (self.input, self.output) {
            (Some(_), Some(_)) => (),
            (None, None) if !has_more => (),
            _ => return Some("prices need both input and output"),
        }
        let is_currency = |text: &String| text.parse().is_ok_and(|currency: Currency| currency != Currency::SEVERAL);
        if !self.currency.as_ref().is_none_or(is_currency) {
            return Some("a currency is three capital letters, such as USD or EUR");
        }
        if self.context_limit == Some(0) || self.output_limit == Some(0) {
            return Some("a limit is at least 1 token");
        }
        self.thinking
            .as_ref()
            .is_some_and(Vec::is_empty)
            .then_some("thinking needs a level; write [\"off\"] for a model that does not think")
    }

    fn facts(&self) -> ModelFacts {
        let prices = self.input.zip(self.output).map(|(input, output)| Prices {
            input,
            output,
            cached: self.cached,
            cache_write: self.cache_write,
        });
        let mut thinking = self.thinking.clone();
        thinking.iter_mut().for_each(|levels| {
            levels.sort_unstable();
            levels.dedup();
        });
        let facts = ModelFacts {
            context_limit: self.context_limit,
            output_limit: self.output_limit,
            currency: prices.map(|_| self.currency.clone().unwrap_or_else(|| DOLLARS.to_owned())),
            prices,
            images: self.images,
            tools: self.tools,
            thinking,
            origin: FactOrigins::default(),
        };
        said_by(FactOrigin::Config, facts)
    }
}

const DOLLARS: &str = "USD";

/// The facts known about models. Unknown facts are absent.
#[derive(Debug, Default)]
pub struct Catalogue {
    configured: BTreeMap<String, ModelSettings>,
    /// Each provider's list of models, with the time when it was fetched.
    told: Mutex<HashMap<String, (Instant, Vec<ModelView>)>>,
}

impl Catalogue {
    pub fn new(configured: BTreeMap<String, ModelSettings>) -> Self {
        Self { configured, told: Mutex::default() }
    }

    /// What is known about this provider's model, each fact with its origin.
    pub fn facts(&self, provider: &str, kind: ProviderKind, model: &str) -> ModelFacts {
        let mut facts = said_by(FactOrigin::Table, table::facts(model));
        if kind == ProviderKind::Ollama {
            // The table's prices are those of vendors.
            (facts.prices, facts.currency, facts.origin.prices) = (None, None, None);
            facts.context_limit = facts.context_limit.map(|limit| limit.min(OLLAMA_CONTEXT_MAX));
        }
        // The rehearsal model is the same under any name.
        let is_it = |view: &ModelView| view.name == model || kind == ProviderKind::Rehearsal;
        if let Some(told) = self.told(provider).and_then(|list| list.into_iter().find(is_it)) {
            overlay(&mut facts, told.facts);
        }
        if let Some(configured) = self.configured.get(model) {
            overlay(&mut facts, configured.facts());
        }
        facts
    }

    /// Stores what a provider's server reports about its models.
    pub(crate) fn tell(&self, provider: &str, list: Vec<ModelView>) {
        let list = list.into_iter().map(|view| ModelView { facts: said_by(FactOrigin::Server, view.facts), ..view });
        let list = (Instant::now(), list.collect());
        self.told.lock().unwrap_or_else(PoisonError::into_inner).insert(provider.to_owned(), list);
    }

    /// The last list from a provider's server, however old.
    pub(crate) fn told(&self, provider: &str) -> Option<Vec<ModelView>> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).get(provider).map(|(_, list)| list.clone())
    }

    /// Whether that list is fresh enough not to ask again.
    pub(crate) fn is_fresh(&self, provider: &str) -> bool {
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.get(provider).is_some_and(|(at, _)| at.elapsed() < LIST_AGE_MAX)
    }

    /// Completes a call's usage with the model's context limit and the cost.
    pub(crate) fn account(&self, provider: &str, kind: ProviderKind, model: &str, usage: Usage) -> Usage {
        let facts = self.facts(provider, kind, model);
        let cost = facts.prices.map(|prices| cost(&prices, &usage));
        let currency = facts.currency.as_deref().and_then(|name| name.parse::<Currency>().ok()?.told());
        Usage {
            context_limit: facts.context_limit.unwrap_or(0),
            cost,
            currency: currency.filter(|_| cost.is_some()),
            ..usage
        }
    }
}

/// Input that was neither read from nor written to a cache has the input price, as has anything without a price of
/// its own.
fn cost(prices: &Prices, usage: &Usage) -> Cost {
    let Usage { input, cached, written, output, .. } = *usage;
    let plain = input.saturating_sub(cached).saturating_sub(written);
    prices.input.times(plain)
        + prices.cached.unwrap_or(prices.input).times(cached)
        + prices.cache_write.unwrap_or(prices.input).times(written)
        + prices.output.times(output)
}

/// Marks all these facts with one origin.
fn said_by(origin: FactOrigin, facts: ModelFacts) -> ModelFacts {
    let is = |is_there: bool| is_there.then_some(origin);
    let origin = FactOrigins {
        context_limit: is(facts.context_limit.is_some()),
        output_limit: is(facts.output_limit.is_some()),
        prices: is(facts.prices.is_some()),
        images: is(facts.images.is_some()),
        tools: is(facts.tools.is_some()),
        thinking: is(facts.thinking.is_some()),
    };
    ModelFacts { origin, ..facts }
}

/// Overrides known facts by better ones.
fn overlay(facts: &mut ModelFacts, better: ModelFacts) {
    fn put<T>(fact: &mut Option<T>, origin: &mut Option<FactOrigin>, better: Option<T>, from: Option<FactOrigin>) {
        if better.is_some() {
            (*fact, *origin) = (better, from);
        }
    }
    let (origin, from) = (&mut facts.origin, better.origin);
    put(&mut facts.context_limit, &mut origin.context_limit, better.context_limit, from.context_limit);
    put(&mut facts.output_limit, &mut origin.output_limit, better.output_limit, from.output_limit);
    if better.prices.is_some() {
        facts.currency = better.currency;
    }
    put(&mut facts.prices, &mut origin.prices, better.prices, from.prices);
    put(&mut facts.images, &mut origin.images, better.images, from.images);
    put(&mut facts.tools, &mut origin.tools, better.tools, from.tools);
    put(&mut facts.thinking, &mut origin.thinking, better.thinking, from.thinking);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ProviderKind::OpenAi;

    fn price(amount: f64) -> Option<Price> {
        Some(Price::of(amount).unwrap())
    }

    fn configured(settings: ModelSettings) -> Catalogue {
        Catalogue::new(BTreeMap::from([("m".to_owned(), settings)]))
    }

    #[test]
    fn what_is_configured_counts_more_than_what_a_server_says_and_that_more_than_the_table() {
        let settings = ModelSettings { output_limit: Some(5), ..ModelSettings::default() };
        let catalogue = Catalogue::new(BTreeMap::from([("gpt-5.1".to_owned(), settings)]));
        let table = catalogue.facts("mine", OpenAi, "gpt-5.1");
        assert_eq!(table.origin.context_limit, Some(FactOrigin::Table));
        let facts = ModelFacts { context_limit: Some(9), output_limit: Some(7), ..ModelFacts::default() };
        catalogue.tell("mine", vec![ModelView { name: "gpt-5.1".to_owned(), facts }]);
        let facts = catalogue.facts("mine", OpenAi, "gpt-5.1");
        assert_eq!((facts.context_limit, facts.origin.context_limit), (Some(9), Some(FactOrigin::Server)));
        assert_eq!((facts.output_limit, facts.origin.output_limit), (Some(5), Some(FactOrigin::Config)));
        assert_eq!(facts.origin.prices, Some(FactOrigin::Table));
        assert_eq!(catalogue.facts("other", OpenAi, "gpt-5.1").context_limit, table.context_limit, "another server's");
    }

    #[test]
    fn nothing_is_known_of_a_model_that_nobody_describes() {
        assert_eq!(Catalogue::default().facts("mine", OpenAi, "my-own-model"), ModelFacts::default());
        let usage = Usage { input: 10, output: 5, ..Usage::default() };
        assert_eq!(Catalogue::default().account("mine", OpenAi, "my-own-model", usage), usage);
    }

    #[test]
    fn each_token_has_its_own_price() {
        let prices = ModelSettings { input: price(3.0), output: price(15.0), ..ModelSettings::default() };
        let usage = Usage { input: 1_000, cached: 600, written: 100, output: 10, ..Usage::default() };
        let cost = |settings: &ModelSettings| {
            configured(settings.clone()).account("p", OpenAi, "m", usage).cost.unwrap().to_string()
        };
        assert_eq!(cost(&prices), "0.00315");
        let whole = ModelSettings { cached: price(0.3), cache_write: price(3.75), ..prices };
        assert_eq!(cost(&whole), "0.001605");
        assert_eq!(configured(whole.clone()).facts("p", OpenAi, "m").currency.as_deref(), Some("USD"));
        let told = |settings| configured(settings).account("p", OpenAi, "m", usage).currency;
        assert_eq!(told(whole.clone()), None, "dollars are not told");
        assert_eq!(told(ModelSettings { currency: Some("EUR".to_owned()), ..whole }), "EUR".parse().ok());
    }

    #[test]
    fn settings_that_mean_nothing_are_refused() {
        let input = ModelSettings { input: price(1.0), ..ModelSettings::default() };
        assert!(input.refusal().is_some());
        assert!(ModelSettings { output: price(1.0), ..input.clone() }.refusal().is_none());
        assert!(ModelSettings { output: price(1.0), currency: Some("euro".to_owned()), ..input }.refusal().is_some());
        assert!(ModelSettings { context_limit: Some(0), ..ModelSettings::default() }.refusal().is_some());
        assert!(ModelSettings { thinking: Some(Vec::new()), ..ModelSettings::default() }.refusal().is_some());
        assert!(ModelSettings::default().refusal().is_none());
    }
}
