//! Delivery states of messages between peers. Senders are told in the transaction that makes the state true.

use pod_store::{FarChange, FarReceipt, MailPut, MessageChange, PodKey};
use protocol::{ApiError, LinkNews, ReceiptState, RuntimeId, WorkerId};

use super::{Actors, staged::Staged, state::State};
use crate::{clock, encode::put_out, mail::Letter, view::peer_label};

/// What the senders are to be told: those in this store by mail, others through their store.
pub(super) struct Receipts {
    pub(super) receipts: Vec<Receipt>,
    pub(super) far: Vec<FarChange>,
}

/// One message whose state has advanced.
pub(super) struct Receipt {
    pub(super) sender: WorkerId,
    pub(super) letter: MailPut,
    pub(super) change: MessageChange,
}

/// What the senders are to be told. Receipts for messages that this Pod itself sent are left out.
pub(super) async fn receipts(actors: &Actors, state: &State, staged: &Staged) -> Result<Receipts, ApiError> {
    let (mut receipts, mut far_changes) = (Vec::new(), Vec::new());
    // A run counts once, at the first message that it reads, whether that message came to an idle Pod or during a run.
    let mut begins = staged.begun_by_peer;
    for step in &staged.receipts {
        let row = actors.patiently(|| actors.store.messages().find(&step.message_id)).await?;
        // A message without a row is being sent in this very transaction: it wakes this Pod, which reads it at once.
        if row.as_ref().is_some_and(|row| row.receiver != state.key) {
            continue;
        }
        if row.is_none() && step.peer.runtime_id != RuntimeId::local() {
            if let Some(sender) = actors.above()?.far_sender(state.key, &step.message_id, &step.peer).await? {
                let woke = is_what_began(step.state, &mut begins);
                far_changes.extend(sender.told(state.key, &state.worker_id, step.state, step.turn, woke));
            }
            continue;
        }
        let Some(sender) = actors.patiently(|| actors.store.pods().find(&step.peer.worker_id)).await? else { continue };
        let woke = is_what_began(step.state, &mut begins);
        let (id, now, turn, reached) = (&step.message_id, clock::now(), step.turn, step.state);
        let peer = peer_label(&state.label());
        let letter = Letter::Receipt { message_id: id.clone(), peer, state: reached, turn, reason: None };
        let key = format!("receipt:{id}:{reached:?}");
        receipts.push(Receipt {
            sender: sender.worker_id,
            letter: MailPut { to: sender.key, key, body: letter.encode(), at: now },
            change: MessageChange::State { id: id.clone(), state: reached, turn, woke, at: now },
        });
    }
    Ok(Receipts { receipts, far: far_changes })
}

/// Whether this message is the one that began the run.
fn is_what_began(state: ReceiptState, begins: &mut bool) -> bool {
    state == ReceiptState::Read && std::mem::take(begins)
}

/// The sender of a message that came from another store.
#[derive(Debug)]
pub(crate) struct FarSender {
    pub(crate) message_id: String,
    pub(crate) store: String,
    pub(crate) worker: WorkerId,
}

impl FarSender {
    /// Records that the message has advanced here and tells the store that sent it.
    fn told(self, pod: PodKey, own: &WorkerId, state: ReceiptState, turn: Option<u64>, woke: bool) -> [FarChange; 2] {
        let Self { message_id, store, worker } = self;
        let at = clock::now();
        let receipt = FarReceipt { pod, id: message_id.clone(), state, turn, reason: None, woke, at };
        let news =
            LinkNews::Receipt { message_id, from: own.clone(), to: worker, state, turn, code: None, reason: None };
        [FarChange::MessageState(receipt), put_out(&store, &news)]
    }
}
