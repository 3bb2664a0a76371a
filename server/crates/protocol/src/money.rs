//! Prices and costs of tokens. Exact: no amount of money is a float.

use std::{fmt, iter::Sum, ops::Add, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A price of one million tokens, in millionths of its currency, and so the price of one token in [`Cost`]'s own unit.
/// A JSON number, such as `1.25`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Price(u64);

/// What tokens cost, in millionths of a millionth of a currency. A decimal string in JSON, such as `"0.001875"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Cost(u64);

/// No million tokens costs this much.
const PRICE_MAX: f64 = 1e9;
/// Millionths in one.
const MILLION: u64 = 1_000_000;
/// Cost units in one unit of currency, and the digits after the decimal point.
const UNITS: u64 = MILLION * MILLION;
const DIGITS: usize = 12;

/// A text or number that is not a price or cost.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("an amount of money is a decimal number that is not negative, such as 1.25")]
pub struct AmountError;

impl Price {
    /// A price per million tokens, rounded to six decimal places.
    ///
    /// # Errors
    /// If it is negative or unreasonably large.
    pub fn of(amount: f64) -> Result<Self, AmountError> {
        if !(0.0..=PRICE_MAX).contains(&amount) {
            return Err(AmountError);
        }
        // In range, as checked above.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked above")]
        let millionths = (amount * MILLION as f64).round() as u64;
        Ok(Self(millionths))
    }

    pub fn as_f64(self) -> f64 {
        self.0 as f64 / MILLION as f64
    }

    /// The cost of this many tokens.
    pub fn times(self, tokens: u64) -> Cost {
        Cost(self.0.saturating_mul(tokens))
    }
}

impl fmt::Display for Price {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        decimal(self.0, MILLION, 6, formatter)
    }
}

impl Cost {
    /// In units of 10⁻¹² of its currency.
    pub fn units(self) -> u64 {
        self.0
    }

    pub fn from_units(units: u64) -> Self {
        Self(units)
    }

    /// Precise enough for drawing.
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / UNITS as f64
    }

    /// The cost rounded to this many digits after the decimal point, at most 12: `1.25`.
    pub fn rounded(self, digits: u32) -> String {
        let scale = 10_u64.pow(digits);
        let step = UNITS / scale;
        let steps = self.0.saturating_add(step / 2) / step;
        format!("{}.{:0digits$}", steps / scale, steps % scale, digits = digits as usize)
    }

    /// The sum of what is priced; `None` if nothing is.
    pub fn both(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        one.into_iter().chain(other).reduce(Add::add)
    }
}

impl Add for Cost {
    type Output = Self;

    fn add(self, more: Self) -> Self {
        Self(self.0.saturating_add(more.0))
    }
}

impl Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        costs.fold(Self::default(), Add::add)
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        decimal(self.0, UNITS, DIGITS, formatter)
    }
}

impl FromStr for Cost {
    type Err = AmountError;

    /// Parses what [`fmt::Display`] writes; digits after the twelfth decimal place are cut off.
    fn from_str(text: &str) -> Result<Self, AmountError> {
        let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
        let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_digits(whole) || !is_digits(part) {
            return Err(AmountError);
        }
        let part: String = part.chars().chain(std::iter::repeat('0')).take(DIGITS).collect();
        let whole: u64 = whole.parse().map_err(|_| AmountError)?;
        let part: u64 = part.parse().map_err(|_| AmountError)?;
        whole.checked_mul(UNITS).and_then(|units| units.checked_add(part)).map(Self).ok_or(AmountError)
    }
}

/// `1.25`, `0.000003`, `15`: without trailing zeros.
fn decimal(value: u64, unit: u64, digits: usize, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (whole, part) = (value / unit, value % unit);
    if part == 0 {
        return write!(formatter, "{whole}");
    }
    let part = format!("{part:0digits$}");
    write!(formatter, "{whole}.{}", part.trim_end_matches('0'))
}

impl Serialize for Price {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 % MILLION {
            0 => serializer.serialize_u64(self.0 / MILLION),
            _ => serializer.serialize_f64(self.as_f64()),
        }
    }
}

impl<'de> Deserialize<'de> for Price {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::of(f64::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

impl Serialize for Cost {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Cost {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CostVisitor)
    }
}

/// Accepts a decimal string, and a number, as records of older versions may have.
struct CostVisitor;

impl de::Visitor<'_> for CostVisitor {
    type Value = Cost;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a cost as a decimal string, such as \"0.0125\"")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Cost, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_u64<E: de::Error>(self, whole: u64) -> Result<Cost, E> {
        whole.checked_mul(UNITS).map(Cost).ok_or_else(|| E::custom(AmountError))
    }

    fn visit_f64<E: de::Error>(self, amount: f64) -> Result<Cost, E> {
        Price::of(amount).map(|price| price.times(MILLION)).map_err(E::custom)
    }
}

#[cfg(feature = "openapi")]
mod shapes {
    use utoipa::{
        PartialSchema, ToSchema,
        openapi::{ObjectBuilder, RefOr, Schema, Type},
    };

    use super::{Cost, Price};

    impl PartialSchema for Price {
        fn schema() -> RefOr<Schema> {
            let text = "The price of one million tokens in the model's currency.";
            ObjectBuilder::new().schema_type(Type::Number).description(Some(text)).minimum(Some(0)).into()
        }
    }

    impl ToSchema for Price {}

    impl PartialSchema for Cost {
        fn schema() -> RefOr<Schema> {
            let text = "What tokens cost, as a decimal number in a string.";
            ObjectBuilder::new()
                .schema_type(Type::String)
                .description(Some(text))
                .pattern(Some(r"^[0-9]+(\.[0-9]+)?$"))
                .into()
        }
    }

    impl ToSchema for Cost {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tokens_cost_is_exact() {
        let (input, output) = (Price::of(1.25).unwrap(), Price::of(10.0).unwrap());
        let cost = input.times(1_001) + output.times(7);
        assert_eq!(cost.to_string(), "0.00132125");
        assert_eq!((0..10).map(|_| Price::of(0.1).unwrap().times(1)).sum::<Cost>().to_string(), "0.000001");
        assert_eq!(Price::of(3.0).unwrap().times(1_000_000).to_string(), "3");
        assert_eq!(Cost::default().to_string(), "0");
    }

    #[test]
    fn json_is_a_decimal_string_for_a_cost_and_a_number_for_a_price() {
        let cost: Cost = serde_json::from_str("\"12.000001\"").unwrap();
        assert_eq!(serde_json::to_string(&cost).unwrap(), "\"12.000001\"");
        assert_eq!(serde_json::from_str::<Cost>("0.25").unwrap().to_string(), "0.25");
        assert_eq!(serde_json::to_string(&serde_json::from_str::<Price>("0.075").unwrap()).unwrap(), "0.075");
        assert_eq!(serde_json::to_string(&serde_json::from_str::<Price>("15.0").unwrap()).unwrap(), "15");
        for text in ["\"-1\"", "\"1e3\"", "\"\"", "\"1.\"", "\".5\"", "-0.5", "\"99999999999999999999\""] {
            assert!(serde_json::from_str::<Cost>(text).is_err(), "{text}");
        }
        assert!(serde_json::from_str::<Price>("-1").is_err() && Price::of(f64::NAN).is_err());
    }
}
