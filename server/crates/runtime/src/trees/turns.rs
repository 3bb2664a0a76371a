//! Locks by name: one change at a time where two at once would harm each other.

use std::{
    collections::HashMap,
    path::Path,
    sync::{Arc, Mutex as Shared, Weak},
};

use tokio::sync::{Mutex, OwnedMutexGuard};

/// The locks, by name. A repository is named by its common git folder.
#[derive(Debug, Default)]
pub(super) struct Turns(Shared<HashMap<String, Weak<Mutex<()>>>>);

/// Nobody else in this process holds the lock of this name until this is dropped.
#[derive(Debug)]
pub(crate) struct Turn(#[expect(dead_code, reason = "its end is what counts")] OwnedMutexGuard<()>);

impl Turns {
    /// Takes a lock; waits for those who asked before.
    pub(super) async fn take(&self, what: String) -> Turn {
        let gate = {
            let mut gates = self.0.lock().expect("no holder of the turns panics");
            gates.retain(|_, gate| gate.strong_count() > 0);
            let gate = gates.get(&what).and_then(Weak::upgrade).unwrap_or_default();
            gates.insert(what, Arc::downgrade(&gate));
            gate
        };
        Turn(gate.lock_owned().await)
    }

    /// Takes the lock for changing a repository.
    pub(super) async fn with_repository(&self, common: &Path) -> Turn {
        let real = common.canonicalize().unwrap_or_else(|_| common.to_owned());
        self.take(format!("repository {}", real.display())).await
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn whoever_asks_later_waits_and_other_things_do_not() {
        let turns = Turns::default();
        let first = turns.take("a".to_owned()).await;
        let mut second = std::pin::pin!(turns.take("a".to_owned()));
        assert!(second.as_mut().now_or_never().is_none());
        drop(turns.take("b".to_owned()).await);
        assert!(second.as_mut().now_or_never().is_none());
        drop(first);
        drop(second.await);
        drop(turns.take("c".to_owned()).await);
        assert_eq!(turns.0.lock().unwrap().len(), 1, "what nobody waits for is forgotten");
    }
}
