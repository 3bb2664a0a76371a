//! Requests to an older Pod, and matching its events to them.
//!
//! Its answers have no ids and most go to every client, so an answer is recognized by what was asked, and only one
//! request is in flight at a time.

use std::time::Duration;

use protocol::{Segment, Seq};
use serde_json::{Value, json};
use tokio::{sync::oneshot, time::Instant};

use crate::{
    once::Failure,
    translate::{Sent, is_cancelled, segments_of, to_wire},
    values,
};

/// How long an older Pod has to answer.
pub(crate) const ANSWER_MAX: Duration = Duration::from_secs(5);

/// A request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Ask {
    Run(Vec<Segment>),
    Pause,
    Resume,
    Cancel,
    Compact,
    Shutdown,
    ListPods,
    RestorePod(String),
    RegisterPeer(String),
    Files(String),
}

/// A request on its way to the Pod.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) ask: Ask,
    /// How its echo is recognized, if it is an input.
    pub(crate) sent: Option<Sent>,
    pub(crate) deadline: Instant,
    pub(crate) answer: oneshot::Sender<Result<Answered, Failure>>,
}

/// A Pod's answer to a request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answered {
    /// The data that came with it, and the journal's head at that moment.
    Yes(Value, Seq),
    /// Its own code and sentence, not scrubbed yet.
    No { code: String, message: String },
}

/// What an event means for a request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Verdict {
    /// It is the answer, with this data.
    Accepted(Value),
    /// It may be the answer, unless a refusal follows within a moment.
    Perhaps,
    /// What looked like an answer was for another client.
    NotOurs,
    Refused {
        code: String,
        message: String,
    },
    Nothing,
}

impl Ask {
    pub(crate) fn method(&self) -> &'static str {
        match self {
            Self::Run(_) => "run",
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Cancel => "cancel",
            Self::Compact => "compact",
            Self::Shutdown => "shutdown",
            Self::ListPods => "list_pods",
            Self::RestorePod(_) => "restore_pod",
            Self::RegisterPeer(_) => "register_peer",
            Self::Files(_) => "list_completions",
        }
    }

    /// The request as a line, including the line end.
    pub(crate) fn line(&self) -> Vec<u8> {
        let params = match self {
            Self::Run(segments) => Some(json!({ "input": to_wire(segments) })),
            Self::RestorePod(name) | Self::RegisterPeer(name) => Some(json!({ "name": name })),
            Self::Files(prefix) => Some(json!({ "kind": "file", "prefix": prefix })),
            _ => None,
        };
        let mut request = json!({ "method": self.method() });
        if let (Some(params), Some(fields)) = (params, request.as_object_mut()) {
            fields.insert("params".to_owned(), params);
        }
        let mut line = request.to_string().into_bytes();
        line.push(b'\n');
        line
    }

    /// `was_at_work`: whether a run was in progress or paused when this was asked.
    pub(crate) fn judge(&self, event: &str, data: &Value, was_at_work: bool) -> Verdict {
        let field = |name| values::text(data, name);
        if event == "error" {
            return self.judge_error(field("code"), field("message"));
        }
        let is_answer = match self {
            Self::Run(segments) => return judge_run(segments, event, data),
            Self::Pause => {
                (event == "run_end" && field("result") == "paused")
                    || (event == "status" && field("status") == "paused")
            }
            Self::Resume => match event {
                "status" => field("status") == "running",
                "turn_start" | "llm_call_start" | "invoke_start" => true,
                _ => false,
            },
            // A late idle of the previous run is not an answer.
            Self::Cancel => was_at_work && event == "status" && field("status") == "idle",
            Self::Compact => match event {
                "compact_failed" => return refused("compact_failed", field("message")),
                _ => matches!(event, "compact_start" | "compact_done"),
            },
            Self::Shutdown => event == "shutdown",
            Self::ListPods => event == "pods_listed",
            Self::RestorePod(_) => event == "pod_restored",
            Self::RegisterPeer(name) => {
                let peer = data.get("result").map(|result| values::text(result, "peer"));
                event == "peer_registered" && peer.is_none_or(|peer| peer == name)
            }
            Self::Files(_) => event == "completions" && matches!(field("kind"), "file" | ""),
        };
        if is_answer { Verdict::Accepted(data.clone()) } else { Verdict::Nothing }
    }

    fn judge_error(&self, code: &str, message: &str) -> Verdict {
        let is_ours = match self {
            Self::Run(_) => matches!(code, "already_running" | "invalid_request"),
            Self::Pause => matches!(code, "not_running" | "invalid_request"),
            Self::Resume => matches!(code, "not_paused" | "already_running" | "invalid_request"),
            Self::Cancel if is_cancelled(code, message) => return Verdict::Accepted(Value::Null),
            Self::Cancel => matches!(code, "not_running" | "invalid_request"),
            Self::Compact => matches!(code, "already_running" | "invalid_request" | "internal"),
            Self::Shutdown | Self::ListPods | Self::Files(_) => code == "invalid_request",
            Self::RestorePod(_) | Self::RegisterPeer(_) => matches!(code, "invalid_request" | "internal"),
        };
        // A cancellation concerns a run, not a request.
        let is_of_run = is_cancelled(code, message);
        if is_ours && !is_of_run { refused(code, message) } else { Verdict::Nothing }
    }
}

fn refused(code: &str, message: &str) -> Verdict {
    Verdict::Refused { code: code.to_owned(), message: message.to_owned() }
}

/// Only the echo tells whose input was accepted; without one, the start of a run without a refusal does.
fn judge_run(segments: &[Segment], event: &str, data: &Value) -> Verdict {
    match event {
        "user_message" if segments_of(values::list(data, "segments")) == segments => Verdict::Accepted(Value::Null),
        "user_message" => Verdict::NotOurs,
        "invoke_start" if values::text(data, "kind") == "user_send" => Verdict::Perhaps,
        "turn_start" => Verdict::Perhaps,
        _ => Verdict::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(ask: &Ask, event: &str, data: Value) -> Verdict {
        ask.judge(event, &data, true)
    }

    fn run(text: &str) -> Ask {
        Ask::Run(vec![Segment::text(text)])
    }

    #[test]
    fn a_request_is_one_line_of_the_older_wire() {
        let line = |ask: Ask| String::from_utf8(ask.line()).unwrap();
        assert_eq!(line(Ask::Pause), "{\"method\":\"pause\"}\n");
        assert_eq!(
            line(Ask::RegisterPeer("bob".into())),
            "{\"method\":\"register_peer\",\"params\":{\"name\":\"bob\"}}\n"
        );
        let input = Ask::Run(vec![
            Segment::text("read\nthis"),
            Segment::Paste { text: "a\nb".into() },
            Segment::FileRef { path: "x.rs".into() },
        ]);
        let sent: Value = serde_json::from_str(&line(input)).unwrap();
        assert_eq!(
            sent["params"]["input"],
            json!([
                { "kind": "text", "content": "read\nthis" },
                { "kind": "paste", "id": 2, "chars": 3, "lines": 2, "content": "a\nb" },
                { "kind": "file_ref", "path": "x.rs" },
            ])
        );
    }

    #[test]
    fn only_the_echo_of_the_same_words_takes_an_input_for_sure() {
        let echo = |text: &str| json!({ "segments": [{ "kind": "text", "content": text }] });
        assert_eq!(answer(&run("hi"), "user_message", echo("hi")), Verdict::Accepted(Value::Null));
        assert_eq!(answer(&run("hi"), "user_message", echo("another's")), Verdict::NotOurs);
        assert_eq!(answer(&run("hi"), "invoke_start", json!({ "kind": "user_send" })), Verdict::Perhaps);
        assert_eq!(answer(&run("hi"), "invoke_start", json!({ "kind": "notify" })), Verdict::Nothing);
        assert_eq!(answer(&run("hi"), "status", json!({ "status": "running" })), Verdict::Nothing);
    }

    #[test]
    fn a_refusal_is_taken_by_the_request_that_it_fits() {
        let error = |code: &str| json!({ "code": code, "message": "no" });
        let is_refused = |ask: &Ask, code: &str| matches!(answer(ask, "error", error(code)), Verdict::Refused { .. });
        let table = [
            (run("hi"), "already_running"),
            (Ask::Pause, "not_running"),
            (Ask::Resume, "not_paused"),
            (Ask::Cancel, "not_running"),
            (Ask::RegisterPeer("bob".into()), "invalid_request"),
        ];
        for (ask, code) in &table {
            assert!(is_refused(ask, code), "{ask:?}");
            assert!(!is_refused(ask, "provider_error"), "{ask:?}: that is the run's");
        }
        assert!(!is_refused(&Ask::Pause, "already_running"), "that answers another client's input");
    }

    #[test]
    fn a_late_idle_is_no_answer_to_a_cancel_of_nothing() {
        let idle = json!({ "status": "idle" });
        assert_eq!(Ask::Cancel.judge("status", &idle, false), Verdict::Nothing);
        assert!(matches!(Ask::Cancel.judge("status", &idle, true), Verdict::Accepted(_)));
        let cancelled = json!({ "code": "internal", "message": "Cancelled" });
        assert!(matches!(Ask::Cancel.judge("error", &cancelled, true), Verdict::Accepted(_)));
        assert_eq!(Ask::RestorePod("x".into()).judge("error", &cancelled, true), Verdict::Nothing);
    }

    #[test]
    fn a_pause_is_answered_by_the_end_of_the_run_or_by_the_status() {
        assert!(matches!(answer(&Ask::Pause, "run_end", json!({ "result": "paused" })), Verdict::Accepted(_)));
        assert!(matches!(answer(&Ask::Pause, "status", json!({ "status": "paused" })), Verdict::Accepted(_)));
        assert_eq!(answer(&Ask::Pause, "run_end", json!({ "result": "finished" })), Verdict::Nothing);
    }
}
