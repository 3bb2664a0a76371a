//! Parses an import line by line. Nothing is trusted: each line must be a record that a journal here could hold.

use protocol::{ApiError, ControlEvent, Event, PodState, Record, Seq, TurnEvent, Usage, misread, unambiguous};
use serde_json::Value;

/// The largest seq, token count or block number: far beyond any journal, and far below where sums overflow.
const NUMBER_MAX: u64 = 1 << 40;
/// The most automatic steps between a message and a person; no real journal has more than a few.
const HOPS_MAX: u32 = 1_000;
/// The highest cost of one model call or run: a million in its currency.
const COST_UNITS_MAX: u64 = 1_000_000_000_000_000_000;
/// The longest kind of a record that this version does not know.
const KIND_CHARS_MAX: usize = 64;

/// The record on this line (counted from 1), which follows `previous`.
pub(super) fn record(number: usize, line: &str, previous: Seq) -> Result<Record, ApiError> {
    let wrong = |why: &str| ApiError::invalid(format!("line {number}: {why}"));
    if line.trim().is_empty() {
        return Err(wrong("it is empty; each line is one record"));
    }
    // serde would also read a record from an array of its fields, which no export contains.
    if line.trim_start().starts_with('[') {
        return Err(wrong("this is not a record: it has to be an object, not an array"));
    }
    let unread = |error: serde_json::Error| {
        let text = error.to_string();
        // serde reports a position within the line, which it calls line 1.
        let what = text.split(" at line ").next().unwrap_or_default();
        wrong(&format!("this is not a record: {what} (column {})", error.column()))
    };
    // With duplicate keys the last one would count here, while another reader of the same file may take the first.
    let said = unambiguous(line).map_err(unread)?;
    let record: Record = serde_json::from_str(line).map_err(unread)?;
    // At any depth: serde would read a usage or a Pod label from an array as well.
    if let Some(place) = misread(&said, &record) {
        return Err(wrong(&format!("this is not a record: `{place}` has to be an object, not an array")));
    }
    match refusal(&record, previous) {
        Some(why) => Err(wrong(&why)),
        None => Ok(record),
    }
}

fn refusal(record: &Record, previous: Seq) -> Option<String> {
    let seq = record.seq;
    if seq <= previous {
        return Some(format!("seq {seq} does not rise: the one before is {previous}"));
    }
    if seq.0.unsigned_abs() > NUMBER_MAX {
        return Some(format!("seq {seq} is more than a journal can hold"));
    }
    match &record.event {
        Event::Turn(event) => turn(seq, event),
        Event::Control(event) => control(event),
        Event::Unknown(fields) => {
            let kind = record.event.kind();
            let is_known = TurnEvent::KINDS.contains(&kind) || ControlEvent::KINDS.contains(&kind);
            let has_kind = fields.get("kind").is_some_and(Value::is_string);
            match (is_known, has_kind) {
                (true, _) => Some(format!("the fields of this {kind} are not those of one")),
                (false, true) if (1..=KIND_CHARS_MAX).contains(&kind.chars().count()) => None,
                (false, _) => Some("its event has no kind".to_owned()),
            }
        }
    }
}

fn turn(seq: Seq, event: &TurnEvent) -> Option<String> {
    let is_too_large = |block: &str| {
        block.strip_prefix('b').and_then(|digits| digits.parse().ok()).is_some_and(|n: u64| n > NUMBER_MAX)
    };
    match event {
        TurnEvent::PeerMessage { hops, .. } if *hops > HOPS_MAX => Some(format!("{hops} hops are too many")),
        TurnEvent::Compacted { kept_from_seq, .. } if !(Seq(0)..=seq).contains(kept_from_seq) => {
            Some(format!("kept_from_seq {kept_from_seq} is not before it"))
        }
        TurnEvent::Rewound { to_seq } if !(Seq(0)..seq).contains(to_seq) => {
            Some(format!("to_seq {to_seq} is not before it"))
        }
        TurnEvent::TextChunk { block, .. }
        | TurnEvent::ReasoningChunk { block, .. }
        | TurnEvent::ToolArgsChunk { block, .. }
        | TurnEvent::ToolOutputChunk { block, .. }
        | TurnEvent::MessageFinished { block, .. }
        | TurnEvent::ReasoningFinished { block, .. }
        | TurnEvent::ToolCalled { block, .. }
        | TurnEvent::ToolFinished { block, .. }
            if is_too_large(block) =>
        {
            Some(format!("block {block} is more than a journal can hold"))
        }
        _ => None,
    }
}

fn control(event: &ControlEvent) -> Option<String> {
    match event {
        ControlEvent::Usage { usage } | ControlEvent::RunFinished { usage, .. } => used(usage),
        ControlEvent::Status { state: state @ (PodState::Unreachable | PodState::Broken), .. } => {
            Some(format!("no journal says that its Pod is {}", state.as_str()))
        }
        _ => None,
    }
}

fn used(usage: &Usage) -> Option<String> {
    let Usage { input, cached, written, output, context_used, context_limit, cost, .. } = *usage;
    let is_count =
        [input, cached, written, output, context_used, context_limit].into_iter().all(|count| count <= NUMBER_MAX);
    let is_cost = cost.is_none_or(|cost| cost.units() <= COST_UNITS_MAX);
    (!is_count || !is_cost).then(|| "its usage figures are implausible".to_owned())
}
