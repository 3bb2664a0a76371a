//! The tables of the model of leases, and the test that they decide as PostgreSQL does, and as the file that hosts of the
//! simulation share: the same steps on both, and every answer and owner compared.

use std::collections::BTreeSet;

use pod_store::{Committed, PodKey, Store, StoreError};
use testkit::until_so;

use crate::{
    hosts::{host, one_record, silence},
    world::{World, create},
};

pub(crate) const PODS: usize = 2;

/// What is committed: the rows of the hosts, and of each Pod its owner and who wrote its records.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Tables {
    pub(crate) hosts: BTreeSet<u8>,
    pub(crate) last_number: u8,
    pub(crate) pods: [PodRow; PODS],
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct PodRow {
    pub(crate) owner: Option<u8>,
    pub(crate) journal: Vec<u8>,
}

impl Tables {
    pub(crate) fn new() -> Self {
        Self { hosts: BTreeSet::new(), last_number: 0, pods: Default::default() }
    }

    /// As `hosts::register`: the number before, if any, is removed and owns nothing.
    pub(crate) fn register(&mut self, before: Option<u8>) -> u8 {
        if let Some(before) = before {
            self.remove(before);
        }
        self.last_number += 1;
        self.hosts.insert(self.last_number);
        self.last_number
    }

    /// As `hosts::leave`, and as the transaction that declares a host dead.
    pub(crate) fn remove(&mut self, number: u8) {
        self.hosts.remove(&number);
        for pod in self.pods.iter_mut().filter(|pod| pod.owner == Some(number)) {
            pod.owner = None;
        }
    }

    /// As `leases::held_in_txn`.
    pub(crate) fn has_lease(&self, number: u8) -> bool {
        self.hosts.contains(&number)
    }

    /// As `LeasePen::claim` and `refuse_unowned`: the error is the owner.
    pub(crate) fn may_claim(&self, number: u8, pod: usize) -> Result<(), u8> {
        match self.pods[pod].owner {
            Some(owner) if owner != number => Err(owner),
            _ => Ok(()),
        }
    }

    pub(crate) fn write(&mut self, number: u8, pod: usize) {
        self.pods[pod].owner = Some(number);
        self.pods[pod].journal.push(number);
    }
}

/// A host that is open on the database, and its number in the model.
struct Both {
    store: Store,
    number: u8,
}

/// What became of a write.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    Done,
    /// Another host owns the Pod; by its number in the model.
    Elsewhere(u8),
    Fenced,
}

/// The hosts of the database in the model's terms.
struct Bench {
    world: World,
    tables: Tables,
    pods: [PodKey; PODS],
    /// Their numbers on the database, in the order of those in the model.
    numbers: Vec<i64>,
}

impl Bench {
    async fn open(&mut self, name: &'static str, before: Option<u8>) -> Both {
        let store = host(&self.world, name).await;
        self.numbers.push(store.hosts().this().unwrap().id);
        let number = self.tables.register(before);
        assert_eq!(usize::from(number), self.numbers.len());
        Both { store, number }
    }

    fn known(&self, number: i64) -> u8 {
        let place = self.numbers.iter().position(|known| *known == number).expect("every host was opened here");
        u8::try_from(place + 1).unwrap()
    }

    /// Writes one record with both, and compares.
    async fn write(&mut self, host: &Both, pod: usize) -> Answer {
        let seq = i64::try_from(self.tables.pods[pod].journal.len()).unwrap() + 1;
        let answer = match host.store.commit(one_record(self.pods[pod], seq)).await {
            Ok(Committed::Done { .. }) => Answer::Done,
            Err(StoreError::Elsewhere(owner)) => Answer::Elsewhere(self.known(owner.id)),
            Err(StoreError::Fenced) => Answer::Fenced,
            other => panic!("{other:?}"),
        };
        let expected = match (self.tables.has_lease(host.number), self.tables.may_claim(host.number, pod)) {
            (false, _) => Answer::Fenced,
            (true, Err(owner)) => Answer::Elsewhere(owner),
            (true, Ok(())) => {
                self.tables.write(host.number, pod);
                Answer::Done
            }
        };
        assert_eq!(answer, expected, "host {} and Pod {pod} in {:?}", host.number, self.tables);
        self.compare(&host.store).await;
        answer
    }

    /// The owners and the lengths of the journals are the same in both.
    async fn compare(&self, store: &Store) {
        for (key, pod) in self.pods.iter().zip(&self.tables.pods) {
            let owner = store.hosts().whereabouts(*key).await.unwrap().owner;
            assert_eq!(owner.map(|owner| self.known(owner.id)), pod.owner, "{:?}", self.tables);
            let head = store.journals().head(*key).await.unwrap();
            assert_eq!(usize::try_from(head.0).unwrap(), pod.journal.len());
        }
    }
}

pub(crate) async fn the_tables_of_the_model_answer_as_the_database_does(world: World) {
    let founder = host(&world, "founder").await;
    let pods = [create(&founder, "ada").await, create(&founder, "bob").await];
    founder.close().await;
    let mut bench = Bench { world, tables: Tables::new(), pods, numbers: Vec::new() };
    let names = ["one", "two", "three"];
    let mut hosts = Vec::new();
    for name in names {
        hosts.push(bench.open(name, None).await);
    }
    let mut gone: Option<Both> = None;
    let mut answers = [0; 3];
    // Every order of two hosts and two Pods comes up many times in this many steps.
    let mut dice = 7_u32;
    for step in 0..160_usize {
        dice = dice.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let (who, pod) = ((dice >> 16) as usize % hosts.len(), (dice >> 24) as usize % PODS);
        let answer = match &gone {
            Some(dead) if step % 5 == 0 => bench.write(dead, pod).await,
            _ => bench.write(&hosts[who], pod).await,
        };
        match answer {
            Answer::Done => answers[0] += 1,
            Answer::Elsewhere(_) => answers[1] += 1,
            Answer::Fenced => answers[2] += 1,
        }
        if step % 10 == 9 {
            // It starts again under the same identity; the one before lives on and does not know.
            let before = hosts[who].number;
            let after = bench.open(names[who], Some(before)).await;
            let before = gone.replace(std::mem::replace(&mut hosts[who], after));
            if let Some(before) = before {
                before.store.close().await;
            }
        }
    }
    assert!(answers.iter().all(|count| *count > 10), "{answers:?}");
    // The others leave; one takes both Pods, is silent, and is declared dead by one that has come anew.
    for host in hosts.drain(1..) {
        host.store.close().await;
        bench.tables.remove(host.number);
    }
    for pod in 0..PODS {
        assert_eq!(bench.write(&hosts[0], pod).await, Answer::Done);
    }
    let two = bench.open("two", None).await;
    assert_eq!(bench.write(&two, 0).await, Answer::Elsewhere(hosts[0].number));
    let mut lost = hosts[0].store.hosts().lost().unwrap();
    until_so("it is declared dead", async || {
        silence(&bench.world, "one").await;
        *lost.borrow_and_update()
    })
    .await;
    bench.tables.remove(hosts[0].number);
    assert_eq!(bench.write(&hosts[0], 1).await, Answer::Fenced);
    assert_eq!(bench.write(&two, 1).await, Answer::Done);
}
