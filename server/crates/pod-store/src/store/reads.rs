//! What can be asked of a store.

use jiff::Timestamp;
use protocol::{AuditEntry, CommandId, PodName, Seq, WorkerId};

use crate::{
    AuditFilter, ChildRow, CommandRow, FoundRecord, InboxRow, MailRow, PodGroup, PodKey, PodRow, Portion, Store,
    StoreError, StoredRecord,
    checksum::{Damage, RawRecord},
    chore::Chore,
    columns,
};

impl Store {
    pub async fn pod_find(&self, worker_id: &WorkerId) -> Result<Option<PodRow>, StoreError> {
        self.read(self.engine().pod_find(worker_id)).await
    }

    pub async fn pod_find_by_name(&self, name: &PodName) -> Result<Option<PodRow>, StoreError> {
        self.read(self.engine().pod_find_by_name(name)).await
    }

    pub async fn pod_find_by_key(&self, key: PodKey) -> Result<Option<PodRow>, StoreError> {
        self.read(self.engine().pod_find_by_key(key)).await
    }

    /// Pods in the order in which they were made, after one of them or from the first on.
    pub async fn pods_page(&self, after: Option<PodKey>, limit: u32) -> Result<Vec<PodRow>, StoreError> {
        self.read(self.engine().pods_page(after.unwrap_or(PodKey(0)), limit)).await
    }

    /// As [`Store::pods_page`], of one group alone; the others cost nothing.
    pub async fn pods_page_of(
        &self,
        group: PodGroup,
        after: Option<PodKey>,
        limit: u32,
    ) -> Result<Vec<PodRow>, StoreError> {
        self.read(self.engine().pods_page_of(group, after.unwrap_or(PodKey(0)), limit)).await
    }

    /// How many Pods are not stopped. More than `limit` are not counted.
    pub async fn pods_living_count(&self, limit: u64) -> Result<u64, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        Ok(self.read(self.engine().pods_living_count(limit)).await?.unsigned_abs())
    }

    /// The names of all Pods, in no order.
    pub async fn pod_names(&self) -> Result<Vec<PodName>, StoreError> {
        let names = self.read(self.engine().pod_names()).await?;
        names.lines().map(|name| PodName::parse(name).map_err(columns::damaged("Pod name"))).collect()
    }

    /// Those a restart must look at: a run was open, an input waits, or there is mail for one that is not stopped.
    /// Costs nothing for all the others.
    pub async fn pods_open(&self) -> Result<Vec<PodRow>, StoreError> {
        self.read(self.engine().pods_open()).await
    }

    /// The Pods that a Pod spawned and that are still there, oldest first.
    pub async fn children(&self, parent: PodKey) -> Result<Vec<ChildRow>, StoreError> {
        self.read(self.engine().children(parent)).await
    }

    /// A Pod as somebody's child; `None` for one that nobody leads, or that is not there.
    pub async fn child(&self, child: PodKey) -> Result<Option<ChildRow>, StoreError> {
        self.read(self.engine().child(child)).await
    }

    /// Records after a position, ascending: at most `max_records` and `max_bytes`, but at least one if there is any.
    pub async fn records_after(
        &self,
        pod: PodKey,
        after: Seq,
        max_records: u32,
        max_bytes: usize,
    ) -> Result<Vec<StoredRecord>, StoreError> {
        let records = self.read(self.engine().records_after(pod, after, max_records, max_bytes)).await?;
        Ok(self.mended(pod, records).await)
    }

    /// The newest records before a position, or of the whole journal; ascending.
    pub async fn records_before(
        &self,
        pod: PodKey,
        before: Option<Seq>,
        portion: Portion,
    ) -> Result<Vec<FoundRecord>, StoreError> {
        let before = before.unwrap_or(Seq(i64::MAX));
        let mut found = Vec::new();
        for (seq, record) in self.read(self.engine().records_before(pod, before, portion)).await? {
            // A large one is looked at when it is read.
            let body = match record {
                Some(record) => Some(self.mended_one(pod, record).await.body),
                None => None,
            };
            found.push(FoundRecord { seq, body });
        }
        Ok(found)
    }

    /// One record, whole.
    pub async fn record(&self, pod: PodKey, seq: Seq) -> Result<Option<StoredRecord>, StoreError> {
        let found = self.records_after(pod, Seq(seq.0 - 1), 1, 0).await?;
        Ok(found.into_iter().next().filter(|record| record.seq == seq))
    }

    /// Everything that can reach the model, from a position on; ascending.
    pub async fn turn_records(&self, pod: PodKey, from: Seq) -> Result<Vec<StoredRecord>, StoreError> {
        let records = self.read(self.engine().turn_records(pod, from)).await?;
        Ok(self.mended(pod, records).await)
    }

    /// The same before a position, newest first: at most `max_records` and `max_bytes`, but at least one if there is any.
    pub async fn turn_records_back(
        &self,
        pod: PodKey,
        before: Seq,
        max_records: u32,
        max_bytes: usize,
    ) -> Result<Vec<StoredRecord>, StoreError> {
        if let Some(faults) = self.faults() {
            faults.before_turns(before).await;
        }
        let records = self.read(self.engine().turn_records_back(pod, before, max_records, max_bytes)).await?;
        Ok(self.mended(pod, records).await)
    }

    /// All questions to people and their answers, ascending.
    pub async fn question_records(&self, pod: PodKey) -> Result<Vec<StoredRecord>, StoreError> {
        let records = self.read(self.engine().question_records(pod)).await?;
        Ok(self.mended(pod, records).await)
    }

    /// Position of the newest record; 0 for an empty journal.
    pub async fn head(&self, pod: PodKey) -> Result<Seq, StoreError> {
        self.read(self.engine().head(pod)).await?.ok_or(StoreError::PodGone)
    }

    /// Accepted inputs that have not begun, oldest first.
    pub async fn inbox(&self, pod: PodKey) -> Result<Vec<InboxRow>, StoreError> {
        self.read(self.engine().inbox(pod)).await
    }

    /// What the Pod is to be told and its journal does not hold yet, oldest first.
    pub async fn mail(&self, pod: PodKey) -> Result<Vec<MailRow>, StoreError> {
        self.read(self.engine().mail(pod)).await
    }

    pub async fn command_find(&self, id: &CommandId) -> Result<Option<CommandRow>, StoreError> {
        self.read(self.engine().command_find(id)).await
    }

    /// Audit entries with their numbers, newest first; `after` is the number the page before ended with.
    pub async fn audit_page(&self, after: Option<i64>, limit: u32) -> Result<Vec<(i64, AuditEntry)>, StoreError> {
        self.audit_find(&AuditFilter::default(), after, limit).await
    }

    /// As [`Store::audit_page`], those alone that the filter lets through.
    pub async fn audit_find(
        &self,
        filter: &AuditFilter,
        after: Option<i64>,
        limit: u32,
    ) -> Result<Vec<(i64, AuditEntry)>, StoreError> {
        self.read(self.engine().audit_page(filter, after.unwrap_or(i64::MAX), limit)).await
    }

    /// Puts a readable record in the place of each damaged one, so that one bad row harms nothing else.
    pub(crate) async fn mended(&self, pod: PodKey, found: Vec<RawRecord>) -> Vec<StoredRecord> {
        let mut records = Vec::with_capacity(found.len());
        for record in found {
            records.push(self.mended_one(pod, record).await);
        }
        records
    }

    async fn mended_one(&self, pod: PodKey, record: RawRecord) -> StoredRecord {
        match record.damage(pod) {
            None => record.into(),
            Some(damage) => {
                let found_at = self.set_aside(pod, record.seq, damage).await;
                record.stand_in(damage, found_at)
            }
        }
    }

    /// Keeps a copy of a damaged row, which itself stays as it is. Gives the time at which it was first found.
    pub(crate) async fn set_aside(&self, pod: PodKey, seq: Seq, damage: Damage) -> Timestamp {
        let found_at = Timestamp::now();
        match self.read(self.engine().quarantined_at(pod, seq)).await {
            Ok(Some(at)) => at,
            Err(_) => found_at,
            Ok(None) => {
                let reason = damage.reason();
                self.tell_damaged(pod, seq, reason);
                // A store that cannot write any more still reads.
                match self.chore(Chore::Quarantine { pod, seq, found_at, reason }).await {
                    Ok(()) => self.count_damaged().await,
                    Err(error) => {
                        tracing::warn!(pod = pod.0, seq = seq.0, %error, "the damaged record could not be copied");
                    }
                }
                found_at
            }
        }
    }
}
