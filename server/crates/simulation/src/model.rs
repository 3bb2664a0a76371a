//! What must hold, whatever happened: the model that everything read and everything answered is held against.
//!
//! - One order: at each place of a Pod's journal all viewers, before and after every crash, see the same record, and behind
//!   it the same hash of the whole prefix.
//! - What anyone saw stays: it is in the journal in the end; of what was folded away, its finished block has the text.
//! - A pair has both its sides; a message between Pods that anyone has a receipt of arrived, and once.
//! - What Pods lend to their children is held by one of them at a time: [`crate::loans`].
//! - A receipt stands for exactly one thing: the same key gets the same answer, and it happened once.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::loans::{self, Loans};

/// What is known so far.
#[derive(Debug, Default)]
pub struct Model {
    pods: BTreeMap<String, Journal>,
    commands: BTreeMap<String, Command>,
    /// The messages between Pods.
    messages: BTreeMap<String, Letter>,
    loans: Loans,
    broken: Option<String>,
    reads: u64,
}

/// What journals say of a message between Pods.
#[derive(Debug, Default)]
struct Letter {
    /// How often it is in a journal of its receiver.
    arrived: usize,
    /// Who says that it is there.
    told: Option<String>,
    /// Who says of it, as the last thing, that it is on its way, or that it was refused.
    sent: Option<String>,
    refused: Option<String>,
}

/// What is known of a Pod's journal.
#[derive(Debug, Default)]
struct Journal {
    /// By seq, whoever read it first.
    records: BTreeMap<u64, Seen>,
    /// The hash of all that stays in the journal, up to this seq.
    prefixes: BTreeMap<u64, Hash>,
    /// The peers that it says it has.
    peers: BTreeSet<String>,
    /// The peers that it has by its records.
    linked: BTreeSet<String>,
}

type Hash = [u8; 32];

#[derive(Debug)]
struct Seen {
    record: Value,
    by: String,
}

/// How far one reader has read one Pod.
#[derive(Debug, Clone, Default)]
pub struct Reading {
    seq: u64,
    prefix: Hash,
}

impl Reading {
    /// The seq of the newest record read.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// The hash of the prefix, short enough for a log.
    pub(crate) fn short(&self) -> String {
        crate::log::hex(&self.prefix[..4])
    }
}

/// A command and its first answer.
#[derive(Debug)]
struct Command {
    pod: String,
    is_message: bool,
    answer: Option<Value>,
}

impl Model {
    /// The first violation, if any.
    pub fn broken(&self) -> Option<&str> {
        self.broken.as_deref()
    }

    /// How many records were read, by all readers.
    pub fn reads(&self) -> u64 {
        self.reads
    }

    /// Records a violation. Only the first one is kept.
    pub fn breaks(&mut self, what: impl Into<String>) {
        self.broken.get_or_insert_with(|| what.into());
    }

    /// Notes what is the cause of whatever else does not hold.
    pub fn breaks_above_all(&mut self, what: String) {
        self.broken = Some(what);
    }

    /// A reader is shown this record, after those that it has read.
    pub fn read(&mut self, who: &str, pod: &str, reading: &mut Reading, record: &Value) {
        self.reads += 1;
        let Some(seq) = record["seq"].as_u64() else {
            return self.breaks(format!("{who} got something of {pod} that is no record: {record}"));
        };
        if seq <= reading.seq {
            return self.breaks(format!("{who} read {seq} of {pod} after {}: {record}", reading.seq));
        }
        reading.seq = seq;
        let journal = self.pods.entry(pod.to_owned()).or_default();
        let seen = journal.records.entry(seq).or_insert_with(|| Seen { record: record.clone(), by: who.to_owned() });
        if seen.record != *record {
            let what = format!("{who} read {record} at {seq} of {pod}, but {} read {}", seen.by, seen.record);
            return self.breaks(what);
        }
        if is_chunk(record) {
            return;
        }
        let hash = Sha256::new().chain_update(reading.prefix).chain_update(record.to_string());
        reading.prefix = hash.finalize().into();
        if *journal.prefixes.entry(seq).or_insert(reading.prefix) != reading.prefix {
            let known: Vec<u64> = journal.prefixes.keys().copied().filter(|known| *known <= seq).collect();
            self.breaks(format!("{who} read {seq} of {pod} and has not read all before it; there is {known:?}"));
        }
    }

    /// A command is about to be sent.
    pub fn sends(&mut self, id: &str, pod: &str, is_message: bool) {
        let command = Command { pod: pod.to_owned(), is_message, answer: None };
        self.commands.entry(id.to_owned()).or_insert(command);
    }

    /// A command was answered; `answer` is the part of the answer that never changes.
    pub fn answered(&mut self, id: &str, status: u16, answer: &Value) {
        let Some(command) = self.commands.get_mut(id) else { return };
        let is_yes = (200..300).contains(&status);
        let what = match &command.answer {
            Some(first) if is_yes && first != answer => format!("{id} was answered {first}, and then {answer}"),
            Some(first) if (400..500).contains(&status) && status != 429 => {
                format!("{id} was answered {first}, and then refused with {status}: {answer}")
            }
            None if is_yes => {
                command.answer = Some(answer.clone());
                return;
            }
            _ => return,
        };
        self.breaks(what);
    }

    /// The whole journal of a Pod, when everything has come to rest.
    pub fn rests(&mut self, pod: &str, records: &[Value]) {
        let mut reading = Reading::default();
        for record in records {
            self.read("the journal", pod, &mut reading, record);
        }
        for event in records.iter().map(|record| &record["event"]) {
            let Some(id) = event["message_id"].as_str() else { continue };
            let letter = self.messages.entry(id.to_owned()).or_default();
            match event["kind"].as_str() {
                Some("peer_message") => letter.arrived += 1,
                _ => {
                    let told = || format!("{pod} has {event}");
                    let state = event["state"].as_str();
                    if matches!(state, Some("stored" | "read" | "answered")) {
                        letter.told = Some(told());
                    }
                    letter.sent = (state == Some("sent")).then(told);
                    letter.refused = (state == Some("refused")).then(told);
                }
            }
        }
        self.links(pod, records);
        self.holds(|model| model.loans.read(pod, records));
        let Some(journal) = self.pods.get(pod) else { return };
        let lost = lost(journal, records, reading.seq).or_else(|| {
            let of_pod = self.commands.iter().filter(|(_, command)| command.is_message && command.pod == pod);
            of_pod.filter_map(|(id, command)| miscounted(id, command, records)).next()
        });
        if let Some(what) = lost {
            self.breaks(format!("{pod}: {what}"));
        }
    }

    /// Reads in a Pod's journal which peers it has.
    fn links(&mut self, pod: &str, records: &[Value]) {
        let linked = &mut self.pods.entry(pod.to_owned()).or_default().linked;
        for event in records.iter().map(|record| &record["event"]) {
            let peer = || peer_name(pod, &event["peer"]);
            match event["kind"].as_str() {
                Some("peer_linked") => drop(linked.insert(peer())),
                Some("peer_unlinked") => drop(linked.remove(&peer())),
                _ => (),
            }
        }
    }

    /// Who wrote which record of which Pod, by its worker id, to the database that all servers share.
    pub fn was_written(&mut self, written: &BTreeMap<String, BTreeMap<u64, i64>>) {
        let unwritten = |(pod, journal): (&String, &Journal)| {
            let records = written.get(pod.rsplit('/').next().unwrap_or(pod));
            let lost = journal.records.iter().find(|(seq, _)| records.is_none_or(|of| !of.contains_key(*seq)));
            lost.map(|(seq, seen)| format!("{} read {seq} of {pod}, which no host wrote: {}", seen.by, seen.record))
        };
        if let Some(what) = self.pods.iter().find_map(unwritten) {
            self.breaks(what);
        }
    }

    /// The journal of a Pod, as another server shows it, when everything has come to rest.
    pub fn rests_alike(&mut self, who: &str, pod: &str, records: &[Value]) {
        let mut reading = Reading::default();
        for record in records {
            self.read(who, pod, &mut reading, record);
        }
    }

    /// The peers of a Pod, when everything has come to rest and its journal has been read.
    pub fn has_peers(&mut self, pod: &str, peers: impl IntoIterator<Item = String>) {
        let journal = self.pods.entry(pod.to_owned()).or_default();
        journal.peers = peers.into_iter().collect();
        if journal.peers != journal.linked {
            let what = format!("{pod} has the peers {:?}, and by its records {:?}", journal.peers, journal.linked);
            self.breaks(what);
        }
    }

    /// The children of a Pod, as they were read at any time.
    pub fn shows_children(&mut self, pod: &str, children: &[Value]) {
        self.holds(|_| loans::apart(pod, children));
    }

    /// The children of a Pod, when everything has come to rest and its journal has been read.
    pub fn has_children(&mut self, pod: &str, children: &[Value]) {
        self.holds(|model| model.loans.rests(pod, children));
    }

    /// Records what does not hold.
    fn holds(&mut self, check: impl FnOnce(&mut Self) -> Result<(), String>) {
        if let Err(what) = check(self) {
            self.breaks(what);
        }
    }

    /// Once all journals, peers and children are known: checks what concerns several Pods.
    pub fn ends(&mut self) {
        let sided = |(pod, journal): (&String, &Journal)| {
            let alone = journal.peers.iter().find(|peer| self.pods.get(*peer).is_none_or(|of| !of.peers.contains(pod)));
            alone.map(|peer| format!("{pod} has the peer {peer}, which does not have it"))
        };
        let miscounted =
            |(id, Letter { arrived, told, sent, refused }): (&String, &Letter)| match (arrived, told, sent, refused) {
                (0, Some(told), ..) => Some(format!("{told}, and nobody has the message")),
                (2.., ..) => Some(format!("the message {id} arrived {arrived} times")),
                (_, _, Some(sent), _) => Some(format!("{sent}, and never hears what became of it")),
                (1, _, _, Some(refused)) => Some(format!("{refused}, and the message arrived")),
                _ => None,
            };
        let what = self.pods.iter().find_map(sided).or_else(|| self.messages.iter().find_map(miscounted));
        if let Some(what) = what {
            self.breaks(what);
        }
        self.holds(|model| model.loans.ends());
    }
}

/// A Pod that this one calls so, in log and model.
pub(crate) fn peer_name(pod: &str, peer: &Value) -> String {
    let own = pod.split('/').next().unwrap_or_default();
    let server = peer["runtime_id"].as_str().filter(|far| *far != "local").unwrap_or(own);
    format!("{server}/{}", peer["worker_id"].as_str().unwrap_or_default())
}

/// Records that were seen and are missing.
fn lost(journal: &Journal, records: &[Value], head: u64) -> Option<String> {
    let there: BTreeSet<u64> = records.iter().filter_map(|record| record["seq"].as_u64()).collect();
    let texts = finished_texts(records);
    // How far into each block's text its chunks reach.
    let mut reached: BTreeMap<&str, usize> = BTreeMap::new();
    for (seq, seen) in journal.records.iter().filter(|(seq, _)| **seq <= head) {
        let event = &seen.record["event"];
        if !is_chunk(&seen.record) && !there.contains(seq) {
            return Some(format!("{} saw {}, which is not in the journal", seen.by, seen.record));
        }
        if !matches!(event["kind"].as_str(), Some("text_chunk" | "reasoning_chunk")) {
            continue;
        }
        let (Some(block), Some(chunk)) = (event["block"].as_str(), event["text"].as_str()) else { continue };
        let from = reached.entry(block).or_default();
        match texts.get(block).and_then(|text| text.get(*from..)?.find(chunk)) {
            Some(at) => *from += at + chunk.len(),
            None => {
                let text = texts.get(block).copied().unwrap_or("nothing");
                return Some(format!("{} saw {}, and the finished block has {text:?}", seen.by, seen.record));
            }
        }
    }
    let beyond = journal.records.range(head + 1..).next();
    beyond.map(|(seq, seen)| format!("{} saw {seq}, beyond the end of the journal at {head}: {}", seen.by, seen.record))
}

fn finished_texts(records: &[Value]) -> BTreeMap<&str, &str> {
    let finished = records
        .iter()
        .map(|record| &record["event"])
        .filter(|event| matches!(event["kind"].as_str(), Some("message_finished" | "reasoning_finished")));
    finished.filter_map(|event| Some((event["block"].as_str()?, event["text"].as_str()?))).collect()
}

/// A message that is in the journal more often or less often than it was accepted.
fn miscounted(id: &str, command: &Command, records: &[Value]) -> Option<String> {
    let events = |kind: &str| {
        let of_kind = records.iter().map(|record| &record["event"]).filter(|event| event["kind"] == kind);
        of_kind.filter(|event| event["command_id"] == id).count()
    };
    let (messages, runs) = (events("user_message"), events("run_started"));
    let is_there = command.answer.is_some();
    if messages > 1 || runs > 1 || (is_there && messages == 0) {
        let answer = command.answer.as_ref().map_or("no receipt".to_owned(), |answer| format!("the receipt {answer}"));
        return Some(format!("the message {id} has {answer}, and is there {messages} times with {runs} runs"));
    }
    None
}

fn is_chunk(record: &Value) -> bool {
    record["event"]["kind"].as_str().is_some_and(|kind| kind.ends_with("_chunk"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn said(seq: u64, id: &str) -> Value {
        json!({ "seq": seq, "event": { "kind": "user_message", "command_id": id } })
    }

    fn linked(to: &str) -> Value {
        let (runtime_id, worker_id) = to.split_once('/').unwrap();
        let peer = json!({ "runtime_id": runtime_id, "worker_id": worker_id, "name": worker_id });
        json!({ "seq": 1, "event": { "kind": "peer_linked", "peer": peer } })
    }

    fn shown(model: &mut Model, records: &[Value]) {
        let mut reading = Reading::default();
        records.iter().for_each(|record| model.read("ann", "a", &mut reading, record));
    }

    #[test]
    fn a_day_on_which_all_is_well_breaks_nothing() {
        let mut model = Model::default();
        model.sends("k", "a", true);
        shown(&mut model, &[said(1, "k"), said(3, "l")]);
        model.answered("k", 202, &json!(1));
        model.answered("k", 202, &json!(1));
        model.rests("a", &[said(1, "k"), said(3, "l")]);
        model.rests("server-0/b", &[linked("server-1/c")]);
        model.rests("server-1/c", &[linked("server-0/b")]);
        model.has_peers("server-0/b", ["server-1/c".to_owned()]);
        model.has_peers("server-1/c", ["server-0/b".to_owned()]);
        model.ends();
        assert_eq!(model.broken(), None);
    }

    #[test]
    fn whatever_must_hold_is_missed_when_it_does_not() {
        type Happens = fn(&mut Model);
        let cases: [(&str, Happens); 10] = [
            ("two records at one place", |model| {
                shown(model, &[said(1, "k")]);
                shown(model, &[said(1, "l")]);
            }),
            ("a gap", |model| {
                shown(model, &[said(1, "k"), said(2, "l")]);
                shown(model, &[said(2, "l")]);
            }),
            ("the wrong order", |model| shown(model, &[said(2, "k"), said(1, "l")])),
            ("a lost record", |model| {
                shown(model, &[said(1, "k"), said(2, "l")]);
                model.rests("a", &[said(1, "k")]);
            }),
            ("a lost receipt", |model| {
                model.sends("k", "a", true);
                model.answered("k", 202, &json!(1));
                model.rests("a", &[said(1, "l")]);
            }),
            ("twice", |model| {
                model.sends("k", "a", true);
                model.rests("a", &[said(1, "k"), said(2, "k")]);
            }),
            ("two answers", |model| {
                model.sends("k", "a", true);
                model.answered("k", 202, &json!(1));
                model.answered("k", 202, &json!(2));
            }),
            ("a peer that no record tells of", |model| model.has_peers("a", ["b".to_owned()])),
            ("a message of which nothing more is heard", |model| {
                let sent = json!({ "kind": "message_receipt", "message_id": "m", "state": "sent" });
                model.rests("a", &[json!({ "seq": 1, "event": sent })]);
                model.ends();
            }),
            ("one side", |model| {
                model.rests("server-0/a", &[linked("server-1/b")]);
                model.has_peers("server-0/a", ["server-1/b".to_owned()]);
                assert_eq!(model.broken(), None);
                model.ends();
            }),
        ];
        for (name, happens) in cases {
            let mut model = Model::default();
            happens(&mut model);
            assert!(model.broken().is_some(), "{name}");
        }
    }

    #[test]
    fn a_chunk_may_go_once_its_block_has_the_text() {
        let chunk = json!({ "seq": 1, "event": { "kind": "text_chunk", "block": "b", "text": "one " } });
        let finished =
            |text: &str| json!({ "seq": 2, "event": { "kind": "message_finished", "block": "b", "text": text } });
        for (text, is_well) in [("one two", true), ("two", false)] {
            let mut model = Model::default();
            shown(&mut model, std::slice::from_ref(&chunk));
            model.rests("a", &[finished(text)]);
            assert_eq!(model.broken().is_none(), is_well, "{text}");
        }
    }
}
