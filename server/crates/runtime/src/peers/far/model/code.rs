//! One side's part of the model: what the code itself makes of an item, or of what a person wants.
//!
//! The functions of `begin`, `greet`, `invited`, `said` and `parting` that prepare a transaction are called with real
//! rows; the changes that they return are read back as the model's own small terms. Times, names and notes are left
//! out of those, because nothing is decided by them.

use jiff::{SignedDuration, Timestamp};
use pod_store::{FarChange, FarPeerRow, FarState, PodKey, PodRow};
use protocol::{
    ApiError, LinkCard, LinkNews, PeerLabel, PeerPolicy, PodName, PodState, RequestDecision, RuntimeId, Seq, WorkerId,
};

use super::super::{
    super::handshake::{News, Step, decide},
    FarPod, Proposal,
    begin::{Begun, accept},
    cards::card_of,
    greet, invited,
    parting::ended,
    put_out,
    said::{Said, heard},
    standing, standing_among,
};

/// What a side has about the pair: the number of its handshake, and its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Row {
    pub(super) handshake: u8,
    pub(super) state: FarState,
}

/// An item of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Item {
    pub(super) kind: Kind,
    pub(super) handshake: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Propose,
    Invite,
    Accepted,
    Asked,
    Refused,
    Declined,
    Withdraw,
    Unlinked,
}

/// What happens on a side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Happening {
    /// A person wants the pair; a new request would get this handshake.
    Begin {
        wish: Wish,
        handshake: u8,
        /// The request that is there has expired.
        is_stale: bool,
    },
    Accept,
    Decline,
    /// A person ends it, or it expires.
    End,
    /// An item is taken in, while the Pod has this policy.
    Took(Item, Policy),
}

/// Who is asked: the other side, or the Pod here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Wish {
    Introduce,
    Invite,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Policy {
    Open,
    Ask,
    Closed,
}

/// One transaction: the row afterwards, and the items that it puts out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) row: Option<Row>,
    pub(super) sent: Vec<Item>,
}

/// What the code writes on side 0 or 1 when this happens there.
pub(super) fn written(side: usize, row: Option<Row>, happening: Happening) -> Written {
    let changes = match happening {
        Happening::Begin { wish, handshake, is_stale } => begin(side, row, wish, handshake, is_stale),
        Happening::Accept => answered(side, row, RequestDecision::Accept),
        Happening::Decline => answered(side, row, RequestDecision::Decline),
        Happening::End => row.map_or_else(Vec::new, |row| ended(&full(side, row), label(side), "ann", None).0),
        Happening::Took(item, policy) => took(side, row, item, policy),
    };
    let mut written = Written { row, sent: Vec::new() };
    for change in changes {
        match change {
            FarChange::Put(row) => {
                written.row = Some(Row { handshake: number(&row.handshake), state: row.state });
            }
            FarChange::Remove { .. } => written.row = None,
            FarChange::Send { body, .. } => written.sent.push(item(&body)),
            _ => (),
        }
    }
    written
}

fn begin(side: usize, row: Option<Row>, wish: Wish, handshake: u8, is_stale: bool) -> Vec<FarChange> {
    let own = own(side);
    let target = FarPod { store: store(1 - side), card: card(1 - side) };
    let handshake = named(handshake);
    let begun = Begun { own: &own, target: &target, peer: label(side), by: "ann", note: None, handshake };
    let news = match wish {
        Wish::Introduce => News::Introduce,
        Wish::Invite => News::Invite,
    };
    let expired = |row: FarPeerRow| match is_stale && row.expires_at.is_some() {
        true => FarPeerRow { expires_at: Some(Timestamp::UNIX_EPOCH), ..row },
        false => row,
    };
    let known = row.map(|row| expired(full(side, row)));
    begun.follow(news, usize::from(row.is_some()), known).map_or_else(|_| Vec::new(), |(_, far, _)| far)
}

/// As in `decision::decide_request`.
fn answered(side: usize, row: Option<Row>, decision: RequestDecision) -> Vec<FarChange> {
    let row = row.filter(|row| row.state != FarState::Linked).map(|row| full(side, row));
    match (decide(standing(row.as_ref()), News::of(decision)), row) {
        (Step::Link, Some(row)) => accept(&own(side), row, label(side), "ann").0,
        (Step::End(_), Some(row)) => ended(&row, label(side), "ann", None).0,
        _ => Vec::new(),
    }
}

/// As in `receive::take`, for a Pod that exists.
fn took(side: usize, row: Option<Row>, item: Item, policy: Policy) -> Vec<FarChange> {
    let (own, store, by) = (own(side), store(1 - side), "bob".to_owned());
    let handshake = named(item.handshake);
    let known = row.map(|row| full(side, row));
    let said = match item.kind {
        Kind::Propose | Kind::Invite => {
            let proposal = Proposal { handshake, from: card(1 - side), to: own.worker_id.clone(), by, note: None };
            let standing = standing_among(usize::from(known.is_some()), known.as_ref());
            let policy = policy.into();
            if item.kind == Kind::Propose {
                return greet::proposed((&store, &own), label(side), (standing, known), policy, proposal).0;
            }
            let handshake = proposal.handshake.clone();
            return match invited::asked_for((&store, &own), label(side), (standing, known), policy, proposal) {
                Ok((far, _)) => far,
                Err(ApiError { code, detail: sentence, .. }) => {
                    vec![put_out(&store, &LinkNews::Refused { handshake, code, sentence })]
                }
            };
        }
        Kind::Accepted => Said::Accepted { card: card(1 - side), by },
        Kind::Asked => Said::Asked { card: card(1 - side) },
        Kind::Refused => Said::Refused(ApiError::invalid("no")),
        Kind::Declined => Said::Declined { by, note: None },
        Kind::Withdraw => Said::Withdraw { by, note: None },
        Kind::Unlinked => Said::Unlinked { by, note: None },
    };
    // An item finds its row by the handshake.
    match known.filter(|row| row.handshake == handshake) {
        Some(row) => heard(row, label(side), said).0,
        None => Vec::new(),
    }
}

impl From<Policy> for PeerPolicy {
    fn from(policy: Policy) -> Self {
        match policy {
            Policy::Open => Self::Open,
            Policy::Ask => Self::Ask,
            Policy::Closed => Self::Closed,
        }
    }
}

/// A handshake's name; names are in the order of their numbers.
fn named(handshake: u8) -> String {
    format!("request-{handshake}")
}

fn number(handshake: &str) -> u8 {
    handshake.strip_prefix("request-").and_then(|number| number.parse().ok()).expect("the model named it")
}

fn item(body: &str) -> Item {
    let news: LinkNews = serde_json::from_str(body).expect("what is put out can be read");
    let (kind, handshake) = match news {
        LinkNews::Propose { handshake, .. } => (Kind::Propose, handshake),
        LinkNews::Invite { handshake, .. } => (Kind::Invite, handshake),
        LinkNews::Accepted { handshake, .. } => (Kind::Accepted, handshake),
        LinkNews::Asked { handshake, .. } => (Kind::Asked, handshake),
        LinkNews::Refused { handshake, .. } => (Kind::Refused, handshake),
        LinkNews::Declined { handshake, .. } => (Kind::Declined, handshake),
        LinkNews::Withdraw { handshake, .. } => (Kind::Withdraw, handshake),
        LinkNews::Unlinked { handshake, .. } => (Kind::Unlinked, handshake),
        other => panic!("a handshake puts out no {other:?}"),
    };
    Item { kind, handshake: number(&handshake) }
}

fn full(side: usize, row: Row) -> FarPeerRow {
    let now = Timestamp::now();
    FarPeerRow {
        pod: PodKey(1),
        store: store(1 - side),
        worker: worker(1 - side),
        handshake: named(row.handshake),
        state: row.state,
        note: None,
        by: "ann".to_owned(),
        since: now,
        expires_at: (row.state != FarState::Linked).then(|| now + SignedDuration::from_hours(1)),
        pace_level: 0,
        pace_at: now,
        told: String::new(),
    }
}

fn own(side: usize) -> PodRow {
    PodRow {
        key: PodKey(1),
        worker_id: worker(side),
        name: name(side),
        created_at: Timestamp::UNIX_EPOCH,
        updated_at: Timestamp::UNIX_EPOCH,
        state: PodState::Idle,
        open: false,
        spec: String::new(),
        checkpoint: String::new(),
        head: Seq(1),
        unread: 0,
        parent: None,
        children: 0,
        peers: 0,
        queued: 0,
    }
}

fn card(side: usize) -> LinkCard {
    card_of(&own(side))
}

/// How side's records name the other Pod.
fn label(side: usize) -> PeerLabel {
    let runtime_id = RuntimeId::parse(&store(1 - side)).expect("it is a valid id");
    PeerLabel { runtime_id, worker_id: worker(1 - side), name: name(1 - side) }
}

fn store(side: usize) -> String {
    format!("store-{side}")
}

fn worker(side: usize) -> WorkerId {
    WorkerId::parse(&format!("worker-{side}")).expect("it is a valid id")
}

fn name(side: usize) -> PodName {
    PodName::parse(&format!("pod-{side}")).expect("it is a valid name")
}
