//! What a committed batch is after a loss of power.

#![allow(clippy::unwrap_used)]

use pod_store::{Batch, Store, StoreOptions};
use protocol::AuditEntry;
use simulation::{Chance, disk::Disk};

fn entry(number: u64) -> AuditEntry {
    AuditEntry {
        at: jiff::Timestamp::UNIX_EPOCH,
        by: "operator".to_owned(),
        client: "test".to_owned(),
        action: format!("act-{number}"),
        target: None,
        result: "ok".to_owned(),
        code: None,
        about: None,
    }
}

#[test]
fn what_was_committed_survives_every_loss_of_power() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let disk = Disk::register("power");
    std::thread::spawn(move || {
        pod_store::wait_on_the_spot();
        let mut committed = 0;
        for seed in 0..40 {
            let mut builder = tokio::runtime::Builder::new_current_thread();
            let runtime = builder.enable_time().start_paused(true).build().unwrap();
            let mut chance = Chance::of(seed);
            runtime.block_on(async {
                let options = StoreOptions::sqlite(folder.join("yoi.db")).with_vfs(disk.name());
                let store = Store::open(options).await.unwrap_or_else(|error| panic!("{seed}: {error}"));
                let there = store.audit().page(None, 1_000).await.unwrap();
                assert_eq!(there.len(), committed, "{seed}");
                for _ in 0..chance.within(1, 4) {
                    let audit = vec![entry(committed as u64)];
                    store.commit(Batch { audit, ..Batch::default() }).await.unwrap();
                    committed += 1;
                }
                disk.cut_power();
            });
            // Its tasks hold the connections.
            drop(runtime);
            disk.wait_closed(&folder);
            disk.power_off(&folder, &mut || chance.number()).unwrap();
        }
    })
    .join()
    .unwrap();
}
