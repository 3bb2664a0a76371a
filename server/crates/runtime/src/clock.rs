//! The host's clock, in the precision of the database.

use jiff::Timestamp;

/// The current time in whole microseconds, so that it reads the same before and after it is stored.
pub(crate) fn now() -> Timestamp {
    let now = Timestamp::now();
    Timestamp::from_microsecond(now.as_microsecond()).unwrap_or(now)
}
