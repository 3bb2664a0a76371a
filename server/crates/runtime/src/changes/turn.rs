//! Where a Pod's newest turn begins.

use pod_store::{PodKey, Store, StoreError};
use protocol::{Event, Record, Seq, TurnEvent};

const RECORDS_AT_ONCE: u32 = 256;
const BYTES_AT_ONCE: usize = 1024 * 1024;

/// The record of the newest message of a person that no rewind has taken out of the context; `None` if there is none.
pub(crate) async fn newest_turn(store: &Store, key: PodKey) -> Result<Option<Seq>, StoreError> {
    let (mut before, mut kept_to) = (Seq(i64::MAX), Seq(i64::MAX));
    loop {
        let rows = store.journals().turns_back(key, before, RECORDS_AT_ONCE, BYTES_AT_ONCE).await?;
        let Some(last) = rows.last() else { return Ok(None) };
        before = last.seq;
        for record in rows.iter().filter_map(|row| serde_json::from_slice::<Record>(&row.body).ok()) {
            match record.event {
                _ if record.seq > kept_to => (),
                Event::Turn(TurnEvent::Rewound { to_seq }) => kept_to = to_seq,
                Event::Turn(TurnEvent::UserMessage { .. }) => return Ok(Some(record.seq)),
                _ => (),
            }
        }
    }
}
