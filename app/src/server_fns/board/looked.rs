//! When you last looked, as the browser's cookie tells it: `since.left`, both in milliseconds since 1970.

use jiff::{SignedDuration, Timestamp};
use leptos::prelude::use_context;

/// The cookie's name.
const COOKIE: &str = "yoi-looked";

/// Whoever comes back sooner has only been on another page: the board goes on where it was.
const AWAY: SignedDuration = SignedDuration::from_mins(30);

/// Whoever has never looked sees this much.
const FIRST: SignedDuration = SignedDuration::from_hours(24);

/// When the reader of this request last looked.
pub(super) fn since() -> Timestamp {
    let parts = use_context::<axum::http::request::Parts>();
    let cookies =
        parts.iter().flat_map(|parts| parts.headers.get_all("cookie")).filter_map(|value| value.to_str().ok());
    let told =
        cookies.flat_map(|line| line.split(';')).find_map(|pair| pair.trim().strip_prefix(COOKIE)?.strip_prefix('='));
    since_of(told.unwrap_or_default(), Timestamp::now())
}

fn since_of(cookie: &str, now: Timestamp) -> Timestamp {
    let moment = |ms: &str| Timestamp::from_millisecond(ms.parse().ok()?).ok().filter(|at| *at <= now);
    let told = cookie.split_once('.').and_then(|(since, left)| Some((moment(since)?, moment(left)?)));
    match told {
        Some((since, left)) if now.duration_since(left) < AWAY => since,
        Some((_, left)) => left,
        None => now - FIRST,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_absence_does_not_count_and_a_bad_cookie_is_none() {
        let at = |minutes: i64| Timestamp::from_second(1_000_000 + minutes * 60).unwrap();
        let ms = |minutes: i64| at(minutes).as_millisecond();
        let now = at(600);
        assert_eq!(since_of(&format!("{}.{}", ms(0), ms(590)), now), at(0));
        assert_eq!(since_of(&format!("{}.{}", ms(0), ms(500)), now), at(500));
        for bad in ["", "x", "1", "x.y", "9999999999999999999.1", &format!("{}.{}", ms(700), ms(701))] {
            assert_eq!(since_of(bad, now), now - FIRST, "{bad}");
        }
    }
}
