//! What the older Pod's machinery says about itself.

use protocol::{AlertLevel, ControlEvent, PodName};
use serde_json::Value;

use super::Translator;
use crate::compat::{names, values};

impl Translator {
    pub(super) fn notice_event(&mut self, name: &str, data: &Value) -> bool {
        match name {
            "alert" => {
                let level = match values::text(data, "level") {
                    "error" => AlertLevel::Error,
                    _ => AlertLevel::Warn,
                };
                self.notice(level, values::text(data, "source"), values::text(data, "message"));
            }
            "system_item" => self.system_item(data.get("item").unwrap_or(&Value::Null)),
            "compact_start" => self.notice(AlertLevel::Note, "compact", "the older Pod compacts its context"),
            "compact_done" => self.notice(AlertLevel::Note, "compact", "the older Pod has compacted its context"),
            "compact_failed" => {
                let why = ["message", "error"].map(|field| values::text(data, field)).join("");
                let text = format!("the older Pod could not compact its context {why}");
                self.notice(AlertLevel::Error, "compact", text.trim_end());
            }
            "peer_registered" => self.peer_registered(data.get("result").unwrap_or(&Value::Null)),
            // Answers to whoever asked; they hold addresses, and say nothing of the conversation.
            "pods_listed" | "pod_restored" | "completions" | "rewind_targets" => (),
            _ => return false,
        }
        true
    }

    fn peer_registered(&mut self, result: &Value) {
        let (source, peer) = (values::text(result, "source"), values::text(result, "peer"));
        if let (true, Ok(peer)) = (source == self.name.as_str(), PodName::parse(peer)) {
            let (request_id, note) = (None, None);
            let by = "operator".to_owned();
            self.push(ControlEvent::PeerLinked { peer: names::peer_label(&peer), by, request_id, note });
        }
    }
}
