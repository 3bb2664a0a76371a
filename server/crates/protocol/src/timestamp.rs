//! A moment in time for the browser's half: exactly what is on the wire, with nanosecond precision, and no calendar
//! beyond that.
//!
//! On servers it is `jiff::Timestamp`, whose zones, formats and errors would be a tenth of what the browser loads,
//! and are not needed there. Both read and write the same text; the public items here have jiff's names and meanings.

// On other targets it is compiled only for its tests.
#![cfg_attr(not(target_arch = "wasm32"), allow(dead_code, unreachable_pub))]

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize, de};

const SECONDS_OF_DAY: i64 = 86_400;

/// The range of years with four digits, in seconds since 1970: from 0000-01-01 to 9999-12-31.
const FIRST_SECOND: i64 = -62_167_219_200;
const LAST_SECOND: i64 = 253_402_300_799;

/// A time since 1970, in UTC.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp {
    second: i64,
    /// Within `second`: below 1,000,000,000.
    nanosecond: u32,
}

/// The text is not of the form `2026-11-21T22:31:00.5Z`, or the year is not in 0 to 9999.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a moment has the form 2026-11-21T22:31:00.5Z")]
pub struct TimestampError;

impl Timestamp {
    pub const UNIX_EPOCH: Self = Self { second: 0, nanosecond: 0 };

    pub fn from_millisecond(ms: i64) -> Result<Self, TimestampError> {
        Self::new(ms.div_euclid(1_000), ms.rem_euclid(1_000) as u32 * 1_000_000)
    }

    /// Rounded towards 1970.
    pub fn as_millisecond(self) -> i64 {
        let ms = self.second * 1_000 + i64::from(self.nanosecond / 1_000_000);
        ms + i64::from(self.second < 0 && !self.nanosecond.is_multiple_of(1_000_000))
    }

    fn new(second: i64, nanosecond: u32) -> Result<Self, TimestampError> {
        let fits = (FIRST_SECOND..=LAST_SECOND).contains(&second);
        fits.then_some(Self { second, nanosecond }).ok_or(TimestampError)
    }
}

/// The year, month and day of a number of days after 1970-01-01.
fn date(days: i64) -> (i64, i64, i64) {
    // Years start in March here, so that a leap day is the last of its year; 400 of them have 146,097 days.
    let from_march = days + 719_468;
    let (era, day_of_era) = (from_march.div_euclid(146_097), from_march.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

/// The inverse: the number of days after 1970-01-01.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// Parses a text from its beginning.
struct Reader<'text>(&'text [u8]);

impl Reader<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn one_of(&mut self, wanted: &[u8]) -> Option<u8> {
        self.byte().filter(|byte| wanted.contains(byte))
    }

    /// A number with exactly this many digits.
    fn number(&mut self, digits: usize) -> Option<i64> {
        (0..digits).try_fold(0, |number, _| {
            let digit = self.byte().filter(u8::is_ascii_digit)?;
            Some(number * 10 + i64::from(digit - b'0'))
        })
    }

    /// The decimal fraction as nanoseconds; 0 if there is none.
    fn fraction(&mut self) -> Option<u32> {
        let mut nanosecond = 0;
        if self.0.first() == Some(&b'.') {
            self.byte();
            let digits = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
            if !(1..=9).contains(&digits) {
                return None;
            }
            nanosecond = self.number(digits)? * 10_i64.pow(9 - digits as u32);
        }
        u32::try_from(nanosecond).ok()
    }

    /// The offset in seconds east of UTC.
    fn offset(&mut self) -> Option<i64> {
        let sign = match self.one_of(b"Zz+-")? {
            b'+' => 1,
            b'-' => -1,
            _ => return Some(0),
        };
        let hour = self.number(2)?;
        self.one_of(b":")?;
        Some(sign * (hour * 3_600 + self.number(2)? * 60))
    }

    fn moment(&mut self) -> Option<Timestamp> {
        let year = self.number(4)?;
        self.one_of(b"-")?;
        let month = self.number(2)?;
        self.one_of(b"-")?;
        let day = self.number(2)?;
        self.one_of(b"Tt ")?;
        let hour = self.number(2)?;
        self.one_of(b":")?;
        let minute = self.number(2)?;
        self.one_of(b":")?;
        let second = self.number(2)?;
        let nanosecond = self.fraction()?;
        let midnight = days(year, month, day);
        // A day that does not exist in its month converts back to another one.
        let fits = date(midnight) == (year, month, day) && hour < 24 && minute < 60 && second < 60;
        let second = midnight * SECONDS_OF_DAY + hour * 3_600 + minute * 60 + second - self.offset()?;
        (fits && self.0.is_empty()).then(|| Timestamp::new(second, nanosecond).ok())?
    }
}

impl FromStr for Timestamp {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Self, TimestampError> {
        Reader(text.as_bytes()).moment().ok_or(TimestampError)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = date(self.second.div_euclid(SECONDS_OF_DAY));
        let of_day = self.second.rem_euclid(SECONDS_OF_DAY);
        let (hour, minute, second) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
        write!(formatter, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        if self.nanosecond > 0 {
            let digits = format!("{:09}", self.nanosecond);
            write!(formatter, ".{}", digits.trim_end_matches('0'))?;
        }
        formatter.write_str("Z")
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_string())
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::Timestamp;

    /// Both refuse the last of these.
    const TEXTS: [&str; 22] = [
        "1970-01-01T00:00:00Z",
        "2026-11-21T22:31:00Z",
        "2026-11-21T22:31:00.5Z",
        "2026-11-21T22:31:00.123456789Z",
        "2026-11-21 22:31:00.000000001Z",
        "2026-11-21t22:31:00+01:30",
        "2026-01-01T00:30:00-11:45",
        "2024-02-29T23:59:59.999Z",
        "2000-02-29T00:00:00Z",
        "1999-12-31T23:59:59.9999Z",
        "1969-12-31T23:59:59.9995Z",
        "1583-03-01T12:00:00Z",
        "0000-01-01T00:00:00Z",
        "2023-02-29T00:00:00Z",
        "1900-02-29T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-11-31T00:00:00Z",
        "2026-11-21T24:00:00Z",
        "2026-11-21T22:60:00Z",
        "2026-11-21T22:31:00.Z",
        "2026-11-21T22:31:00",
        "2026-11-21",
    ];

    #[test]
    fn the_browsers_moments_are_read_and_written_as_the_servers_are() {
        for text in TEXTS {
            let (ours, theirs) = (text.parse::<Timestamp>().ok(), text.parse::<jiff::Timestamp>().ok());
            assert_eq!(ours.map(|at| at.to_string()), theirs.map(|at| at.to_string()), "{text}");
            assert_eq!(ours.map(|at| at.as_millisecond()), theirs.map(|at| at.as_millisecond()), "{text}");
        }
    }

    #[test]
    fn every_day_of_four_centuries_has_the_same_name_on_both_sides() {
        for day in -80_000..80_000 {
            let ms = day * 86_400_000 + 12_345_678;
            let (ours, theirs) =
                (Timestamp::from_millisecond(ms).unwrap(), jiff::Timestamp::from_millisecond(ms).unwrap());
            assert_eq!(ours.to_string(), theirs.to_string());
            assert_eq!(ours.to_string().parse(), Ok(ours));
            assert_eq!(ours.as_millisecond(), ms);
        }
    }

    #[test]
    fn json_is_the_text_in_quotes() {
        let at: Timestamp = serde_json::from_str("\"2026-11-21T22:31:00.5Z\"").unwrap();
        assert_eq!(serde_json::to_string(&at).unwrap(), "\"2026-11-21T22:31:00.5Z\"");
        assert!(serde_json::from_str::<Timestamp>("5").is_err());
    }
}
