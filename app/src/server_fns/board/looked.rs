//! What the browser's cookies tell: when you last looked (`since.left`, both in milliseconds since 1970), and your time
//! zone.

use jiff::{
    SignedDuration, Timestamp,
    tz::{Offset, TimeZone},
};
use leptos::prelude::use_context;

/// The cookie's name.
const COOKIE: &str = "yoi-looked";

/// The cookie with the reader's time zone, in minutes east of UTC.
const ZONE: &str = "yoi-zone";

/// Whoever comes back sooner has only been on another page: the board continues where it was.
const AWAY: SignedDuration = SignedDuration::from_mins(30);

/// Whoever has never looked sees this much.
const FIRST: SignedDuration = SignedDuration::from_hours(24);

/// When the reader of this request last looked.
pub(super) fn since() -> Timestamp {
    since_of(&cookie(COOKIE).unwrap_or_default(), Timestamp::now())
}

/// The time zone of the reader of this request; the server's own until their browser has told it.
pub(super) fn zone() -> TimeZone {
    cookie(ZONE).and_then(|told| zone_of(&told)).unwrap_or_else(TimeZone::system)
}

/// What this request's cookie of that name says.
fn cookie(name: &str) -> Option<String> {
    let parts = use_context::<axum::http::request::Parts>()?;
    let cookies = parts.headers.get_all("cookie").iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|line| line.split(';'));
    pairs.find_map(|pair| pair.trim().strip_prefix(name)?.strip_prefix('=').map(str::to_owned))
}

fn zone_of(minutes: &str) -> Option<TimeZone> {
    let seconds = minutes.parse::<i32>().ok()?.checked_mul(60)?;
    Some(TimeZone::fixed(Offset::from_seconds(seconds).ok()?))
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
    fn a_zone_is_minutes_east_of_utc_and_anything_else_is_none() {
        let hour = |zone: TimeZone| Timestamp::UNIX_EPOCH.to_zoned(zone).strftime("%H:%M").to_string();
        assert_eq!(zone_of("330").map(hour).as_deref(), Some("05:30"));
        assert_eq!(zone_of("-60").map(hour).as_deref(), Some("23:00"));
        for bad in ["", "x", "99999999999", "2147483647", "6000"] {
            assert!(zone_of(bad).is_none(), "{bad}");
        }
    }

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
