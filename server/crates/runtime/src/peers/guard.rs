//! The guards that hold a message back: too many automatic steps in a row, a pair that writes too fast, a receiver that
//! has run too often.

use jiff::{SignedDuration, Timestamp};
use pod_store::{PairRow, PodKey};
use protocol::ApiError;

use crate::peers::Peers;

/// Automatic steps after which a chain waits for a person.
const HOPS_MAX: u32 = 8;
/// How many messages a pair may send at once …
const BURST: u32 = 30;
/// … and how many seconds each further one takes.
const SECONDS_PER_MESSAGE: u32 = 2;
/// Runs that messages may begin in one Pod within an hour.
const RUNS_PER_HOUR_MAX: u64 = 200;

pub(crate) const WHOLE: u32 = 1_000;

/// Whether a message is held, and the pair's pace after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// Why it is held; `None` if it is delivered.
    pub(crate) held: Option<String>,
    /// What is left of the burst, in thousandths of a message.
    pub(crate) pace_level: u32,
}

/// Checks hops, pace and the receiver's budget, in this order.
pub(crate) async fn verdict(
    peers: &Peers,
    pair: &PairRow,
    receiver: PodKey,
    hops: u32,
    now: Timestamp,
) -> Result<Verdict, ApiError> {
    let level = refilled(pair, now);
    let held = |why: String| Ok(Verdict { held: Some(why), pace_level: level });
    if hops > HOPS_MAX {
        return held(format!("{hops} automatic steps since your last message; at most {HOPS_MAX} are taken"));
    }
    if level < WHOLE {
        return held(format!(
            "these two write too fast: after {BURST} at once, one in {SECONDS_PER_MESSAGE} s goes through"
        ));
    }
    let since = now - SignedDuration::from_hours(1);
    let runs = peers.store.messages().woke_count(receiver, since).await?;
    if runs >= RUNS_PER_HOUR_MAX {
        return held(format!("messages have begun {runs} runs of the receiver within an hour"));
    }
    Ok(Verdict { held: None, pace_level: level - WHOLE })
}

/// What is left of the pair's burst now. A new pair has all of it.
pub(crate) fn refilled(pair: &PairRow, now: Timestamp) -> u32 {
    if pair.pace_at == pair.since {
        return BURST * WHOLE;
    }
    let passed = now.duration_since(pair.pace_at).as_millis().max(0);
    let gained = u32::try_from(passed / i128::from(SECONDS_PER_MESSAGE)).unwrap_or(u32::MAX);
    pair.pace_level.saturating_add(gained).min(BURST * WHOLE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_goes_and_then_one_in_two_seconds() {
        let at: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let mut pair = PairRow { by: String::new(), since: at, pace_level: 0, pace_at: at };
        let mut now = at + SignedDuration::from_millis(1);
        let mut sent = 0;
        while refilled(&pair, now) >= WHOLE {
            pair = PairRow { pace_level: refilled(&pair, now) - WHOLE, pace_at: now, ..pair };
            sent += 1;
        }
        assert_eq!(sent, BURST);
        now += SignedDuration::from_millis(1_999);
        assert!(refilled(&pair, now) < WHOLE);
        now += SignedDuration::from_millis(1);
        assert!(refilled(&pair, now) >= WHOLE);
        assert_eq!(refilled(&pair, now + SignedDuration::from_hours(1)), BURST * WHOLE);
    }
}
