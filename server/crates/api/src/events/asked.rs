//! Parses the frames that a client may send on the socket.

#[cfg(test)]
mod fuzz;

use protocol::{ClientFrame, DiagnosticCode, PodRef, unambiguous};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{TAIL_DEFAULT, TAIL_MAX};
use crate::read::read;

/// Larger frames are not even parsed as JSON.
const FRAME_BYTES_MAX: usize = 64 * 1024;
const ID_BYTES_MAX: usize = 128;

/// Names of commands, here and in the older socket protocol: a client that sends one is told where commands go.
const COMMANDS: &[&str] = &[
    "abort",
    "approve",
    "cancel",
    "command",
    "compact",
    "create",
    "delete",
    "fork",
    "import",
    "input",
    "interrupt",
    "invoke",
    "message",
    "messages",
    "new",
    "patch",
    "pause",
    "peer",
    "peers",
    "post",
    "prompt",
    "rename",
    "restore",
    "resume",
    "retry",
    "rewind",
    "run",
    "send",
    "shutdown",
    "spawn",
    "stop",
    "submit",
    "tool",
    "tools",
    "unpeer",
    "user_message",
];

/// A valid frame from a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Said {
    Subscribe { id: String, watch: Watch },
    Unsubscribe { id: String },
    Ping,
}

/// What a subscription is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Watch {
    Pods,
    Pod { pod: PodRef, after: Option<String>, tail: u32 },
}

/// What is wrong with a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) code: DiagnosticCode,
    pub(super) detail: String,
}

impl Refusal {
    pub(super) fn bad(detail: impl Into<String>) -> Self {
        Self { code: DiagnosticCode::BadFrame, detail: detail.into() }
    }
}

/// The frames by their tags, with the same fields as [`ClientFrame`]. Serde reads that enum by way of a buffered copy,
/// because its tag may come last, and errors in a copy have no position. These are only used once the tag is known.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Subscribe {
    r#type: String,
    id: String,
    pods: Option<bool>,
    pod: Option<PodRef>,
    after: Option<String>,
    tail: Option<u32>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Unsubscribe {
    r#type: String,
    id: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ping {
    r#type: String,
}

/// Parses a text frame.
pub(super) fn parse(text: &str) -> Result<Said, Refusal> {
    if text.len() > FRAME_BYTES_MAX {
        return Err(Refusal::bad(format!("a frame has at most {FRAME_BYTES_MAX} bytes, this one has {}", text.len())));
    }
    let value = unambiguous(text).map_err(|error| {
        let what = if error.is_data() { "the frame does not fit" } else { "not JSON" };
        Refusal::bad(shortened(&format!("{what}: {error}")))
    })?;
    let Some(kind) = value.get("type").and_then(Value::as_str) else {
        return Err(Refusal::bad("a frame is an object with a `type`"));
    };
    if COMMANDS.contains(&kind.to_ascii_lowercase().as_str()) {
        let detail = format!("the socket observes; send \"{}\" as a POST under /api/v1", shortened(kind));
        return Err(Refusal { code: DiagnosticCode::CommandOnSocket, detail });
    }
    tagged(kind, text).map_err(|error| Refusal::bad(shortened(&error))).and_then(said)
}

fn tagged(kind: &str, text: &str) -> Result<ClientFrame, String> {
    const WHOLE: &str = "the frame";
    match kind {
        "subscribe" => {
            let Subscribe { id, pods, pod, after, tail, .. } = read(WHOLE, text)?;
            Ok(ClientFrame::Subscribe { id, pods, pod, after, tail })
        }
        "unsubscribe" => read(WHOLE, text).map(|Unsubscribe { id, .. }| ClientFrame::Unsubscribe { id }),
        "ping" => read(WHOLE, text).map(|Ping { .. }| ClientFrame::Ping {}),
        // The error lists the types that exist.
        _ => read(WHOLE, text),
    }
}

fn said(frame: ClientFrame) -> Result<Said, Refusal> {
    match frame {
        ClientFrame::Ping {} => Ok(Said::Ping),
        ClientFrame::Unsubscribe { id } => Ok(Said::Unsubscribe { id }),
        ClientFrame::Subscribe { id, .. } if id.len() > ID_BYTES_MAX => {
            Err(Refusal::bad(format!("a subscription's `id` has at most {ID_BYTES_MAX} bytes")))
        }
        ClientFrame::Subscribe { id, pods, pod, after, tail } => match (pods, pod) {
            (Some(true), None) => Ok(Said::Subscribe { id, watch: Watch::Pods }),
            (None | Some(false), Some(pod)) => {
                let tail = tail.unwrap_or(TAIL_DEFAULT).min(TAIL_MAX);
                Ok(Said::Subscribe { id, watch: Watch::Pod { pod, after, tail } })
            }
            (Some(true), Some(_)) => Err(Refusal::bad("subscribe either to `pods: true` or to a `pod`, not to both")),
            (None | Some(false), None) => Err(Refusal::bad("subscribe to `pods: true` or to a `pod`")),
        },
    }
}

/// Enough of what the client sent to recognise it.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(200) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn frames_are_parsed() {
        let pod = "local/w-1".parse().unwrap();
        let subscribe = |watch| Ok(Said::Subscribe { id: "b".to_owned(), watch });
        for (text, expected) in [
            (r#"{"type":"ping"}"#, Ok(Said::Ping)),
            (r#"{"type":"unsubscribe","id":"b"}"#, Ok(Said::Unsubscribe { id: "b".to_owned() })),
            (r#"{"type":"subscribe","id":"b","pods":true}"#, subscribe(Watch::Pods)),
            (
                r#"{"type":"subscribe","id":"b","pod":{"runtime_id":"local","worker_id":"w-1"},"after":null}"#,
                subscribe(Watch::Pod { pod, after: None, tail: 200 }),
            ),
            (
                r#"{"type":"subscribe","id":"b","pod":{"runtime_id":"local","worker_id":"w-1"},"after":"c","tail":7}"#,
                subscribe(Watch::Pod { pod: "local/w-1".parse().unwrap(), after: Some("c".to_owned()), tail: 7 }),
            ),
        ] {
            assert_eq!(parse(text), expected, "{text}");
        }
    }

    fn refusal(text: &str) -> String {
        let Refusal { code, detail } = parse(text).expect_err(text);
        assert_eq!(code, DiagnosticCode::BadFrame, "{text}");
        detail
    }

    #[test]
    fn a_field_of_a_wrong_type_is_named_whichever_frame_it_is_in_and_wherever_the_type_stands() {
        let pod = json!({ "runtime_id": "local", "worker_id": "w" });
        let subscribe = json!({ "type": "subscribe", "id": "a", "pod": pod, "after": "c", "tail": 7, "pods": false });
        let unsubscribe = json!({ "type": "unsubscribe", "id": "a" });
        let wrong: &[(&Value, &str, &[Value])] = &[
            (&subscribe, "id", &[json!(7), json!(null), json!(true), json!({}), json!([])]),
            (&subscribe, "pods", &[json!("yes"), json!(1), json!({}), json!([true])]),
            (&subscribe, "pod", &[json!("local/w"), json!(7), json!(false), json!(["local", "w"])]),
            (&subscribe, "pod.runtime_id", &[json!(7), json!(null), json!({}), json!("LOCAL")]),
            (&subscribe, "pod.worker_id", &[json!(7), json!(null), json!([]), json!("")]),
            (&subscribe, "after", &[json!(7), json!(true), json!({}), json!(["c"])]),
            (&subscribe, "tail", &[json!("7"), json!(-1), json!(1.5), json!(4_294_967_296_u64), json!({})]),
            (&unsubscribe, "id", &[json!(7), json!(null), json!(true), json!({}), json!([])]),
        ];
        for (frame, place, values) in wrong {
            assert!(parse(&frame.to_string()).is_ok(), "{frame}");
            for value in *values {
                let mut frame = (*frame).clone();
                *frame.pointer_mut(&format!("/{}", place.replace('.', "/"))).unwrap() = value.clone();
                let fields = frame.as_object().unwrap().iter().map(|(key, value)| format!("\"{key}\":{value}"));
                let (kind, others): (Vec<_>, Vec<_>) = fields.partition(|field| field.starts_with("\"type\""));
                let in_order = |order: [&[String]; 2]| format!("{{{}}}", order.concat().join(","));
                for text in [in_order([&kind, &others]), in_order([&others, &kind])] {
                    assert!(refusal(&text).contains(&format!("`{place}`")), "{text}: {}", refusal(&text));
                }
            }
        }
        for kind in ["subscribe", "unsubscribe", "ping"] {
            let frame = json!({ "type": kind, "id": "a", "pods": true, "colour": 7 });
            assert!(refusal(&frame.to_string()).contains("unknown field `"), "{kind}");
        }
        assert!(refusal(r#"{"type":"dance","id":7}"#).contains("unknown variant `dance`, expected one of `subscribe`"));
        for kind in ["7", "null", "{}", "[\"ping\"]"] {
            assert!(refusal(&format!("{{\"type\":{kind}}}")).contains("`type`"), "{kind}");
        }
    }

    #[test]
    fn each_frame_of_the_protocol_is_read_as_it_is_written() {
        let subscribe = |pods, pod, after: Option<&str>, tail| ClientFrame::Subscribe {
            id: "a".to_owned(),
            pods,
            pod,
            after: after.map(str::to_owned),
            tail,
        };
        let pod: PodRef = "local/w".parse().unwrap();
        for frame in [
            subscribe(Some(true), None, None, None),
            subscribe(None, Some(pod.clone()), Some("c"), Some(7)),
            subscribe(Some(false), Some(pod), None, None),
            ClientFrame::Unsubscribe { id: "a".to_owned() },
            ClientFrame::Ping {},
        ] {
            let text = serde_json::to_string(&frame).unwrap();
            let kind = unambiguous(&text).unwrap()["type"].as_str().unwrap().to_owned();
            assert_eq!(tagged(&kind, &text), Ok(frame), "{text}");
        }
    }

    #[test]
    fn what_is_no_frame_is_named() {
        let long = format!("{{\"type\":\"ping\",\"x\":\"{}\"}}", "x".repeat(FRAME_BYTES_MAX));
        let long_id = format!("{{\"type\":\"subscribe\",\"pods\":true,\"id\":\"{}\"}}", "x".repeat(129));
        for bad in [
            "",
            "hello",
            "[]",
            "null",
            "{}",
            r#"{"type":7}"#,
            r#"{"type":"dance"}"#,
            r#"{"type":"ping","x":1}"#,
            r#"{"type":"subscribe"}"#,
            r#"{"type":"subscribe","id":"a"}"#,
            r#"{"type":"subscribe","id":"a","pods":false}"#,
            r#"{"type":"subscribe","id":"a","pods":true,"pod":{"runtime_id":"local","worker_id":"w"}}"#,
            r#"{"type":"subscribe","id":"a","pods":true,"colour":"red"}"#,
            r#"{"type":"subscribe","id":7,"pods":true}"#,
            r#"{"type":"subscribe","id":"a","pod":"local/w"}"#,
            r#"{"type":"subscribe","id":"a","pod":["local","w"]}"#,
            r#"["ping"]"#,
            r#"{"type":"ping","type":"ping"}"#,
            r#"{"type":"input","type":"ping"}"#,
            r#"{"type":"subscribe","id":"a","pods":true,"pods":true}"#,
            r#"{"type":"subscribe","id":"a","pod":{"runtime_id":"local","worker_id":"w","worker_id":"w"}}"#,
            r#"{"type":"unsubscribe"}"#,
            &long,
            &long_id,
            r#"{"type":"subscribe","id":"a","pod":{"runtime_id":"LOCAL","worker_id":"w"}}"#,
            r#"{"type":"subscribe","id":"a","pod":{"runtime_id":"local","worker_id":"w"},"tail":-1}"#,
        ] {
            assert_eq!(parse(bad).map_err(|refusal| refusal.code), Err(DiagnosticCode::BadFrame), "{bad}");
        }
        for command in ["input", "pause", "stop", "create", "run", "Cancel"] {
            let text = format!("{{\"type\":\"{command}\",\"pod\":1}}");
            assert_eq!(parse(&text).map_err(|refusal| refusal.code), Err(DiagnosticCode::CommandOnSocket), "{command}");
        }
    }
}
