use std::{collections::BTreeMap, fmt::Debug};

use protocol::{ControlEvent, Event, PodState, Record, Segment, Usage};
use serde::Deserialize;
use serde_json::json;

use super::*;

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Shape {
    Point,
    Round(u32),
    Box { width: u32, height: Option<f64> },
    Pair(i8, bool),
}

#[derive(Debug, PartialEq, Deserialize)]
struct Inner {
    letter: char,
    nothing: (),
}

#[derive(Debug, PartialEq, Deserialize)]
struct Whole {
    shapes: Vec<Shape>,
    words: BTreeMap<String, i64>,
    #[serde(default)]
    missing: Option<String>,
    #[serde(flatten)]
    inner: Inner,
    any: Value,
}

/// Both deserializers agree: on the value, or on refusing it.
fn agree<T: DeserializeOwned + PartialEq + Debug>(value: &Value) {
    let text = value.to_string();
    assert_eq!(read::<T>(&text).ok(), serde_json::from_str::<T>(&text).ok(), "{text}");
}

#[test]
fn every_shape_that_a_type_can_have_is_read_as_ever() {
    let whole = json!({
        "shapes": ["point", { "round": 3 }, { "box": { "width": 1, "height": null } }, { "box": { "width": 1, "height": 0.5 } }, { "pair": [-3, true] }],
        "words": { "a": -1, "b": 9_007_199_254_740_993_i64 },
        "letter": "ü",
        "nothing": null,
        "any": { "z": [1, -2, 0.5, "x", null, false], "a": {} },
        "unknown": [{}],
    });
    agree::<Whole>(&whole);
    assert!(read::<Whole>(&whole.to_string()).is_ok());
    agree::<Result<u8, String>>(&json!({ "Ok": 5 }));
    agree::<Result<u8, String>>(&json!({ "Err": "no" }));
    agree::<(Option<bool>, Vec<u16>)>(&json!([null, [1, 2]]));
}

#[test]
fn what_does_not_fit_is_refused() {
    for value in [json!(null), json!(5), json!("square"), json!({ "round": "3" }), json!({ "round": 3, "point": null })]
    {
        agree::<Shape>(&value);
    }
    for value in [json!(-1), json!(256), json!(1.5), json!("1"), json!([])] {
        agree::<u8>(&value);
    }
    assert_eq!(read::<Inner>("{}").unwrap_err().to_string(), "a missing field `letter`");
    assert_eq!(read::<Shape>("\"square\"").unwrap_err().to_string(), "an unknown word `square`");
    assert!(read::<Value>("{\"a\":").is_err());
}

#[test]
fn types_of_the_wire_are_read_as_ever() {
    let pod = commands::samples::pod("ada", PodState::Waiting);
    agree::<protocol::PodSummary>(&serde_json::to_value(&pod).unwrap());
    let usage = Usage { input: 5, ..Usage::default() };
    for event in [
        json!({ "kind": "user_message", "segments": [{ "type": "text", "text": "hi" }, { "type": "new", "x": 1 }], "command_id": "c-1", "by": "kim" }),
        json!({ "kind": "tool_called", "call_id": "1", "block": "b", "name": "n", "arguments": { "b": 1, "a": [2] }, "by": "model" }),
        json!({ "kind": "from_a_newer_version", "x": { "y": 1.25 } }),
        serde_json::to_value(ControlEvent::Usage { usage }).unwrap(),
    ] {
        agree::<Event>(&event);
        agree::<Record>(&json!({ "seq": 7, "at": "2026-11-21T22:31:00.5Z", "run_id": "r", "event": event }));
    }
    agree::<Segment>(&json!({ "type": "file_ref", "path": "/a" }));
}
