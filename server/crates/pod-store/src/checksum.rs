//! The checksum of a record, which reveals a row that is not what was written.
//!
//! It covers the record's position and class as well as its body, so that moved or swapped rows are noticed as well as
//! altered ones. It is computed where rows are written and checked wherever they are read.

use bytes::Bytes;
use jiff::Timestamp;
use protocol::{AlertLevel, ControlEvent, Record, Seq, TurnEvent};
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::{PodKey, StoredRecord};

/// CRC-32 over Pod, seq and class (little-endian) and the body.
pub(crate) fn checksum(pod: PodKey, seq: Seq, class: i16, body: &[u8]) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    sum.update(&pod.0.to_le_bytes());
    sum.update(&seq.0.to_le_bytes());
    sum.update(&class.to_le_bytes());
    sum.update(body);
    sum.finalize()
}

/// A row of a journal as read, before it has been checked.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RawRecord {
    pub(crate) seq: Seq,
    pub(crate) class: i64,
    /// `None` for rows written before there were checksums.
    pub(crate) sum: Option<i64>,
    pub(crate) body: Bytes,
}

/// What is wrong with a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Damage {
    /// It is not what was written.
    Altered,
    /// Older than the checksums, and not JSON.
    Unreadable,
}

impl Damage {
    /// Completes "record 3 is damaged: …".
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Self::Altered => "its checksum does not match",
            Self::Unreadable => "it is not JSON",
        }
    }
}

impl RawRecord {
    pub(crate) fn damage(&self, pod: PodKey) -> Option<Damage> {
        let Some(sum) = self.sum else {
            return if is_json(&self.body) { None } else { Some(Damage::Unreadable) };
        };
        let is_same =
            i16::try_from(self.class).is_ok_and(|class| i64::from(checksum(pod, self.seq, class, &self.body)) == sum);
        if is_same { None } else { Some(Damage::Altered) }
    }

    /// The record that readers get in place of a damaged row.
    pub(crate) fn stand_in(&self, damage: Damage, found_at: Timestamp) -> StoredRecord {
        let kind = self.kind().map(|kind| format!(" ({kind})")).unwrap_or_default();
        let alert = ControlEvent::Alert {
            level: AlertLevel::Error,
            source: "journal".to_owned(),
            text: format!(
                "record {}{kind} of this Pod is damaged: {}; it was set aside and is shown to nobody, the model included",
                self.seq,
                damage.reason()
            ),
            model: None,
        };
        let record = Record { seq: self.seq, at: found_at, run_id: None, event: alert.into(), cut: None };
        let body = serde_json::to_vec(&record).expect("an alert is plain JSON").into();
        StoredRecord { seq: self.seq, body }
    }

    /// The kind of event, if that is still readable.
    fn kind(&self) -> Option<&'static str> {
        #[derive(Deserialize)]
        struct Kind {
            event: Event,
        }
        #[derive(Deserialize)]
        struct Event {
            kind: String,
        }
        let found: Kind = serde_json::from_slice(&self.body).ok()?;
        let known = TurnEvent::KINDS.iter().chain(ControlEvent::KINDS);
        known.copied().find(|kind| *kind == found.event.kind)
    }
}

impl From<RawRecord> for StoredRecord {
    fn from(RawRecord { seq, body, .. }: RawRecord) -> Self {
        Self { seq, body }
    }
}

fn is_json(body: &[u8]) -> bool {
    std::str::from_utf8(body).is_ok_and(|text| serde_json::from_str::<IgnoredAny>(text).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(body: &'static str) -> RawRecord {
        let body = Bytes::from_static(body.as_bytes());
        let sum = Some(checksum(PodKey(1), Seq(2), 1, &body).into());
        RawRecord { seq: Seq(2), class: 1, sum, body }
    }

    #[test]
    fn the_checksum_stays_what_it_is_on_disks() {
        assert_eq!(checksum(PodKey(1), Seq(2), 1, b"{\"seq\":2}"), 2_841_734_083);
    }

    #[test]
    fn a_row_is_good_only_where_and_as_it_was_written() {
        let good = found("{\"seq\":2}");
        assert_eq!(good.damage(PodKey(1)), None);
        assert_eq!(good.damage(PodKey(2)), Some(Damage::Altered), "another Pod's");
        let altered = Some(Damage::Altered);
        assert_eq!(RawRecord { seq: Seq(3), ..good.clone() }.damage(PodKey(1)), altered);
        assert_eq!(RawRecord { class: 2, ..good.clone() }.damage(PodKey(1)), altered);
        assert_eq!(RawRecord { class: 65_537, ..good.clone() }.damage(PodKey(1)), altered);
        assert_eq!(RawRecord { sum: Some(-1), ..good.clone() }.damage(PodKey(1)), altered);
        assert_eq!(RawRecord { body: "{\"seq\":3}".into(), ..good.clone() }.damage(PodKey(1)), altered);
        let old = RawRecord { sum: None, ..good };
        assert_eq!(old.damage(PodKey(7)), None);
        assert_eq!(RawRecord { body: "{\"seq\"".into(), ..old }.damage(PodKey(1)), Some(Damage::Unreadable));
    }

    #[test]
    fn every_bit_of_a_body_counts() {
        let good = found("{\"seq\":2,\"event\":{\"kind\":\"text_chunk\",\"text\":\"hello\"}}");
        for bit in 0..good.body.len() * 8 {
            let mut body = good.body.to_vec();
            body[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(RawRecord { body: body.into(), ..good.clone() }.damage(PodKey(1)), Some(Damage::Altered));
        }
    }

    #[test]
    fn who_reads_it_is_told_seq_kind_and_reason() {
        let of = |body| {
            String::from_utf8(found(body).stand_in(Damage::Altered, Timestamp::UNIX_EPOCH).body.to_vec()).unwrap()
        };
        let told = of("{\"event\":{\"kind\":\"message_finished\"}}");
        assert!(told.contains("record 2 (message_finished) of this Pod is damaged: its checksum"), "{told}");
        for body in ["{\"event\":{\"kind\":\"<b>\"}}", "{\"event\"", "7"] {
            assert!(of(body).contains("record 2 of this Pod is damaged"));
        }
    }
}
