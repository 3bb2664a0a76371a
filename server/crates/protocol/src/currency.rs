//! Currencies. Amounts in different currencies are never added up.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::Cost;

/// A currency by its three letters (ISO 4217), or several at once, of which nobody makes a sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Currency([u8; 3]);

/// A text that names no currency.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a currency is three capital letters, such as USD or EUR")]
pub struct CurrencyError;

/// How several currencies are written.
const SEVERAL: &str = "several";

impl Currency {
    /// US dollars, the default.
    pub const USD: Self = Self(*b"USD");
    /// Several currencies, which have no sum.
    pub const SEVERAL: Self = Self([0; 3]);

    pub fn as_str(&self) -> &str {
        match *self {
            Self::SEVERAL => SEVERAL,
            _ => str::from_utf8(&self.0).unwrap_or(SEVERAL),
        }
    }

    /// `None` for US dollars, which are the default and not written.
    pub fn told(self) -> Option<Self> {
        (self != Self::USD).then_some(self)
    }
}

impl Default for Currency {
    fn default() -> Self {
        Self::USD
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl FromStr for Currency {
    type Err = CurrencyError;

    fn from_str(text: &str) -> Result<Self, CurrencyError> {
        match <[u8; 3]>::try_from(text.as_bytes()) {
            Ok(letters) if letters.iter().all(u8::is_ascii_uppercase) => Ok(Self(letters)),
            _ if text == SEVERAL => Ok(Self::SEVERAL),
            _ => Err(CurrencyError),
        }
    }
}

impl Serialize for Currency {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Currency {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

/// A cost and its currency; `None` as currency means US dollars.
pub type Priced = (Option<Cost>, Option<Currency>);

/// The sum of what is priced; no cost if nothing is. Different currencies have no sum, which [`Currency::SEVERAL`]
/// says.
pub fn both_priced((one, in_one): Priced, (other, in_other): Priced) -> Priced {
    let is_priced = |cost: Option<Cost>, currency: Option<Currency>| cost.is_some() || currency.is_some();
    match (is_priced(one, in_one), is_priced(other, in_other)) {
        (_, false) => (one, in_one),
        (false, _) => (other, in_other),
        _ if in_one == in_other && in_one != Some(Currency::SEVERAL) => (Cost::both(one, other), in_one),
        _ => (None, Some(Currency::SEVERAL)),
    }
}

#[cfg(feature = "openapi")]
mod shape {
    use utoipa::{
        PartialSchema, ToSchema,
        openapi::{ObjectBuilder, RefOr, Schema, Type},
    };

    impl PartialSchema for super::Currency {
        fn schema() -> RefOr<Schema> {
            let text = "A currency by its three-letter code, or `several`, for which there is no sum. USD when absent.";
            let pattern = Some("^([A-Z]{3}|several)$");
            ObjectBuilder::new().schema_type(Type::String).description(Some(text)).pattern(pattern).into()
        }
    }

    impl ToSchema for super::Currency {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_currency_is_three_letters() {
        for text in ["USD", "EUR", "several"] {
            assert_eq!(text.parse::<Currency>().unwrap().to_string(), text);
        }
        for text in ["", "usd", "EURO", "E1R", "€"] {
            assert!(text.parse::<Currency>().is_err(), "{text}");
        }
        assert_eq!((Currency::USD.told(), Currency::default()), (None, Currency::USD));
    }

    #[test]
    fn only_what_is_of_one_currency_is_added_up_in_whatever_order() {
        let cost = |text: &str| Some(text.parse::<Cost>().unwrap());
        let euro = "EUR".parse().ok();
        let sum = |parts: &[Priced]| parts.iter().copied().fold((None, None), both_priced);
        assert_eq!(sum(&[(cost("1"), None), (None, None), (cost("2"), None)]), (cost("3"), None));
        assert_eq!(sum(&[(None, None), (cost("1"), euro), (cost("2"), euro)]), (cost("3"), euro));
        let several = (None, Some(Currency::SEVERAL));
        assert_eq!(sum(&[(cost("1"), euro), (cost("2"), None)]), several);
        assert_eq!(sum(&[(cost("2"), None), (cost("1"), euro), (cost("5"), None), (None, None)]), several);
        assert_eq!(both_priced(several, several), several);
    }
}
