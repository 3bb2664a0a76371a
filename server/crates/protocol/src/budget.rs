//! A Pod's usage limit.

use serde::{Deserialize, Serialize};

use crate::{Cost, Currency};

/// The most that a Pod may use together with all Pods below it: money, tokens (input and output), or both.
/// The first limit reached counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Budget {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// The currency of the cost, and the only one that is counted; US dollars when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub currency: Option<Currency>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    pub per: BudgetPer,
}

/// How long a budget lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum BudgetPer {
    /// For all that the Pod ever uses.
    Total,
    /// Anew each day, in UTC.
    Day,
}

/// How much of a budget the Pod and all Pods below it have used: in total, or today.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BudgetUse {
    pub tokens: u64,
    /// The cost of everything priced in the budget's currency; absent when nothing is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// Percent of the budget that is used, rounded down; of cost and tokens, whichever is nearer to its limit.
    pub percent: u64,
}

impl Budget {
    /// What is wrong with it, as a sentence.
    pub fn refusal(&self) -> Option<&'static str> {
        if self.cost.is_none() && self.tokens.is_none() {
            return Some("a budget says cost or tokens, or is null for none");
        }
        if self.currency == Some(Currency::SEVERAL) || (self.currency.is_some() && self.cost.is_none()) {
            return Some("a currency is that of a cost, such as USD or EUR");
        }
        let is_nothing = self.tokens == Some(0) || self.cost == Some(Cost::default());
        is_nothing.then_some("a budget is more than nothing; pause or stop a Pod that may use nothing")
    }

    /// How much of it is used, in percent, rounded down; of cost and tokens, whichever is nearer to its limit.
    pub fn percent(&self, tokens: u64, cost: Option<Cost>) -> u64 {
        let of = |used: u64, most: u64| u128::from(used) * 100 / u128::from(most.max(1));
        let tokens = self.tokens.map(|most| of(tokens, most));
        let cost = self.cost.map(|most| of(cost.unwrap_or_default().units(), most.units()));
        tokens.into_iter().chain(cost).max().and_then(|percent| u64::try_from(percent).ok()).unwrap_or_default()
    }

    /// The use of this budget with these totals.
    pub fn used(&self, tokens: u64, cost: Option<Cost>) -> BudgetUse {
        BudgetUse { tokens, cost, percent: self.percent(tokens, cost) }
    }

    /// Parses what [`Self::words`] writes, and `none`. The error is a sentence.
    ///
    /// # Errors
    /// For anything else, and for a budget of zero.
    pub fn read(text: &str) -> Result<Option<Self>, String> {
        const HELP: &str =
            "a budget is like $5, 5 EUR, 50000 tokens, $5 or 50000 tokens, with a day behind it for each day, or none";
        let text = text.trim();
        if text == "none" {
            return Ok(None);
        }
        let (most, per) = match text.strip_suffix("a day").or_else(|| text.strip_suffix("day")) {
            Some(most) => (most, BudgetPer::Day),
            None => (text, BudgetPer::Total),
        };
        let mut budget = Self { cost: None, currency: None, tokens: None, per };
        for part in most.split(" or ").map(str::trim) {
            let is_read = match (part.strip_prefix('$'), part.strip_suffix("tokens")) {
                (Some(amount), _) => amount.parse().map(|cost| budget.cost = Some(cost)).is_ok(),
                (None, Some(count)) => count.trim().parse().map(|tokens| budget.tokens = Some(tokens)).is_ok(),
                (None, None) => budget.read_amount(part).is_some(),
            };
            if !is_read {
                return Err(HELP.to_owned());
            }
        }
        match budget.refusal() {
            Some(sentence) => Err(sentence.to_owned()),
            None => Ok(Some(budget)),
        }
    }

    /// Parses `5 EUR`.
    fn read_amount(&mut self, text: &str) -> Option<()> {
        let (amount, currency) = text.split_once(' ')?;
        let currency: Currency = currency.trim().parse().ok()?;
        (self.cost, self.currency) = (Some(amount.parse().ok()?), currency.told());
        Some(())
    }

    /// `50000 tokens`, `$2.5`, `5 EUR`, `$2.5 or 50000 tokens a day`.
    pub fn words(&self) -> String {
        let cost = self.cost.map(|cost| match self.currency {
            None | Some(Currency::USD) => format!("${cost}"),
            Some(currency) => format!("{cost} {currency}"),
        });
        let tokens = self.tokens.map(|tokens| format!("{tokens} tokens"));
        let most = cost.into_iter().chain(tokens).collect::<Vec<_>>().join(" or ");
        match self.per {
            BudgetPer::Total => most,
            BudgetPer::Day => format!("{most} a day"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Budget {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn whichever_is_nearer_to_its_end_counts() {
        let both = read(r#"{ "cost": "2", "tokens": 1000, "per": "day" }"#);
        let cost = |text: &str| Some(text.parse().unwrap());
        assert_eq!(both.percent(799, cost("1")), 79);
        assert_eq!(both.percent(10, cost("1.999999")), 99);
        assert_eq!(both.percent(0, None), 0);
        assert_eq!(both.percent(u64::MAX, None), u64::MAX / 10);
        assert_eq!(both.words(), "$2 or 1000 tokens a day");
    }

    #[test]
    fn what_is_written_is_read() {
        for text in ["$5", "50000 tokens", "$0.25 or 100 tokens", "$5 a day", "7 tokens a day", "2.5 EUR or 9 tokens"] {
            assert_eq!(Budget::read(text).unwrap().unwrap().words(), text);
        }
        assert_eq!(Budget::read("$5 day").unwrap().unwrap().per, BudgetPer::Day);
        assert_eq!(Budget::read("5 USD"), Budget::read("$5"));
        assert_eq!(Budget::read(" none "), Ok(None));
        for text in
            ["", "5", "$", "$-1", "many tokens", "$5 and 7 tokens", "$0", "0 tokens", "day", "5 euro", "5 several"]
        {
            assert!(Budget::read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_budget_of_nothing_is_none() {
        assert!(read(r#"{ "per": "total" }"#).refusal().is_some());
        assert!(read(r#"{ "tokens": 0, "per": "total" }"#).refusal().is_some());
        assert!(read(r#"{ "cost": 0, "per": "total" }"#).refusal().is_some());
        assert!(read(r#"{ "cost": 0.5, "per": "total" }"#).refusal().is_none());
        assert!(read(r#"{ "cost": 5, "currency": "EUR", "per": "total" }"#).refusal().is_none());
        assert!(read(r#"{ "tokens": 5, "currency": "EUR", "per": "total" }"#).refusal().is_some());
        assert!(serde_json::from_str::<Budget>(r#"{ "tokens": 5 }"#).is_err(), "per has to be said");
    }
}
