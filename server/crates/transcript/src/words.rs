//! The wording of numbers and states that every screen uses.

use protocol::{
    Blobs, ControlEvent, Cost, Currency, FactOrigin, ModelFacts, ModelName, Outcome, ReceiptState, Segment, Timestamp,
    Trigger, Usage,
};

use crate::{BlockKind, ChildStep, Receipt, RelationStep};

/// A duration: `400 ms`, `6 s`, `2 m 04 s`, `1 h 05 m`, `3 d 04 h`. Rounded down.
pub fn duration_words(ms: u64) -> String {
    let seconds = ms / 1_000;
    let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400);
    match () {
        () if seconds == 0 => format!("{ms} ms"),
        () if minutes == 0 => format!("{seconds} s"),
        () if hours == 0 => format!("{minutes} m {:02} s", seconds % 60),
        () if days == 0 => format!("{hours} h {:02} m", minutes % 60),
        () => format!("{days} d {:02} h", hours % 24),
    }
}

/// Says whether an agent began a session or continued one.
pub fn agent_words(agent: &str, resumed: bool) -> String {
    match resumed {
        true => format!("{agent} was restarted and continues its session"),
        false => format!("{agent} was started with a new session"),
    }
}

/// Summarises a plan's progress: `2 of 5 done, now: mend it`.
pub fn plan_words(entries: &serde_json::Value) -> String {
    let entries = entries.as_array().map(Vec::as_slice).unwrap_or_default();
    let word = |entry: &serde_json::Value, name: &str| {
        entry.get(name).and_then(|word| word.as_str()).unwrap_or_default().to_owned()
    };
    let done = entries.iter().filter(|entry| word(entry, "status") == "completed").count();
    let now = entries.iter().find(|entry| word(entry, "status") == "in_progress");
    let now = now.map(|entry| format!(", now: {}", word(entry, "content"))).unwrap_or_default();
    format!("{done} of {} done{now}", entries.len())
}

/// A token count: `940`, `4.2k`, `41k`, `1.2M`. Rounded down, so never more than there is.
pub fn tokens_words(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..10_000 => tenths(count / 100, "k"),
        10_000..1_000_000 => format!("{}k", count / 1_000),
        1_000_000..10_000_000 => tenths(count / 100_000, "M"),
        _ => format!("{}M", count / 1_000_000),
    }
}

/// Like [`tokens_words`], with the mark if the figure is partly estimated.
pub fn about_tokens(count: u64, estimated: bool) -> String {
    format!("{}{}", mark(estimated && count > 0), tokens_words(count))
}

/// Like [`cost_words`], with the mark if the figure is partly estimated.
pub fn about_cost(cost: Option<Cost>, currency: Option<Currency>, estimated: bool) -> String {
    format!("{}{}", mark(estimated && cost.is_some()), cost_words(cost, currency))
}

/// Returns both counts in full, with the mark if they are partly estimated.
pub fn tokens_in_full(usage: &Usage) -> String {
    let about = |count: u64| format!("{}{count}", mark(usage.estimated && count > 0));
    format!("{} in, {} out", about(usage.input), about(usage.output))
}

/// What the mark means, wherever it appears.
pub const ESTIMATED: &str = "~ estimated in part: a provider did not count all of these tokens";

fn mark(estimated: bool) -> &'static str {
    if estimated { "~" } else { "" }
}

/// A size: `940 B`, `66 kB`, `2.0 MB`. Rounded down.
pub fn bytes_words(count: u64) -> String {
    match count {
        0..1_000 => format!("{count} B"),
        1_000..1_000_000 => format!("{} kB", count / 1_000),
        _ => format!("{}.{} MB", count / 1_000_000, count / 100_000 % 10),
    }
}

/// A message as one text, with the size of each picture and file: `[image cat.png 12 kB]`.
pub fn said_words(segments: &[Segment], blobs: &Blobs) -> String {
    let sized = |segment: &Segment| match segment.blob().and_then(|blob| blobs.find(blob)) {
        None => segment.clone(),
        Some(view) => {
            let words = segment.as_text();
            Segment::text(format!("{} {}]", words.trim_end_matches(']'), bytes_words(view.bytes)))
        }
    };
    Segment::join(&segments.iter().map(sized).collect::<Vec<_>>())
}

fn tenths(count: u64, unit: &str) -> String {
    match count % 10 {
        0 => format!("{}{unit}", count / 10),
        tenth => format!("{}.{tenth}{unit}", count / 10),
    }
}

/// The cost of a run: `$0.0042`, `$1.25`, `1.25 EUR`; `no price set` if the model has no price, `several currencies`
/// if they cannot be added up.
pub fn cost_words(cost: Option<Cost>, currency: Option<Currency>) -> String {
    let amount = match cost {
        None if currency == Some(Currency::SEVERAL) => return "several currencies".to_owned(),
        None => return "no price set".to_owned(),
        Some(cost) if cost > Cost::default() && cost.as_f64() < 0.01 => cost.rounded(4),
        Some(cost) => cost.rounded(2),
    };
    match currency {
        None | Some(Currency::USD) => format!("${amount}"),
        Some(currency) => format!("{amount} {currency}"),
    }
}

/// A model's description in a list of choices, with the origin of each fact: `272k context (server) · $1.25 in, $10
/// out per million tokens (table) · no images (table)`. Unknown facts are left out, except a missing price, on which
/// cost and budget depend.
pub fn model_words(facts: &ModelFacts) -> String {
    let sign = match facts.currency.as_deref() {
        None | Some("USD") => "$".to_owned(),
        Some(other) => format!("{other} "),
    };
    let said = |words: String, origin: Option<FactOrigin>| match origin {
        Some(origin) => format!("{words} ({})", origin.as_str()),
        None => words,
    };
    let from = facts.origin;
    let prices = facts.prices.map_or("no price set".to_owned(), |prices| {
        said(format!("{sign}{} in, {sign}{} out per million tokens", prices.input, prices.output), from.prices)
    });
    let parts = [
        facts.context_limit.map(|tokens| said(format!("{} context", tokens_words(tokens)), from.context_limit)),
        Some(prices),
        (facts.images == Some(false)).then(|| said("no images".to_owned(), from.images)),
        (facts.tools == Some(false)).then(|| said("no tools".to_owned(), from.tools)),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// What changed in a Pod's settings, as a line: `model gpt-5.4 (openai), thinking high: set by you`. Empty for other
/// events.
pub fn settings_words(event: &ControlEvent) -> String {
    let ControlEvent::SettingsChanged { by, profile, provider, model, thinking, instructions, scope, budget, mode } =
        event
    else {
        return String::new();
    };
    let model = match (model, provider) {
        (Some(model), Some(provider)) => Some(format!("model {model} ({provider})")),
        (Some(model), None) => Some(format!("model {model}")),
        (None, Some(provider)) => Some(format!("provider {provider}")),
        (None, None) => None,
    };
    let instructions = instructions.as_deref().map(|text| match text {
        "" => "no instructions",
        _ => "new instructions",
    });
    let changes = [
        profile.as_deref().map(|name| format!("profile {name}")),
        model,
        thinking.map(|level| format!("thinking {level}")),
        instructions.map(str::to_owned),
        scope.as_ref().map(|rules| format!("scope of {} folders", rules.len())),
        mode.map(|mode| format!("mode {}", mode.words())),
        budget.map(|budget| match budget.words() {
            words if budget.refusal().is_none() => format!("budget {words}"),
            _ => "no budget".to_owned(),
        }),
    ];
    let changes: Vec<_> = changes.into_iter().flatten().collect();
    format!("{}: set by {}", changes.join(", "), actor_words(by))
}

/// `2026-11-24 17:05 UTC`.
fn minute_words(at: Timestamp) -> String {
    let text = at.to_string();
    match (text.get(..10), text.get(11..16)) {
        (Some(day), Some(time)) => format!("{day} {time} UTC"),
        _ => text,
    }
}

/// The fallback models in order: `openai/gpt-5.4, then ollama/qwen3:32b`.
pub fn fallback_words(names: &[ModelName]) -> String {
    names.iter().map(ModelName::to_string).collect::<Vec<_>>().join(", then ")
}

/// What a Pod does when a provider's usage limit has been reset.
pub fn auto_resume_words(is_on: bool) -> &'static str {
    match is_on {
        true => "continues by itself, once, when a usage limit ends",
        false => "waits for you when a usage limit is over",
    }
}

/// Until when a provider's usage limit lasts, and what follows.
pub fn limit_words(until: Timestamp, resumes: bool) -> String {
    let at = minute_words(until);
    match resumes {
        true => format!("the usage limit is reached until {at}; the Pod then continues by itself"),
        false => format!("the usage limit is reached until {at}; resume the Pod then, or let it continue by itself"),
    }
}

/// The name of whoever did something: the operator is the reader, and a Pod is called by its name.
pub fn actor_words(by: &str) -> &str {
    match by {
        "operator" => "you",
        by => by.strip_prefix("pod:").unwrap_or(by),
    }
}

/// How a run ended.
pub fn outcome_words(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Completed => "completed",
        Outcome::Cancelled => "cancelled",
        Outcome::Paused => "paused",
        Outcome::Limit => "cut off by a limit",
        Outcome::Interrupted => "interrupted",
        Outcome::RolledBack => "rolled back: the message was returned",
        Outcome::Error => "failed",
    }
}

/// What began a run.
pub fn trigger_words(trigger: Trigger) -> &'static str {
    match trigger {
        Trigger::Input => "your message",
        Trigger::Peer => "a peer's message",
        Trigger::Child => "a child's report",
        Trigger::Resume => "resumed",
        Trigger::Limit => "the usage limit is over",
        Trigger::Retry => "asked again",
    }
}

/// `` Background command `npm run dev` ended: exit 1 after 2.0 s ``.
pub fn command_ended(kind: &BlockKind) -> String {
    match kind {
        BlockKind::CommandEnded { command, detail, .. } => {
            let line = command.lines().next().unwrap_or_default();
            let more = if command.lines().nth(1).is_some() { " …" } else { "" };
            format!("Background command `{line}{more}` ended: {detail}")
        }
        _ => String::new(),
    }
}

/// `read at turn 14`, `held until you release it: …`.
pub fn receipt_text(receipt: &Receipt) -> String {
    let words = receipt_words(receipt.state);
    match (receipt.turn, &receipt.reason) {
        (Some(turn), _) => format!("{words} at turn {turn}"),
        (None, Some(reason)) => format!("{words}: {reason}"),
        (None, None) => words.to_owned(),
    }
}

/// The state of a message to a peer.
pub fn receipt_words(state: ReceiptState) -> &'static str {
    match state {
        ReceiptState::Sent => "sent, not yet confirmed by the other server",
        ReceiptState::Stored => "stored, not yet read",
        ReceiptState::Read => "read",
        ReceiptState::Answered => "answered",
        ReceiptState::Held => "held until you release it",
        ReceiptState::Refused => "refused",
        ReceiptState::Expired => "expired",
    }
}

/// What happened between two peers, before and after the other one's name: `You made` bob `a peer`.
pub fn relation_words(step: RelationStep, by: &str) -> (String, String) {
    let by = actor_words(by);
    let who = if by == "you" { "You" } else { by };
    match step {
        RelationStep::Linked => (format!("{who} made"), "a peer".to_owned()),
        RelationStep::Unlinked => (format!("{who} removed"), "as a peer".to_owned()),
        RelationStep::Requested => (format!("{who} asked to make"), "a peer".to_owned()),
        RelationStep::Declined => ("Peer request with".to_owned(), format!("declined by {by}")),
    }
}

/// What happened to a child.
pub fn child_words(step: ChildStep) -> &'static str {
    match step {
        ChildStep::Spawned => "spawned",
        ChildStep::Stopped => "stopped",
        ChildStep::ScopeChanged => "scope changed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_at_most_two_units() {
        for (ms, words) in [
            (0, "0 ms"),
            (999, "999 ms"),
            (6_400, "6 s"),
            (59_999, "59 s"),
            (124_000, "2 m 04 s"),
            (3_900_000, "1 h 05 m"),
            (273_600_000, "3 d 04 h"),
        ] {
            assert_eq!(duration_words(ms), words);
        }
    }

    #[test]
    fn the_operator_is_you_and_a_pod_is_its_name() {
        for (by, words) in [("operator", "you"), ("pod:ada", "ada"), ("kim", "kim")] {
            assert_eq!(actor_words(by), words);
        }
    }

    #[test]
    fn tokens_are_short() {
        for (count, words) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1k"),
            (4_250, "4.2k"),
            (9_999, "9.9k"),
            (41_300, "41k"),
            (999_999, "999k"),
            (1_230_000, "1.2M"),
            (41_000_000, "41M"),
        ] {
            assert_eq!(tokens_words(count), words);
        }
    }

    #[test]
    fn sizes_are_short() {
        for (count, words) in
            [(0, "0 B"), (999, "999 B"), (66_123, "66 kB"), (2_000_114, "2.0 MB"), (12_340_000, "12.3 MB")]
        {
            assert_eq!(bytes_words(count), words);
        }
    }

    #[test]
    fn what_is_known_of_a_model_is_said_and_what_is_not_is_left_out() {
        let read = |facts: serde_json::Value| model_words(&serde_json::from_value(facts).unwrap());
        assert_eq!(read(serde_json::json!({})), "no price set");
        let known = serde_json::json!({ "context_limit": 272_000, "images": false, "tools": true,
            "prices": { "input": 1.25, "output": 10 }, "currency": "USD",
            "origin": { "context_limit": "server", "prices": "config", "images": "table" } });
        let words = "272k context (server) · $1.25 in, $10 out per million tokens (config) · no images (table)";
        assert_eq!(read(known), words);
    }

    #[test]
    fn what_changed_is_one_line_with_who_did_it() {
        let read = |event: serde_json::Value| settings_words(&serde_json::from_value(event).unwrap());
        let event = serde_json::json!({ "kind": "settings_changed", "by": "operator", "provider": "openai",
            "model": "gpt-5.4", "thinking": "high", "instructions": "" });
        assert_eq!(read(event), "model gpt-5.4 (openai), thinking high, no instructions: set by you");
    }

    #[test]
    fn what_was_estimated_is_marked_where_there_is_a_figure() {
        assert_eq!((about_tokens(4_250, true), about_tokens(4_250, false)), ("~4.2k".to_owned(), "4.2k".to_owned()));
        assert_eq!(about_tokens(0, true), "0");
        assert_eq!(about_cost(Some("1.25".parse().unwrap()), None, true), "~$1.25");
        assert_eq!(about_cost(None, None, true), "no price set");
        let usage = Usage { input: 1_200, estimated: true, ..Usage::default() };
        assert_eq!(tokens_in_full(&usage), "~1200 in, 0 out");
    }

    #[test]
    fn a_cost_is_never_a_wrong_zero() {
        let cost = |text: &str| Some(text.parse().unwrap());
        assert_eq!(cost_words(None, None), "no price set");
        assert_eq!(cost_words(cost("0.0042"), None), "$0.0042");
        assert_eq!(cost_words(cost("1.25"), None), "$1.25");
        assert_eq!(cost_words(cost("0"), None), "$0.00");
        assert_eq!(cost_words(cost("0.00996"), None), "$0.0100");
        assert_eq!(cost_words(cost("12.997"), None), "$13.00");
        assert_eq!(cost_words(cost("1.25"), "EUR".parse().ok()), "1.25 EUR");
        assert_eq!(cost_words(None, Some(Currency::SEVERAL)), "several currencies");
    }
}
