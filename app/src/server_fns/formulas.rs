//! Formulas. They are drawn as MathML on the server, so that the browser loads no reader of TeX.

#[cfg(feature = "ssr")]
mod clean;
#[cfg(feature = "ssr")]
mod drawing;

use leptos::prelude::*;
use transcript::markup::Formula;

#[cfg(feature = "ssr")]
pub(crate) use self::drawing::draw;
use crate::{UiError, codec::Json};

/// The maximum number of formulas in one call.
pub const FORMULAS_MAX: usize = 32;

/// Up to [`FORMULAS_MAX`] formulas as MathML, in order. Empty for one that is wrong or too long: its source is shown.
#[server(prefix = "/fn", endpoint = "draw_formulas", input = Json, output = Json)]
pub async fn draw_formulas(formulas: Vec<Formula>) -> Result<Vec<String>, UiError> {
    // Only for callers who may read a transcript.
    super::door::caller()?;
    super::door::answer(drawing::draw_all(formulas).await)
}
