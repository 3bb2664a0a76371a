//! Bytes that change on the disk: what is whole is served, what is not is named, and no record is served wrong.

use std::{collections::BTreeSet, fs};

use pod_store::{Batch, Checkpoint, PodChange, PodUpdate, Store, StoreError};
use protocol::{PodState, Seq};
use simulation::disk::{Disk, Failure, Fault, Op, Times};

use crate::{
    day::{ADA, BOB, at, day},
    stage::{Cut, Stage, for_each, fresh, is_thorough, numbers, runtime, views_of},
};

const PAGE: usize = 4096;

#[derive(Debug, Clone, Copy)]
enum Damage {
    /// One byte.
    Flipped,
    /// Half of a page was not written.
    Torn,
    Zeroed,
    /// The page of another place.
    Misplaced,
}

/// A page of the file and what happens to it.
#[derive(Debug, Clone, Copy)]
struct Case {
    page: usize,
    damage: Damage,
    seed: u64,
}

impl Case {
    fn apply(&self, bytes: &mut [u8]) {
        let mut next = numbers(self.seed << 32 | self.page as u64);
        let start = self.page * PAGE;
        let other = next() as usize % (bytes.len() / PAGE) * PAGE;
        match self.damage {
            Damage::Flipped => bytes[start + next() as usize % PAGE] ^= 1 << (next() % 8),
            Damage::Torn => bytes[start + PAGE / 2..start + PAGE].fill(0),
            Damage::Zeroed => bytes[start..start + PAGE].fill(0),
            Damage::Misplaced => bytes.copy_within(other..other + PAGE, start),
        }
    }
}

/// The database at the end of a day, closed.
fn evening() -> Vec<u8> {
    let stage = Stage::begun(fresh());
    runtime().block_on(stage.play(&day(), Cut::ByFault, None));
    fs::read(&stage.path).unwrap()
}

async fn journals(store: &Store) -> Vec<Result<Vec<(i64, String)>, StoreError>> {
    let mut journals = Vec::new();
    for pod in [ADA, BOB] {
        let read = store.journals().after(pod, Seq(0), 1_000, usize::MAX).await;
        let text = |record: pod_store::StoredRecord| (record.seq.0, String::from_utf8_lossy(&record.body).into_owned());
        journals.push(read.map(|records| records.into_iter().map(text).collect()));
    }
    journals
}

#[test]
fn whatever_happens_to_a_page_no_record_is_served_wrong() {
    let whole = evening();
    let expected: Vec<BTreeSet<(i64, String)>> = runtime().block_on(async {
        let stage = Stage::begun(fresh());
        fs::write(&stage.path, &whole).unwrap();
        let store = stage.open().await.unwrap();
        let journals = journals(&store).await;
        store.close().await;
        journals.into_iter().map(|journal| journal.unwrap().into_iter().collect()).collect()
    });
    let mut cases = Vec::new();
    for page in 0..whole.len() / PAGE {
        let case = |damage, seed| Case { page, damage, seed };
        cases.extend((0..if is_thorough() { 16 } else { 2 }).map(|seed| case(Damage::Flipped, seed)));
        cases.extend([Damage::Torn, Damage::Zeroed, Damage::Misplaced].map(|damage| case(damage, 0)));
    }
    println!("{} pages: {} cases", whole.len() / PAGE, cases.len());
    for_each(&cases, |case, disk| {
        let stage = Stage::begun(disk);
        let mut bytes = whole.clone();
        case.apply(&mut bytes);
        fs::write(&stage.path, &bytes).unwrap();
        runtime().block_on(async {
            let store = match stage.open().await {
                Ok(store) => store,
                Err(error) => return assert_named(&error, &stage),
            };
            for (read, expected) in journals(&store).await.into_iter().zip(&expected) {
                match read {
                    Ok(records) => {
                        for record in records {
                            let is_told = record.1.contains("of this Pod is damaged");
                            assert!(is_told || expected.contains(&record), "{record:?} was served");
                        }
                    }
                    Err(error) => assert_named(&error, &stage),
                }
            }
            // Whether or not the rest can be read, it does not end the process, and it is told.
            for told in
                [store.usage().rows().await.err(), store.pods().page(None, 100).await.err()].into_iter().flatten()
            {
                assert_named(&told, &stage);
            }
            let checkpoint = Checkpoint { state: PodState::Idle, open: false, json: "{}".to_owned(), seq: Seq(1_000) };
            let update = PodUpdate { checkpoint: Some(checkpoint), updated_at: Some(at(1)), ..PodUpdate::default() };
            let change = PodChange { update: Some(update), ..PodChange::of(BOB) };
            if let Err(error) = store.commit(Batch { changes: vec![change], ..Batch::default() }).await {
                assert_named(&error, &stage);
            }
            store.close().await;
        });
        disk.wait_closed(stage.folder.path());
    });
}

/// It says what is damaged and where, or that this database has no such Pod.
fn assert_named(error: &StoreError, stage: &Stage) {
    match error {
        StoreError::Damaged(told) | StoreError::Lost(told) => {
            assert!(told.contains(&*stage.path.to_string_lossy()) && told.contains("docs/operations.md"), "{told}");
        }
        StoreError::Database(told) => assert!(told.starts_with("cannot "), "{told}"),
        StoreError::PodGone | StoreError::Conflict => (),
        error => panic!("this error says nothing of damage: {error:?}"),
    }
}

#[test]
fn a_log_that_was_damaged_after_a_kill_holds_a_beginning_of_the_day_and_nothing_else() {
    let day: Vec<_> = day().into_iter().take(6).collect();
    let views = views_of(&day);
    let killed = |disk: &'static Disk| {
        let stage = Stage::begun(disk);
        // After the sixth line, before the log is copied into the database.
        let progress = runtime().block_on(stage.play_and_kill(&day));
        assert_eq!(progress.acknowledged, views.len() - 1);
        (stage, progress)
    };
    let log = {
        let (stage, _) = killed(fresh());
        fs::metadata(stage.log()).unwrap().len() as usize
    };
    let cases: Vec<usize> = (0..log).step_by(1_031).collect();
    assert!(cases.len() > 20, "the log has only {log} bytes");
    for_each(&cases, |at, disk| {
        let (stage, progress) = killed(disk);
        let mut bytes = fs::read(stage.log()).unwrap();
        bytes[*at] ^= 0x10;
        fs::write(stage.log(), &bytes).unwrap();
        stage.found(&views, crate::stage::Progress { acknowledged: 0, ..progress });
    });
}

#[test]
fn a_database_that_cannot_be_written_says_who_has_to_change_what() {
    let disk = fresh();
    let stage = Stage::begun(disk);
    disk.fault(Fault { op: Op::Open, nth: 1, times: Times::Always, failure: Failure::ReadOnly });
    let told = runtime().block_on(stage.open()).unwrap_err().to_string();
    let expected = [&*stage.path.to_string_lossy(), "read-only", "account", "folder"];
    assert!(expected.iter().all(|part| told.contains(part)), "{told}");
    disk.wait_closed(stage.folder.path());
    disk.heal();
    runtime().block_on(async { stage.open().await.unwrap().close().await });
}
