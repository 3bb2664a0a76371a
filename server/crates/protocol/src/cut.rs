//! Truncation of records that are too large for a page or a snapshot: their texts are cut, and their full size is
//! noted.

use serde_json::{Map, Value};

use crate::{Cut, Segment, event::is_known};

/// Pages and snapshots truncate records with more bytes of JSON than this. Messages between Pods always fit.
pub const SHOWN_BYTES_MAX: usize = 256 * 1024;

/// The maximum size of a truncated record, in bytes of JSON.
pub const CUT_BYTES_MAX: usize = 80 * 1024;

/// How much text a truncated record keeps, in bytes of JSON.
const TEXTS_BYTES_MAX: usize = 64 * 1024;

/// Texts up to this length are kept before longer ones are considered: names, addresses, paths.
const SHORT_BYTES_MAX: usize = 256;

/// The end of a truncated text.
const MARK: char = '…';

/// The fields of events with long texts, in the order in which they are kept.
const TEXTS: [&str; 9] = ["summary", "segments", "text", "arguments", "content", "diff", "detail", "note", "reason"];

/// Truncates a record to at most [`CUT_BYTES_MAX`], with `cut` set, if its JSON `body` has more than `most` bytes.
/// `None` if it fits.
pub fn cut_record(body: &[u8], most: usize) -> Option<Vec<u8>> {
    if body.len() <= most {
        return None;
    }
    let mut record: Map<String, Value> = serde_json::from_slice(body).ok()?;
    let event = record.get_mut("event")?.as_object_mut()?;
    let mut room = TEXTS_BYTES_MAX;
    for name in TEXTS {
        if let Some(text) = event.get_mut(name) {
            shorten(text, &mut room);
        }
    }
    if !event.get("kind").and_then(Value::as_str).is_some_and(is_known) {
        event.iter_mut().filter(|(name, _)| *name != "kind").for_each(|(_, value)| shorten(value, &mut room));
    }
    let cut = Cut { bytes: body.len().try_into().unwrap_or(u64::MAX) };
    record.insert("cut".to_owned(), serde_json::to_value(cut).ok()?);
    serde_json::to_vec(&record).ok()
}

/// Truncates a queued message if it has more than `room` bytes; also returns its full size. `None` if it fits.
pub fn cut_segments(segments: &[Segment], room: usize) -> Option<(Vec<Segment>, Cut)> {
    let bytes = Segment::bytes(segments);
    if bytes <= room {
        return None;
    }
    let mut room = room;
    let mut shown = Vec::new();
    for segment in segments {
        let mut segment = segment.clone();
        if let Segment::Text { text } | Segment::Paste { text } = &mut segment {
            shorten_text(text, &mut room);
        }
        shown.push(segment);
        if room == 0 {
            break;
        }
    }
    Some((shown, Cut { bytes: bytes.try_into().unwrap_or(u64::MAX) }))
}

/// Truncates a value to the room left, and reduces the room accordingly.
fn shorten(value: &mut Value, room: &mut usize) {
    match value {
        Value::String(text) => shorten_text(text, room),
        Value::Array(items) => {
            let mut kept = 0;
            for item in items.iter_mut() {
                if *room == 0 {
                    break;
                }
                shorten(item, room);
                *room = room.saturating_sub(1);
                kept += 1;
            }
            items.truncate(kept);
        }
        Value::Object(fields) => shorten_fields(fields, room),
        other => *room = room.saturating_sub(other.to_string().len()),
    }
}

/// Short fields first, because a segment's type comes after its text.
fn shorten_fields(fields: &mut Map<String, Value>, room: &mut usize) {
    let is_short = |value: &Value| match value {
        Value::String(text) => text.len() <= SHORT_BYTES_MAX,
        Value::Array(_) | Value::Object(_) => false,
        _ => true,
    };
    let (short, long): (Vec<_>, Vec<_>) = std::mem::take(fields).into_iter().partition(|(_, value)| is_short(value));
    for (name, mut value) in short.into_iter().chain(long) {
        if *room == 0 {
            return;
        }
        *room = room.saturating_sub(encoded_len(&name) + 4);
        shorten(&mut value, room);
        fields.insert(name, value);
    }
}

fn shorten_text(text: &mut String, room: &mut usize) {
    let mut kept = 0;
    let fits = text.char_indices().find_map(|(at, letter)| {
        kept += letter_len(letter);
        (kept > *room).then_some(at)
    });
    match fits {
        None => *room -= kept,
        Some(at) => {
            text.truncate(at);
            text.push(MARK);
            *room = 0;
        }
    }
}

fn encoded_len(text: &str) -> usize {
    text.chars().map(letter_len).sum()
}

/// The length of a character in JSON, in bytes.
fn letter_len(letter: char) -> usize {
    match letter {
        '"' | '\\' | '\n' | '\r' | '\t' => 2,
        '\0'..='\u{1f}' => 6,
        letter => letter.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{Event, Record, TurnEvent};

    fn body(event: Value) -> Vec<u8> {
        serde_json::to_vec(&json!({ "seq": 7, "at": "2026-11-23T00:00:00Z", "run_id": "run-1", "event": event }))
            .unwrap()
    }

    fn shown(event: Value) -> (usize, Record) {
        let body = cut_record(&body(event), SHOWN_BYTES_MAX).unwrap();
        (body.len(), serde_json::from_slice(&body).unwrap())
    }

    #[test]
    fn what_fits_is_left_alone() {
        let said = |bytes| json!({ "kind": "message_finished", "block": "b", "text": "x".repeat(bytes), "interrupted": false });
        let cut = |text| cut_record(&body(said(text)), CUT_BYTES_MAX);
        assert_eq!(cut(65_536), None, "what Pods write to each other is never cut");
        assert!(cut(CUT_BYTES_MAX).is_some_and(|cut| cut.len() <= CUT_BYTES_MAX));
        assert_eq!(cut_record(b"not a record", 0), None);
    }

    #[test]
    fn a_long_answer_keeps_its_beginning_and_says_how_long_it_is() {
        let text = "é\"\n".repeat(300_000);
        let whole = json!({ "kind": "message_finished", "block": "b", "text": text, "interrupted": false });
        let (bytes, record) = shown(whole.clone());
        assert!(bytes <= CUT_BYTES_MAX && bytes > CUT_BYTES_MAX / 2, "{bytes}");
        assert_eq!(record.cut, Some(Cut { bytes: body(whole).len() as u64 }));
        let Event::Turn(TurnEvent::MessageFinished { text: kept, .. }) = record.event else { panic!("{record:?}") };
        assert!(text.starts_with(kept.strip_suffix('…').unwrap()));
    }

    #[test]
    fn every_kind_stays_what_it_is_and_small_enough() {
        let long = "\u{1}\\ long ".repeat(200_000);
        let by = json!({ "by": "model", "call_id": "c", "block": "b", "name": "Write", "kind": "tool_called" });
        let with = |more: Value| {
            let mut event = by.clone();
            event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            event
        };
        let many: Vec<Value> = (0..200_000).map(|number| json!({ "n": number, "word": "w" })).collect();
        let events = [
            with(json!({ "arguments": { "path": "/a", "content": long } })),
            with(json!({ "arguments": { "list": many } })),
            with(json!({ "arguments": (0..100_000).map(|n| (format!("{n}"), json!(n))).collect::<Map<_, _>>() })),
            with(
                json!({ "kind": "tool_finished", "summary": "wrote", "content": long, "diff": long, "is_error": false,
                "duration_ms": 3, "seen": { "path": "/a", "sha256": "0" } }),
            ),
            json!({ "kind": "user_message", "command_id": "c", "by": "operator",
                "segments": [{ "type": "paste", "text": long }, { "type": "text", "text": "and then" }] }),
            json!({ "kind": "run_finished", "outcome": "error", "code": "provider_error", "detail": long,
                "usage": { "input": 1, "cached": 0, "output": 2 } }),
            json!({ "kind": "approval_asked", "id": "a", "tool": "Write", "arguments": { "content": long } }),
        ];
        for event in events {
            let kind = event["kind"].as_str().unwrap().to_owned();
            let (bytes, record) = shown(event);
            assert!(bytes <= CUT_BYTES_MAX, "{kind}: {bytes}");
            assert!(!matches!(record.event, Event::Unknown(_)), "{kind}");
            assert_eq!((record.event.kind(), record.cut.is_some()), (kind.as_str(), true));
        }
        let (bytes, record) = shown(json!({ "kind": "hologram", "waves": many, "name": long }));
        assert!(bytes <= CUT_BYTES_MAX && matches!(record.event, Event::Unknown(_)), "{bytes}");
    }

    #[test]
    fn a_message_that_waits_is_cut_like_a_record_and_stays_a_message() {
        let segments = [Segment::text("words"), Segment::Paste { text: "é".repeat(1_000) }, Segment::text("behind")];
        assert_eq!(cut_segments(&segments, 4_000), None);
        let (shown, cut) = cut_segments(&segments, 100).unwrap();
        assert_eq!((cut.bytes, shown.len()), (2_011, 2));
        assert_eq!(shown[1], Segment::Paste { text: format!("{}…", "é".repeat(47)) });
    }
}
