//! What the backend needs of a runtime, wherever it is.

use std::{fmt, time::Duration};

use async_trait::async_trait;
use jiff::Timestamp;
use protocol::{
    ApiError, Candidate, ErrorCode, Listing, OpenApproval, PodDetail, PodName, PodRef, PodSummary, RuntimeView, Target,
    WorkerId,
    operations::{Answer, Command, Pod, Pods, Query, ToQuery},
};
use runtime::{CommandKey, Export, Observation, Origin, PodQuery, PodsObservation, RecordForm, RecordPage};

/// Another runtime has this long to answer.
pub(crate) const WAIT_MAX: Duration = Duration::from_secs(5);

/// One runtime: the one inside this process, or one that is reached over a wire.
///
/// It carries out commands and reads queries, and says in these two what it cannot do. All else of it is what is known of it
/// without asking, and journals, which are not read as one value.
///
/// In the runtime inside this process each command writes its own audit row when it is carried out, in the transaction that
/// carries it out. For the others [`crate::Backend`] writes it when the command has been answered.
#[async_trait]
pub trait RuntimePort: Send + Sync + fmt::Debug {
    fn view(&self, since: Timestamp) -> RuntimeView;

    /// Carries a command out. Both Pods of one that is about two live in this runtime.
    async fn carry_out(&self, key: CommandKey, origin: &Origin, command: Command) -> Result<Answer, ApiError>;

    /// Reads a query, of this runtime alone. Lists are not cut into pages but those that have cursors of their own; the
    /// cursors of the list of Pods begin with the runtime's own id and a dot. An address in a query is in our terms.
    async fn read(&self, query: Query) -> Result<Answer, ApiError>;

    async fn pod_named(&self, name: &PodName) -> Result<Option<PodRef>, ApiError>;
    /// As [`RuntimePort::pod_named`], as far as it is known without asking anybody.
    async fn pod_known(&self, name: &PodName) -> Result<Option<PodRef>, ApiError> {
        self.pod_named(name).await
    }
    /// A Pod as it was told of last, without asking anybody; also while its runtime does not answer.
    fn pod_seen(&self, _worker_id: &WorkerId) -> Option<PodSummary> {
        None
    }
    /// Pods that are called nearly so, the nearest first, of those that are known without asking anybody.
    fn near_names(&self, _name: &PodName) -> Vec<Candidate> {
        Vec::new()
    }

    /// Whether it is of any use to send a command there now. One that is refused here was not sent.
    async fn ready(&self) -> Result<(), ApiError> {
        Ok(())
    }

    /// The open questions of every Pod, oldest first.
    async fn open_approvals(&self) -> Result<Vec<OpenApproval>, ApiError> {
        Ok(Vec::new())
    }

    /// The newest records, or those before a seq: at most `limit` of them and about [`protocol::PAGE_BYTES_MAX`], but one if there
    /// is any.
    async fn transcript(
        &self,
        worker_id: &WorkerId,
        before: Option<&str>,
        limit: u32,
        form: RecordForm,
    ) -> Result<RecordPage, ApiError>;
    /// The whole journal, a page at a time.
    async fn export(&self, worker_id: &WorkerId) -> Result<Export, ApiError>;

    async fn observe(&self, worker_id: &WorkerId, after: Option<String>, tail: u32) -> Observation;
    /// The whole list at once, as far as it is known, then its changes.
    fn observe_pods(&self) -> PodsObservation;
}

impl dyn RuntimePort {
    /// As [`RuntimePort::read`], with the answer that this query has.
    pub async fn ask<Q: ToQuery>(&self, query: Q) -> Result<Q::Answer, ApiError> {
        answer_of(self.read(query.into()).await?)
    }

    pub async fn pod(&self, pod: &PodRef) -> Result<PodDetail, ApiError> {
        self.ask(Pod { pod: pod.clone() }).await
    }
}

/// The answer that an operation has, of one that a port gave.
pub(crate) fn answer_of<T: TryFrom<Answer>>(answer: Answer) -> Result<T, ApiError> {
    T::try_from(answer)
        .map_err(|_| ApiError::new(ErrorCode::Internal, "a runtime answered something else than was asked"))
}

/// The Pod that a command of two is about beside the first one: it was found before.
pub fn second(target: &str) -> Result<WorkerId, ApiError> {
    match target.parse() {
        Ok(Target::Ref(pod)) => Ok(pod.worker_id),
        _ => Err(ApiError::invalid(format!("\"{target}\" is not the address of a Pod"))),
    }
}

/// The Pods that a query selects, as the host's own list knows them.
pub fn pod_query(Pods { name, state, q, after, limit }: Pods) -> PodQuery {
    PodQuery { name: name.0, state: state.0, q: q.0, after: after.0, limit: Some(limit.0) }
}

/// All of a list, as one page.
pub fn whole<T>(items: Vec<T>) -> Listing<T> {
    Listing { items, next: None }
}
