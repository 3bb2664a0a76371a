//! How Pods begin and end here: made, stopped, brought back, deleted.

use protocol::{ApiError, ControlVerb, CreatePod, ErrorCode, PodSummary, Receipt, RestoreCommand, WorkerId};

use super::Host;
use crate::{
    CommandKey, Origin,
    actor::{self, PodCommand},
    asked::Asked,
    create, error,
    family::{self, Stopper},
    peers,
};

impl Host {
    pub async fn create(&self, key: CommandKey, origin: &Origin, create: CreatePod) -> Result<PodSummary, ApiError> {
        if self.inner.stopping.is_cancelled() {
            return Err(error::stopping());
        }
        create::create(&self.inner, &self.inner.family.recipes, key, origin, create).await
    }

    pub async fn control(
        &self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        verb: ControlVerb,
    ) -> Result<Receipt, ApiError> {
        match verb {
            ControlVerb::Restore => self.restore(key, origin, worker_id, RestoreCommand::default()).await,
            ControlVerb::Stop if self.is_led(worker_id).await? => {
                self.inner.count_command();
                Ok(family::stop(&self.inner.family, worker_id, &Stopper::Person(Asked { key, origin })).await?.0)
            }
            verb => self.inner.cluster.command(key, origin, worker_id, PodCommand::Control(verb)).await,
        }
    }

    /// Another Pod leads it: what happens to it happens to what was lent, too.
    async fn is_led(&self, worker_id: &WorkerId) -> Result<bool, ApiError> {
        Ok(self.inner.existing_row(worker_id).await?.parent.is_some())
    }

    /// Brings a stopped Pod back, alone or with those that it leads.
    pub async fn restore(
        &self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        command: RestoreCommand,
    ) -> Result<Receipt, ApiError> {
        self.inner.count_command();
        family::restore_command(&self.inner.family, worker_id, key, origin, command.tree).await
    }

    pub async fn delete(
        &self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        confirm: Option<&str>,
    ) -> Result<(), ApiError> {
        // A repeat after the Pod is gone gives the first answer.
        if let Some(row) = self.inner.store.command_find(&key.id).await.map_err(error::store_failed)? {
            return actor::repeated(row, &key).map(|_| ());
        }
        let row = self.inner.existing_row(worker_id).await?;
        match confirm {
            Some(name) if name == row.name.as_str() => {
                peers::end_all(&self.inner.peers, worker_id).await?;
                if row.parent.is_some() || row.children > 0 {
                    family::stop(&self.inner.family, worker_id, &Stopper::Deleter(origin)).await?;
                }
                loop {
                    let done = self.inner.cluster.command(key.clone(), origin, worker_id, PodCommand::Delete).await;
                    match done {
                        // Somebody was introduced to it meanwhile.
                        Err(error) if error.code == ErrorCode::Busy => {
                            peers::end_all(&self.inner.peers, worker_id).await?
                        }
                        done => return done,
                    }
                }
            }
            _ => Err(ApiError::invalid(format!(
                "deleting cannot be undone: say ?confirm={} to delete this Pod",
                row.name
            ))),
        }
    }
}
