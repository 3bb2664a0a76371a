//! The log of an older Pod: what a snapshot, a rotated segment and a rewind bring.

use jiff::Timestamp;
use protocol::{Event, Outcome, PodState};
use serde_json::Value;

use super::{Translator, items::segments_of, runs};
use crate::compat::values;

impl Translator {
    /// Entries, as records of their own time.
    pub(super) fn replay(&mut self, entries: &[Value]) {
        let now = self.at;
        self.is_replay = true;
        for entry in entries {
            if let Some(at) =
                entry.get("ts").and_then(Value::as_i64).and_then(|ms| Timestamp::from_millisecond(ms).ok())
            {
                self.at = at;
            }
            self.entry(entry);
        }
        self.is_replay = false;
        self.at = now;
    }

    fn entry(&mut self, entry: &Value) {
        let item = entry.get("item").unwrap_or(&Value::Null);
        match values::text(entry, "kind") {
            "segment_start" => self.history(entry),
            "invoke" => self.invoke(values::text(entry, "trigger")),
            "user_input" => self.user_message(segments_of(values::list(entry, "segments")), None),
            "assistant_item" | "tool_result" => self.item(item),
            "system_item" => self.system_item(item),
            "run_completed" => {
                let is_cut = values::is_true(entry, "interrupted");
                match values::text(entry, "result") {
                    "finished" | "" if is_cut => self.run_end("interrupted"),
                    result => self.run_end(result),
                }
            }
            "run_errored" => self.errored(entry),
            "llm_usage" => {
                let usage = entry.get("usage").unwrap_or(entry);
                if usage.get("input_tokens").is_some() {
                    self.used(usage);
                }
            }
            "turn_end" | "config_changed" => (),
            kind => {
                let map = self.scrub.unknown(kind, entry);
                self.push(Event::Unknown(map));
            }
        }
    }

    fn errored(&mut self, entry: &Value) {
        let message = values::text(entry, "message");
        if self.run.is_some() {
            match runs::is_cancelled("internal", message) {
                true => self.end(Outcome::Cancelled, None, None),
                false => {
                    let detail = self.scrub.said(message);
                    self.end(Outcome::Error, Some("provider_error".to_owned()), Some(detail));
                }
            }
        }
    }

    /// The items that a segment begins with; its runs are not told apart but by who speaks.
    fn history(&mut self, entry: &Value) {
        let history = values::list(entry, "history");
        for item in history {
            // A run that ended before the next person spoke ended well, as far as anybody knows.
            if values::text(item, "role") == "user" {
                self.end(Outcome::Completed, None, None);
            }
            self.item(item);
        }
        if !history.is_empty() {
            self.end(Outcome::Completed, None, None);
        }
    }

    /// A new segment: the view begins again from its history. A Pod's first one follows on nothing and changes nothing.
    pub(super) fn rotated(&mut self, data: &Value) -> bool {
        let entry = data.get("entry").unwrap_or(&Value::Null);
        if values::list(entry, "history").is_empty() && !self.has_conversation {
            return false;
        }
        self.anew(std::slice::from_ref(entry));
        true
    }

    /// The Pod went back in its conversation.
    pub(super) fn rewound(&mut self, data: &Value) {
        self.anew(values::list(data, "entries"));
    }

    /// A new view of a Pod that goes on doing what it did.
    fn anew(&mut self, entries: &[Value]) {
        let is_running = self.run.is_some() || self.invoked.is_some();
        let state = self.face.state;
        self.clear();
        self.replay(entries);
        self.live_again(match state {
            PodState::Running => "running",
            PodState::Paused => "paused",
            _ => "idle",
        });
        if is_running {
            self.in_run();
        }
    }
}
