//! What was looked for in the transcripts, and where it was found.

mod asked;
mod form;
mod groups;
mod marks;
pub(crate) mod page;
mod results;

pub(crate) use self::{
    asked::{Asked, Found},
    form::SearchForm,
    results::{Results, status_words},
};

/// The field in which the page begins.
pub(crate) const FIELD: &str = "search";
