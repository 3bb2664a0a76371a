//! Searching the transcripts, and the results.

mod asked;
mod form;
mod groups;
pub(crate) mod page;
mod results;

pub(crate) use self::{
    asked::{Asked, Found},
    form::SearchForm,
    results::{Results, status_words},
};

/// The id of the field that gets the focus.
pub(crate) const FIELD: &str = "search";
