//! The handshake between two stores, explored whole: every order of what people do on both sides, of what expires, and
//! of what the network carries, repeats, delays and loses.
//!
//! A state is what is durable in the two stores and what is under way between them. Each action is one transaction or
//! one step of the network, so a crash lies between any two of them and changes nothing. What a transaction writes is
//! decided by the code itself (`code`), as are the order of items and what may be forgotten (`line`).

mod code;

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use pod_store::{FarPosition, FarState};
use stateright::{Checker, Model, Property};

use self::code::{Happening, Item, Kind, Policy, Row, Wish, Written, written};
use super::line::{check_after, is_next};

/// One store.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
struct Store {
    row: Option<Row>,
    /// All items ever put out, in the order of their numbers.
    out: Vec<Item>,
    /// The other side has confirmed those up to this one, and they are deleted.
    acked: usize,
    /// Those up to this one are or were on the network, which may deliver each at any time, any number of times.
    carried: usize,
    /// The last of the other side's items that was taken in.
    taken: usize,
    /// The items that were applied.
    applied: Vec<usize>,
    /// The number is durable and its effect is not, or the reverse. Only with a fault.
    half: Option<usize>,
    /// Somebody here has agreed to the pair, in person or by the Pod's policy.
    has_agreed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Stores {
    sides: [Store; 2],
    /// How often people may still do something.
    acts: usize,
    /// The handshakes that are used, as bits.
    used: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Action {
    /// A person does this.
    Act(usize, Happening),
    /// An open request has waited for too long.
    Expire(usize),
    /// This side asks for the items after this one, which it has; the question may be an old one.
    Ask(usize, usize),
    /// The network delivers the item with this number to this side.
    Deliver(usize, usize, Policy),
    /// The second half of a transaction that a fault has torn.
    Second(usize),
}

/// A fault put into the protocol on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// What was taken in is taken in again.
    Repeats,
    /// The number and its effect are two transactions.
    Torn,
    /// An item is deleted when it is sent, not when the other side has it.
    ForgetsEarly,
    /// The proposing side has the pair at once.
    LinksEarly,
    /// Both sides of a crossing hold on to their own proposal.
    BothInsist,
    /// The other side is not informed of an end.
    EndsSilently,
}

/// A side, what it has about the pair, and what happens there.
type Case = (usize, Option<Row>, Happening);

struct Handshake {
    acts: usize,
    /// With a network; otherwise items arrive, in order, some time after they were put out.
    has_network: bool,
    fault: Option<Fault>,
    /// What the code writes, computed once for each case.
    known: Mutex<HashMap<Case, Written>>,
}

impl Handshake {
    fn new(acts: usize, has_network: bool, fault: Option<Fault>) -> Self {
        Self { acts, has_network, fault, known: Mutex::default() }
    }

    fn written(&self, side: usize, row: Option<Row>, happening: Happening) -> Written {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let write = || self.faulty(row, happening, written(side, row, happening));
        known.entry((side, row, happening)).or_insert_with(write).clone()
    }

    fn faulty(&self, row: Option<Row>, happening: Happening, written: Written) -> Written {
        match (self.fault, happening) {
            (Some(Fault::LinksEarly), Happening::Begin { .. }) => {
                let linked = |row| Row { state: FarState::Linked, ..row };
                Written { row: written.row.map(linked), ..written }
            }
            (Some(Fault::BothInsist), Happening::Took(Item { kind: Kind::Propose, .. }, _))
                if row.is_some_and(|row| row.state == FarState::Proposed) =>
            {
                Written { row, sent: Vec::new() }
            }
            (Some(Fault::EndsSilently), Happening::End) => Written { sent: Vec::new(), ..written },
            _ => written,
        }
    }

    /// Writes one transaction. `None` if it changes nothing.
    fn apply(&self, stores: &Stores, side: usize, happening: Happening) -> Option<Stores> {
        let mut next = stores.clone();
        let store = &mut next.sides[side];
        let Written { row, sent } = self.written(side, store.row, happening);
        for item in &sent {
            if matches!(item.kind, Kind::Propose | Kind::Invite) {
                next.used |= 1 << item.handshake;
            }
        }
        store.has_agreed = row.is_some() && (store.has_agreed || agrees(happening));
        store.row = row;
        store.out.extend(sent);
        (next != *stores).then_some(next)
    }

    /// The item with this number arrives.
    fn deliver(&self, stores: &Stores, to: usize, seq: usize, policy: Policy) -> Option<Stores> {
        let taken = stores.sides[to].taken;
        match is_next(number(taken), number(seq)) {
            Ok(true) => (),
            Ok(false) if self.fault == Some(Fault::Repeats) => (),
            _ => return None,
        }
        let mut next = stores.clone();
        next.sides[to].taken = taken.max(seq);
        if self.fault == Some(Fault::Torn) {
            next.sides[to].half = Some(seq);
            return Some(next);
        }
        Some(self.take(next, to, seq, policy))
    }

    fn take(&self, mut stores: Stores, to: usize, seq: usize, policy: Policy) -> Stores {
        stores.sides[to].applied.push(seq);
        let item = stores.sides[1 - to].out[seq - 1];
        self.apply(&stores, to, Happening::Took(item, policy)).unwrap_or(stores)
    }

    /// A question for items: what the asking side has is deleted, and the rest is put on the network.
    fn ask(&self, stores: &Stores, to: usize, after: usize) -> Option<Stores> {
        let mut next = stores.clone();
        let from = &mut next.sides[1 - to];
        let position = FarPosition { put_out: number(from.out.len()), acked: number(from.acked), taken: 0 };
        check_after(&position, number(after)).ok()?;
        from.acked = from.acked.max(after);
        // Only what is still there can be carried.
        from.carried = from.out.len();
        if self.fault == Some(Fault::ForgetsEarly) {
            from.acked = from.out.len();
        }
        (next != *stores).then_some(next)
    }

    /// What a person may begin: under any handshake that is not used, because two servers give them out in no order.
    fn wishes(&self, stores: &Stores, side: usize) -> Vec<Action> {
        let is_open = stores.sides[side].row.is_some_and(|row| row.state != FarState::Linked);
        let mut wishes = Vec::new();
        for handshake in (0..self.acts as u8).filter(|handshake| stores.used & (1 << handshake) == 0) {
            for wish in [Wish::Introduce, Wish::Invite] {
                for is_stale in if is_open { &[false, true][..] } else { &[false] } {
                    wishes.push(Action::Act(side, Happening::Begin { wish, handshake, is_stale: *is_stale }));
                }
            }
        }
        wishes
    }

    /// The items that may be delivered to a side now.
    fn deliverable(&self, stores: &Stores, to: usize) -> std::ops::RangeInclusive<usize> {
        let (store, other) = (&stores.sides[to], &stores.sides[1 - to]);
        match self.has_network {
            true if self.fault == Some(Fault::ForgetsEarly) => other.acked + 1..=other.out.len(),
            true => 1..=other.carried,
            false => store.taken + 1..=other.out.len().min(store.taken + 1),
        }
    }
}

fn number(seq: usize) -> i64 {
    i64::try_from(seq).expect("lines are short")
}

/// Whether this is an agreement to the pair. What the other side asks its own people is one only if the Pod is open.
fn agrees(happening: Happening) -> bool {
    match happening {
        Happening::Begin { wish, .. } => wish == Wish::Introduce,
        Happening::Accept => true,
        Happening::Took(Item { kind: Kind::Propose | Kind::Invite, .. }, policy) => policy == Policy::Open,
        _ => false,
    }
}

impl Stores {
    /// Everything that was put out has been taken in.
    fn is_drained(&self) -> bool {
        let [a, b] = &self.sides;
        a.out.len() == b.taken && b.out.len() == a.taken && a.half.is_none() && b.half.is_none()
    }

    fn states(&self) -> [Option<FarState>; 2] {
        [0, 1].map(|side: usize| self.sides[side].row.map(|row| row.state))
    }

    fn are_linked(&self) -> bool {
        self.states() == [Some(FarState::Linked); 2]
    }

    /// Both have the pair, or neither has it, or one waits for somebody who is asked on the other side.
    fn agree(&self) -> bool {
        use FarState::{Asked, Linked, Waiting};
        let handshakes = [0, 1].map(|side: usize| self.sides[side].row.map(|row| row.handshake));
        let fit = matches!(
            self.states(),
            [None, None] | [Some(Linked), Some(Linked)] | [Some(Waiting), Some(Asked)] | [Some(Asked), Some(Waiting)]
        );
        fit && handshakes[0] == handshakes[1]
    }

    fn is_open(&self) -> bool {
        self.states().iter().flatten().any(|state| *state != FarState::Linked)
    }
}

const POLICIES: [Policy; 3] = [Policy::Open, Policy::Ask, Policy::Closed];

impl Model for Handshake {
    type State = Stores;
    type Action = Action;

    fn init_states(&self) -> Vec<Stores> {
        vec![Stores { sides: Default::default(), acts: self.acts, used: 0 }]
    }

    fn actions(&self, stores: &Stores, actions: &mut Vec<Action>) {
        for side in [0, 1] {
            let store = &stores.sides[side];
            if store.half.is_some() {
                actions.push(Action::Second(side));
                continue;
            }
            if stores.acts > 0 {
                actions.extend(self.wishes(stores, side));
                let answers = [Happening::Accept, Happening::Decline, Happening::End];
                actions.extend(answers.map(|happening| Action::Act(side, happening)));
            }
            if store.row.is_some_and(|row| row.state != FarState::Linked) {
                actions.push(Action::Expire(side));
            }
            if self.has_network {
                actions.extend((0..=store.taken).map(|after| Action::Ask(side, after)));
            }
            for seq in self.deliverable(stores, side) {
                let is_asked = matches!(stores.sides[1 - side].out[seq - 1].kind, Kind::Propose | Kind::Invite);
                let policies = if is_asked { &POLICIES[..] } else { &POLICIES[..1] };
                actions.extend(policies.iter().map(|policy| Action::Deliver(side, seq, *policy)));
            }
        }
    }

    fn next_state(&self, stores: &Stores, action: Action) -> Option<Stores> {
        match action {
            Action::Act(side, happening) => {
                let next = self.apply(stores, side, happening)?;
                Some(Stores { acts: stores.acts - 1, ..next })
            }
            Action::Expire(side) => self.apply(stores, side, Happening::End),
            Action::Ask(side, after) => self.ask(stores, side, after),
            Action::Deliver(side, seq, policy) => self.deliver(stores, side, seq, policy),
            // A crash between the two halves loses the second.
            Action::Second(side) => {
                let mut next = stores.clone();
                next.sides[side].half = None;
                Some(next)
            }
        }
    }

    /// Some faults make lines grow without end; what is not faulty is not bounded.
    fn within_boundary(&self, stores: &Stores) -> bool {
        self.fault.is_none() || stores.sides.iter().all(|store| store.applied.len() <= 4 && store.out.len() <= 4)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("each item is applied once, in order", |_, stores: &Stores| {
                stores
                    .sides
                    .iter()
                    .all(|store| store.half.is_some() || store.applied.iter().copied().eq(1..=store.taken))
            }),
            Property::always("an item is kept until the other side has it", |_, stores: &Stores| {
                let [a, b] = &stores.sides;
                a.acked <= b.taken && b.acked <= a.taken
            }),
            Property::always("both have the pair or neither, once the lines are drained", |_, stores: &Stores| {
                !stores.is_drained() || stores.agree()
            }),
            Property::always("no request stays open at the end", |model: &Self, stores: &Stores| {
                let mut actions = Vec::new();
                model.actions(stores, &mut actions);
                !stores.is_open() || actions.into_iter().any(|action| model.next_state(stores, action).is_some())
            }),
            Property::always("nobody is linked without an agreement", |_, stores: &Stores| {
                let is_linked = |store: &Store| store.row.is_some_and(|row| row.state == FarState::Linked);
                stores.sides.iter().all(|store| !is_linked(store) || store.has_agreed)
            }),
            Property::sometimes("both are linked", |_, stores: &Stores| stores.is_drained() && stores.are_linked()),
            Property::sometimes("they part again", |_, stores: &Stores| {
                let has_told = |store: &Store| store.out.iter().any(|item| item.kind == Kind::Unlinked);
                stores.is_drained() && stores.states() == [None, None] && stores.sides.iter().any(has_told)
            }),
            Property::sometimes("two proposals cross", |_, stores: &Stores| {
                stores.states() == [Some(FarState::Proposed); 2]
            }),
            Property::sometimes("somebody is asked", |_, stores: &Stores| {
                stores.is_drained() && stores.states().contains(&Some(FarState::Asked))
            }),
        ]
    }
}

/// Explores everything and prints how much that was.
fn explored(model: Handshake, what: &str) -> usize {
    let checker = model.checker().spawn_bfs().join();
    println!("{what}: {} states, {} transitions", checker.unique_state_count(), checker.state_count());
    assert!(checker.is_done(), "{what} is not explored whole");
    checker.assert_properties();
    checker.unique_state_count()
}

/// The names of the properties that a fault breaks.
fn broken(acts: usize, has_network: bool, fault: Fault) -> Vec<&'static str> {
    let model = Handshake::new(acts, has_network, Some(fault));
    let always = ["each item", "an item", "both have", "no request", "nobody is"];
    let checker = model.checker().spawn_bfs().join();
    let mut broken: Vec<_> = checker.discoveries().into_keys().collect();
    broken.retain(|name| always.iter().any(|begins| name.starts_with(begins)));
    broken.sort_unstable();
    println!("{fault:?}: {broken:?}");
    broken
}

#[test]
fn whatever_two_people_do_three_times_both_stores_come_to_agree() {
    assert!(explored(Handshake::new(3, false, None), "handshake, 3 acts") > 1_000);
}

#[test]
fn whatever_the_network_does_both_stores_come_to_agree() {
    assert!(explored(Handshake::new(2, true, None), "handshake over a network, 2 acts") > 1_000);
}

/// Found by the model: side 0 had asked its own people and was declined, and side 1, which linked the two meanwhile, took
/// that old question for a new one. It gave the pair up and told nobody, so side 0 kept it.
#[test]
fn a_pair_that_gives_way_to_an_older_question_ends_on_both_sides() {
    let begin = |wish, handshake| Happening::Begin { wish, handshake, is_stale: false };
    let model = Handshake::new(3, false, None);
    let actions = [
        Action::Act(0, begin(Wish::Invite, 2)),
        Action::Expire(0),
        Action::Act(1, begin(Wish::Invite, 1)),
        Action::Deliver(0, 1, Policy::Open),
        Action::Act(1, begin(Wish::Introduce, 0)),
        Action::Deliver(0, 2, Policy::Open),
    ];
    let step = |stores: Stores, action| model.next_state(&stores, action).unwrap();
    let mut stores = actions.into_iter().fold(model.init_states().remove(0), step);
    assert!(stores.are_linked());
    // What is still under way.
    for (to, seq) in [(1, 1), (1, 2), (0, 3)] {
        stores = step(stores, Action::Deliver(to, seq, Policy::Open));
    }
    assert!(stores.is_drained());
    assert_eq!(stores.states(), [None, None]);
}

#[test]
fn the_model_finds_an_item_that_is_applied_twice() {
    assert!(broken(1, true, Fault::Repeats).contains(&"each item is applied once, in order"));
}

#[test]
fn the_model_finds_a_number_that_is_written_without_its_effect() {
    assert!(broken(1, false, Fault::Torn).contains(&"each item is applied once, in order"));
}

#[test]
fn the_model_finds_an_item_that_is_forgotten_too_early() {
    assert!(broken(1, true, Fault::ForgetsEarly).contains(&"an item is kept until the other side has it"));
}

#[test]
fn the_model_finds_a_pair_that_only_one_side_has() {
    let both = "both have the pair or neither, once the lines are drained";
    for fault in [Fault::LinksEarly, Fault::BothInsist, Fault::EndsSilently] {
        assert!(broken(2, false, fault).contains(&both), "{fault:?}");
    }
}
