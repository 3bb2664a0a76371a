//! Translates Pod addresses between two servers: what another server calls `local` has an id of its own here.

use std::sync::RwLock;

use bytes::Bytes;
use protocol::{PodRef, PodSummary, RuntimeId};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

/// Marks a record that may contain an address.
const MARK: &[u8] = b"\"runtime_id\"";
/// The longest runtime id.
const ID_LEN_MAX: usize = 32;
/// How much of an id is kept when it is too long together with the id that follows it.
const ID_LEN_KEPT: usize = 15;

/// How another server's addresses read here.
#[derive(Debug)]
pub struct Terms {
    /// What the other server is called here.
    id: RuntimeId,
    /// What the other server calls us, once known.
    ours_there: RwLock<Option<RuntimeId>>,
}

impl Terms {
    pub fn new(id: RuntimeId) -> Self {
        Self { id, ours_there: RwLock::new(None) }
    }

    pub fn id(&self) -> &RuntimeId {
        &self.id
    }

    /// Sets what the other server calls us.
    pub fn set_ours_there(&self, runtime_id: RuntimeId) {
        *self.ours_there.write().expect("no holder of a name panics") = Some(runtime_id);
    }

    fn ours_there(&self) -> Option<RuntimeId> {
        self.ours_there.read().expect("no holder of a name panics").clone()
    }

    /// What the runtime that the other server calls `theirs` is called here.
    pub fn to_ours(&self, theirs: &RuntimeId) -> RuntimeId {
        if *theirs == RuntimeId::local() {
            return self.id.clone();
        }
        match self.ours_there() {
            Some(ours) if ours == *theirs => RuntimeId::local(),
            // A server that only the other one knows. The result is recognisable, and no runtime here has this id.
            _ => {
                let mut id = format!("{}-{theirs}", self.id);
                if id.len() > ID_LEN_MAX {
                    let ours: String = self.id.as_str().chars().take(ID_LEN_KEPT).collect();
                    id = format!("{ours}-{theirs}");
                    id.truncate(ID_LEN_MAX);
                }
                RuntimeId::parse(&id).expect("two ids and a hyphen, cut, are an id")
            }
        }
    }

    /// What the other server calls a Pod; `None` if it has no name for it that we know.
    pub fn to_theirs(&self, pod: &PodRef) -> Option<PodRef> {
        let runtime_id = match &pod.runtime_id {
            id if *id == self.id => RuntimeId::local(),
            id if *id == RuntimeId::local() => self.ours_there()?,
            id => RuntimeId::parse(id.as_str().strip_prefix(self.id.as_str())?.strip_prefix('-')?).ok()?,
        };
        Some(PodRef::new(runtime_id, pod.worker_id.clone()))
    }

    /// The target of one of the other server's audit rows, in our terms. Anything that is no address stays as it is.
    pub fn target_to_ours(&self, target: &str) -> String {
        each_address(target, |pod| Some(PodRef::new(self.to_ours(&pod.runtime_id), pod.worker_id)))
    }

    /// The reverse. What the other server has no name for stays as it is, and so matches no row there.
    pub fn target_to_theirs(&self, target: &str) -> String {
        each_address(target, |pod| self.to_theirs(&pod))
    }

    /// A summary of the other server, in our terms.
    pub fn summary(&self, mut summary: PodSummary) -> PodSummary {
        summary.pod.runtime_id = self.to_ours(&summary.pod.runtime_id);
        if let Some(parent) = &mut summary.relations.parent {
            parent.runtime_id = self.to_ours(&parent.runtime_id);
        }
        summary
    }

    /// An answer of the other server, in our terms.
    pub fn answer<T: Serialize + DeserializeOwned>(&self, answer: T) -> T {
        let mut value = serde_json::to_value(&answer).expect("protocol types always encode");
        match self.rewrite(&mut value) {
            true => serde_json::from_value(value).expect("another runtime's id has changed nothing else"),
            false => answer,
        }
    }

    /// A record of the other server, in our terms; unchanged, byte for byte, if it contains no address.
    pub fn record(&self, record: Bytes) -> Bytes {
        if !record.windows(MARK.len()).any(|window| window == MARK) {
            return record;
        }
        let Ok(mut value) = serde_json::from_slice::<Value>(&record) else { return record };
        match self.rewrite(&mut value) {
            true => serde_json::to_vec(&value).expect("what was read as JSON is JSON").into(),
            false => record,
        }
    }

    /// Translates addresses in place and returns whether there were any. A model's tool arguments are left alone,
    /// whatever they look like.
    fn rewrite(&self, value: &mut Value) -> bool {
        match value {
            Value::Array(items) => items.iter_mut().fold(false, |found, item| self.rewrite(item) | found),
            Value::Object(fields) => {
                let mut found = false;
                if fields.get("worker_id").is_some_and(Value::is_string) {
                    let id = fields.get_mut("runtime_id");
                    let known = id.as_deref().and_then(Value::as_str).and_then(|id| RuntimeId::parse(id).ok());
                    if let (Some(id), Some(known)) = (id, known) {
                        *id = Value::String(self.to_ours(&known).to_string());
                        found = true;
                    }
                }
                let inner = fields.iter_mut().filter(|(name, _)| name.as_str() != "arguments");
                inner.fold(found, |found, (_, field)| self.rewrite(field) | found)
            }
            _ => false,
        }
    }
}

fn each_address(target: &str, change: impl Fn(PodRef) -> Option<PodRef>) -> String {
    let word = |word: &str| match word.parse::<PodRef>().ok().and_then(&change) {
        Some(pod) => pod.to_string(),
        None => word.to_owned(),
    };
    target.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> RuntimeId {
        RuntimeId::parse(text).unwrap()
    }

    fn terms() -> Terms {
        let terms = Terms::new(id("box"));
        terms.set_ours_there(id("desk"));
        terms
    }

    #[test]
    fn every_address_has_one_name_here_and_finds_back() {
        let terms = terms();
        for (theirs, ours) in [("local", "box"), ("desk", "local"), ("gpu", "box-gpu")] {
            assert_eq!(terms.to_ours(&id(theirs)), id(ours));
            let pod = PodRef::new(id(ours), "w1".parse().unwrap());
            assert_eq!(terms.to_theirs(&pod), Some(PodRef::new(id(theirs), "w1".parse().unwrap())));
        }
        assert_eq!(terms.to_theirs(&"elsewhere/w1".parse().unwrap()), None);
        let stranger = Terms::new(id("box"));
        assert_eq!(stranger.to_ours(&id("desk")), id("box-desk"));
        assert_eq!(stranger.to_theirs(&"local/w1".parse().unwrap()), None);
        assert_eq!(Terms::new(id(&"b".repeat(32))).to_ours(&id("gpu")), id(&format!("{}-gpu", "b".repeat(15))));
    }

    #[test]
    fn what_an_audit_row_is_about_is_told_in_our_terms_and_found_in_theirs() {
        for (theirs, ours) in
            [("local/w1", "box/w1"), ("local/w1 desk/w2", "box/w1 local/w2"), ("no such  Pod", "no such  Pod")]
        {
            assert_eq!(terms().target_to_ours(theirs), ours);
            assert_eq!(terms().target_to_theirs(ours), theirs);
        }
    }

    #[test]
    fn a_record_without_an_address_stays_as_it_is_to_the_byte() {
        for text in [
            r#"{"seq":1,  "event":{"kind":"text_chunk","text":"\u00e9"}}"#,
            r#"{"seq":2,"event":{"kind":"text_chunk","text":"\"runtime_id\":\"local\""}}"#,
            r#"{"seq":3,"event":{"arguments":{"runtime_id":"local","worker_id":"w"},"n":1.50}}"#,
        ] {
            assert_eq!(terms().record(Bytes::from_static(text.as_bytes())), text.as_bytes());
        }
    }

    #[test]
    fn addresses_in_records_are_told_in_our_terms_and_the_rest_keeps_its_order() {
        let theirs = r#"{"seq":1,"at":"x","event":{"kind":"k","peer":{"runtime_id":"local","worker_id":"w","name":"b"},"list":[{"pod":{"worker_id":"v","runtime_id":"desk"}}],"arguments":{"runtime_id":"local","worker_id":"w"}}}"#;
        let ours = r#"{"seq":1,"at":"x","event":{"kind":"k","peer":{"runtime_id":"box","worker_id":"w","name":"b"},"list":[{"pod":{"worker_id":"v","runtime_id":"local"}}],"arguments":{"runtime_id":"local","worker_id":"w"}}}"#;
        assert_eq!(terms().record(Bytes::from_static(theirs.as_bytes())), ours.as_bytes());
    }
}
