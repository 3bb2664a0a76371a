//! Writes the tables of a group, in the order of their dependencies.

use protocol::Seq;

use super::{
    failure::{Failure, Steps},
    leases::head_after,
    plan::{Plan, Relations},
};
use crate::{Step, engine::Pen, far_changes, heads::Heads, peer_plan::MessageLines, rules};

/// The tables, in an open transaction.
pub(crate) struct Tables<'w> {
    pub(crate) pen: &'w mut dyn Pen,
    pub(crate) heads: &'w mut Heads,
    pub(crate) steps: &'w Steps,
}

impl Tables<'_> {
    /// Pods come first: later tables need the keys of created Pods and must not find anything of deleted ones.
    pub(crate) async fn write(&mut self, plan: &mut Plan<'_>) -> Result<(), Failure> {
        self.pods(plan).await?;
        self.relations(plan).await?;
        self.peers(plan).await?;
        self.journal(plan).await?;
        self.inbox(plan).await?;
        self.mail(plan).await?;
        self.messages(plan).await?;
        self.far(plan).await?;
        self.rules(plan).await?;
        self.search_and_audit(plan).await
    }

    async fn pods(&mut self, plan: &mut Plan<'_>) -> Result<(), Failure> {
        let (deleted, created) = (plan.deleted(), plan.created());
        let has_updates = plan.changes.iter().any(|planned| planned.change.update.is_some());
        if deleted.is_empty() && created.is_empty() && !has_updates {
            return Ok(());
        }
        self.steps.reach(Step::Pods)?;
        for pod in deleted {
            self.pen.pod_delete(pod).await?;
            self.heads.stage_deleted(pod);
        }
        if !created.is_empty() {
            let keys = self.pen.pods_create(&created).await?;
            plan.set_created_keys(keys);
            self.stage_created(plan)?;
        }
        let updates = plan.updates();
        if !updates.is_empty() {
            self.pen.pods_update(&updates).await?;
        }
        Ok(())
    }

    fn stage_created(&mut self, plan: &Plan<'_>) -> Result<(), Failure> {
        for planned in plan.changes.iter().filter(|planned| planned.change.create.is_some()) {
            let head = head_after(Seq(0), planned.change).map_err(|error| Failure::One(planned.job, error))?;
            if let Some(key) = planned.key {
                self.heads.stage(key, head);
            }
        }
        Ok(())
    }

    async fn relations(&mut self, plan: &Plan<'_>) -> Result<(), Failure> {
        let Relations { links, loans } = plan.relations();
        if links.is_empty() && loans.is_empty() {
            return Ok(());
        }
        self.steps.reach(Step::Relations)?;
        if !links.is_empty() {
            self.pen.children_link(&links).await?;
        }
        if !loans.is_empty() {
            self.pen.children_lend(&loans).await?;
        }
        Ok(())
    }

    async fn peers(&mut self, plan: &Plan<'_>) -> Result<(), Failure> {
        let peers = plan.peers();
        if !peers.is_empty() {
            self.steps.reach(Step::Peers)?;
        }
        for lines in &peers {
            self.pen.peers_change(lines).await?;
        }
        Ok(())
    }

    async fn journal(&mut self, plan: &Plan<'_>) -> Result<(), Failure> {
        let records = plan.records();
        if !records.is_empty() {
            self.steps.reach(Step::Records)?;
            self.pen.records_append(&records).await?;
        }
        for (blob, pod) in plan.blob_uses() {
            let mut words = self.pen.words()?;
            let used =
                words.sql("insert into blob_uses (blob, pod) values ($1, $2) on conflict (blob, pod) do nothing");
            used.bind(blob).bind(pod.0).run("note who names a file").await?;
        }
        let folds = plan.folds();
        if !folds.is_empty() {
            self.steps.reach(Step::Folds)?;
            self.pen.records_fold(&folds).await?;
        }
        let spent = plan.spent();
        if !spent.is_empty() {
            self.steps.reach(Step::Usage)?;
            self.pen.usage_add(&spent).await?;
        }
        Ok(())
    }

    async fn inbox(&mut self, plan: &Plan<'_>) -> Result<(), Failure> {
        let (put, taken) = (plan.inbox_put(), plan.inbox_taken());
        if !put.is_empty() || !taken.is_empty() {
            self.steps.reach(Step::Inbox)?;
        }
        if !put.is_empty() {
            self.pen.inbox_put(&put).await?;
        }
        if !taken.is_empty() {
            self.pen.inbox_take(&taken).await?;
        }
        Ok(())
    }

    /// New mail is written first: mail from one batch may be taken by a later one of the same group.
    async fn mail(&mut self, plan: &Plan<'_>) -> Result<(), Failure> {
        let (put, taken) = (plan.mail_put(), plan.mail_taken());
        if !put.is_empty() || !taken.is_empty() {
            self.steps.reach(Step::Mail)?;
        }
        if !put.is_empty() {
            self.pen.mail_put(&put).await?;
        }
        if !taken.is_empty() {
            self.pen.mail_take(&taken).await?;
        }
        Ok(())
    }

    async fn messages(&mut self, plan: &Plan<'_>) -> Result<(), Failure> {
        let MessageLines { put, receipts } = plan.messages();
        if !put.is_empty() || !receipts.is_empty() {
            self.steps.reach(Step::Messages)?;
        }
        if !put.is_empty() {
            self.pen.messages_put(&put).await?;
        }
        if !receipts.is_empty() {
            self.pen.messages_change(&receipts).await?;
        }
        Ok(())
    }

    async fn far(&mut self, plan: &Plan<'_>) -> Result<(), Failure> {
        let changes = plan.far();
        if !changes.is_empty() {
            self.steps.reach(Step::Far)?;
        }
        for change in changes {
            far_changes::change_in_txn(&mut self.pen.words()?, change).await?;
        }
        Ok(())
    }

    async fn rules(&mut self, plan: &Plan<'_>) -> Result<(), Failure> {
        for change in &plan.rules {
            rules::change_in_txn(&mut self.pen.words()?, change).await?;
        }
        Ok(())
    }

    async fn search_and_audit(&mut self, plan: &Plan<'_>) -> Result<(), Failure> {
        let search = plan.search();
        if !search.is_empty() {
            self.steps.reach(Step::Search)?;
            self.pen.search_append(&search).await?;
        }
        if !plan.audit.is_empty() {
            self.steps.reach(Step::Audit)?;
            self.pen.audit_append(&plan.audit).await?;
        }
        Ok(())
    }
}
