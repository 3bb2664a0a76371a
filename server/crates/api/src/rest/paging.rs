//! Pages of the lists that the backend gives as a whole: runtimes, peers, questions and the like. They are short, so
//! without `limit` all of it is one page.

use protocol::{ApiError, ErrorCode, Listing, open_cursor, seal_cursor};
use serde::Deserialize;

use crate::{
    answer::Problem,
    extract::{cursor, limit},
};

const PAGE_MAX: u32 = 1_000;

#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PageAsked {
    /// `next` of the page before.
    after: Option<String>,
    /// At most so many, never more than 1,000; all when absent.
    #[param(value_type = Option<u32>, minimum = 1)]
    limit: Option<String>,
}

impl PageAsked {
    /// What comes after the cursor, in which is the key of the last item before it: what is put in or taken out elsewhere
    /// moves nothing. `cursor_invalid` when no item has this key (any more).
    pub(crate) fn of<T>(&self, items: Vec<T>, key: impl Fn(&T) -> String) -> Result<Listing<T>, Problem> {
        let fit = limit(self.limit.as_deref(), u32::MAX, PAGE_MAX)? as usize;
        let start = match cursor(self.after.clone()) {
            None => 0,
            Some(after) => {
                let last = open_cursor(&after).ok_or_else(stale)?;
                1 + items.iter().position(|item| key(item) == last).ok_or_else(stale)?
            }
        };
        let is_last = items.len() - start <= fit;
        let items: Vec<T> = items.into_iter().skip(start).take(fit).collect();
        let next = items.last().filter(|_| !is_last).map(|last| seal_cursor(&key(last)));
        Ok(Listing { items, next })
    }
}

fn stale() -> Problem {
    let sentence = "the cursor is not one of this list, or what it pointed to is gone; begin without `after`";
    Problem(ApiError::new(ErrorCode::CursorInvalid, sentence))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As a client has it from the page before.
    fn sealed(key: &str) -> String {
        if key.is_empty() { String::new() } else { seal_cursor(key) }
    }

    fn page(after: Option<&str>, limit: Option<&str>) -> Result<(String, Option<String>), &'static str> {
        let asked = PageAsked { after: after.map(sealed), limit: limit.map(str::to_owned) };
        let page = asked.of(vec!['a', 'b', 'c'], char::to_string).map_err(|problem| problem.0.code.as_str())?;
        Ok((page.items.iter().collect(), page.next))
    }

    #[test]
    fn a_short_list_is_one_page_unless_less_is_asked_for() {
        assert_eq!(page(None, None), Ok(("abc".to_owned(), None)));
        assert_eq!(page(Some(""), Some("3")), Ok(("abc".to_owned(), None)));
        assert_eq!(page(None, Some("2")), Ok(("ab".to_owned(), Some(sealed("b")))));
        assert_eq!(page(Some("b"), Some("2")), Ok(("c".to_owned(), None)));
        assert_eq!(page(Some("a"), Some("1")), Ok(("b".to_owned(), Some(sealed("b")))));
        assert_eq!(page(Some("c"), None), Ok((String::new(), None)));
    }

    #[test]
    fn a_foreign_cursor_and_a_limit_that_is_none_are_refused() {
        assert_eq!(page(Some("z"), None), Err("cursor_invalid"));
        assert_eq!(page(None, Some("0")), Err("invalid_input"));
    }
}
