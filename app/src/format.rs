//! Figures and times for people to read: short, with a space before the unit, and the same everywhere.

use protocol::Timestamp;

/// Milliseconds from one time to another; 0 when the clocks disagree.
pub(crate) fn ms_between(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.as_millisecond() - from.as_millisecond()).unwrap_or(0)
}

/// How long ago, in one unit: `now`, `40 s`, `4 m`, `3 h`, `6 d`.
pub(crate) fn age(now: Timestamp, at: Timestamp) -> String {
    let seconds = ms_between(at, now) / 1_000;
    match seconds {
        0..10 => "now".to_owned(),
        10..60 => format!("{seconds} s"),
        60..3_600 => format!("{} m", seconds / 60),
        3_600..86_400 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// `22:31` in the viewer's time zone, with the date unless it is today. `zone` is minutes east of UTC; `None` means
/// UTC, since the server does not know the viewer's zone.
pub(crate) fn clock_time(at: Timestamp, now: Timestamp, zone: Option<i32>) -> String {
    let (there, today) = (local(at, zone), local(now, zone));
    let ((date, time), (date_today, _)) = (parts(&there), parts(&today));
    let time = time.get(..5).unwrap_or_default();
    match date == date_today {
        true => time.to_owned(),
        false => format!("{} {time}", day_name(date)),
    }
}

/// The full date and time, for a tooltip.
pub(crate) fn full_time(at: Timestamp, zone: Option<i32>) -> String {
    let there = local(at, zone);
    let (date, time) = parts(&there);
    let zone = if zone.is_some() { "" } else { " UTC" };
    format!("{date} {}{zone}", time.get(..8).unwrap_or_default())
}

/// The local time in this zone, formatted as if it were UTC.
fn local(at: Timestamp, zone: Option<i32>) -> String {
    moment(at.as_millisecond() + i64::from(zone.unwrap_or(0)) * 60_000).to_string()
}

/// Splits a timestamp's text into date and time.
fn parts(moment: &str) -> (&str, &str) {
    moment.split_once('T').unwrap_or((moment, ""))
}

/// The UTC date, as `2026-11-05`.
pub(crate) fn date(at: Timestamp) -> String {
    parts(&at.to_string()).0.to_owned()
}

/// `5 Nov` for `2026-11-05`.
pub(crate) fn day_name(date: &str) -> String {
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let mut parts = date.rsplitn(3, '-');
    let day = parts.next().unwrap_or_default().trim_start_matches('0');
    let month = parts.next().and_then(|month| month.parse::<usize>().ok()).unwrap_or(1).saturating_sub(1);
    format!("{day} {}", MONTHS.get(month * 3..month * 3 + 3).unwrap_or_default())
}

/// The end of a path, which is the part that tells two apart: `…/src/yoi`.
pub(crate) fn short_path(path: &str) -> String {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    match parts.as_slice() {
        [.., parent, last] if parts.len() > 2 => format!("…/{parent}/{last}"),
        _ => path.to_owned(),
    }
}

/// A part of a whole in percent, rounded; `None` when the whole is unknown.
pub(crate) fn percent(part: u64, whole: u64) -> Option<u64> {
    (whole > 0).then(|| (part.min(whole) * 100 + whole / 2) / whole)
}

/// `1 event`, `34 events`.
pub(crate) fn counted(count: u64, one: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        _ => format!("{count} {one}s"),
    }
}

/// Capitalizes the first letter and adds a full stop. The API's sentences have neither, so that they can follow a
/// name. They are English, so ASCII is enough: full Unicode capitals would need a table that every page loads.
pub(crate) fn sentence_case(sentence: &str) -> String {
    let mut letters = sentence.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase().to_string()).unwrap_or_default();
    let end = if sentence.ends_with(['.', '!', '?', '…']) { "" } else { "." };
    format!("{first}{}{end}", letters.as_str())
}

/// A timestamp from milliseconds since 1970; the epoch itself if out of range.
pub(crate) fn moment(ms: i64) -> Timestamp {
    Timestamp::from_millisecond(ms).unwrap_or(Timestamp::UNIX_EPOCH)
}

/// `48 lines · 3.2k characters`.
pub(crate) fn paste_words(text: &str) -> String {
    let lines = counted(text.lines().count() as u64, "line");
    format!("{lines} · {} characters", transcript::words::tokens_words(text.chars().count() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_has_one_unit_and_a_clock_that_is_behind_gives_now() {
        let now = moment(1_000_000_000);
        for (ago, text) in [(-5, "now"), (3, "now"), (40, "40 s"), (240, "4 m"), (7_300, "2 h"), (600_000, "6 d")] {
            assert_eq!(age(now, moment(1_000_000_000 - ago * 1_000)), text);
        }
    }

    #[test]
    fn a_time_is_that_of_utc_until_the_viewers_zone_is_known() {
        let at = "2026-11-21T22:31:00Z".parse().unwrap();
        let now = "2026-11-21T23:00:00Z".parse().unwrap();
        assert_eq!(clock_time(at, now, None), "22:31");
        assert_eq!(clock_time(at, now, Some(60)), "21 Nov 23:31");
        assert_eq!(clock_time(at, now, Some(-60)), "21:31");
        assert_eq!(full_time(at, Some(60)), "2026-11-21 23:31:00");
    }

    #[test]
    fn paths_keep_their_end() {
        assert_eq!(short_path("/home/kim/src/yoi"), "…/src/yoi");
        assert_eq!(short_path("/srv/x"), "/srv/x");
        assert_eq!(short_path("/"), "/");
    }

    #[test]
    fn sentences_begin_and_end_as_such() {
        assert_eq!(sentence_case("a Pod called \"ada\" is there"), "A Pod called \"ada\" is there.");
        assert_eq!(sentence_case(":stop does nothing."), ":stop does nothing.");
    }

    #[test]
    fn shares_and_counts_read_well() {
        assert_eq!((percent(76, 200), percent(1, 0), percent(9, 3)), (Some(38), None, Some(100)));
        assert_eq!((counted(1, "event"), counted(34, "event")), ("1 event".into(), "34 events".into()));
        assert_eq!(paste_words("a\nb"), "2 lines · 3 characters");
    }
}
