//! The host's clock, in the precision that the database keeps.

use jiff::Timestamp;

/// Now, in whole microseconds: a time reads the same before and after it was stored.
pub(crate) fn now() -> Timestamp {
    let now = Timestamp::now();
    Timestamp::from_microsecond(now.as_microsecond()).unwrap_or(now)
}
