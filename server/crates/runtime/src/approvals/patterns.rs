//! What "always" can mean for open calls, and what it would have allowed lately.

use std::collections::HashSet;

use pod::{Offer, Sight, offers, would_allow};
use pod_store::{PodKey, Store};
use protocol::{ApiError, Event, PatternOffer, Record, Seq, ToolBy, TurnEvent};
use serde_json::Value;

use crate::{actor::on_disk, error};

/// How many events of the conversation are looked at for recent calls, and how many bytes.
const TURNS_MAX: u32 = 512;
const BYTES_MAX: usize = 1024 * 1024;
/// The most recent calls of one tool that are compared.
const CALLS_MAX: usize = 100;
/// The most open calls for which patterns are offered.
const OPEN_MAX: usize = 16;

/// A call: its tool and its arguments.
type Call = (String, Value);

/// The patterns for each of these open calls; empty for further ones than the first 16. `open` has the ids of all
/// calls that wait.
pub(super) async fn patterns(
    store: &Store,
    key: PodKey,
    cwd: &str,
    calls: Vec<Call>,
    open: HashSet<String>,
) -> Result<Vec<Vec<PatternOffer>>, ApiError> {
    let rows = store.journals().turns_back(key, Seq(i64::MAX), TURNS_MAX, BYTES_MAX).await?;
    let cwd = cwd.to_owned();
    let made = crate::heavy::blocking(move || {
        let recent: Vec<Call> = rows
            .iter()
            .filter_map(|row| match serde_json::from_slice::<Record>(&row.body).ok()?.event {
                Event::Turn(TurnEvent::ToolCalled { call_id, name, arguments, by, .. })
                    if by != ToolBy::Operator && !open.contains(&call_id) =>
                {
                    Some((name, arguments))
                }
                _ => None,
            })
            .collect();
        let of_one = |(at, call): (usize, Call)| if at < OPEN_MAX { offered(&cwd, call, &recent) } else { Vec::new() };
        calls.into_iter().enumerate().map(of_one).collect()
    });
    made.await.map_err(|_| error::stopping())
}

fn offered(cwd: &str, (tool, arguments): Call, recent: &[Call]) -> Vec<PatternOffer> {
    let offers = offers(cwd, &tool, &arguments, on_disk(cwd, &tool, &arguments));
    let same = recent.iter().filter(|(name, _)| *name == tool).take(CALLS_MAX);
    let seen: Vec<(&Value, Sight)> = same.map(|(name, arguments)| (arguments, on_disk(cwd, name, arguments))).collect();
    let count = |offer: &Offer| {
        seen.iter().filter(|(given, sight)| would_allow(&offer.rule, cwd, &tool, given, sight.clone())).count()
    };
    let told = |offer: Offer| PatternOffer {
        would_have_allowed: count(&offer).try_into().unwrap_or(u32::MAX),
        pattern: offer.pattern,
        label: Some(offer.label),
        warning: offer.warning,
    };
    offers.into_iter().map(told).collect()
}
