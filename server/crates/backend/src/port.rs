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

/// How long another runtime has to answer.
pub(crate) const WAIT_MAX: Duration = Duration::from_secs(5);

/// One runtime: the one inside this process, or one that is reached over the network.
///
/// It carries out commands and reads queries; those two methods also report what it cannot do. The other methods return
/// what is known without asking, and journals, which are not read as one value.
///
/// The runtime inside this process writes a command's audit row in the transaction that carries it out. For the others,
/// [`crate::Backend`] writes it when the command has been answered.
#[async_trait]
pub trait RuntimePort: Send + Sync + fmt::Debug {
    fn view(&self, since: Timestamp) -> RuntimeView;

    /// Carries out a command. If it concerns two Pods, both live in this runtime.
    async fn carry_out(&self, key: CommandKey, origin: &Origin, command: Command) -> Result<Answer, ApiError>;

    /// Reads a query about this runtime alone. Only lists that have cursors of their own are cut into pages; the
    /// cursors of the list of Pods begin with the runtime's own id and a dot. Addresses in a query are in our terms.
    async fn read(&self, query: Query) -> Result<Answer, ApiError>;

    async fn pod_named(&self, name: &PodName) -> Result<Option<PodRef>, ApiError>;
    /// Like [`RuntimePort::pod_named`], using only what is known without asking.
    async fn pod_known(&self, name: &PodName) -> Result<Option<PodRef>, ApiError> {
        self.pod_named(name).await
    }
    /// A Pod as last seen, without asking, even while its runtime does not answer.
    fn pod_seen(&self, _worker_id: &WorkerId) -> Option<PodSummary> {
        None
    }
    /// Pods with similar names, nearest first, using only what is known without asking.
    fn near_names(&self, _name: &PodName) -> Vec<Candidate> {
        Vec::new()
    }

    /// Whether it makes sense to send a command there now. A command refused here was not sent.
    async fn ready(&self) -> Result<(), ApiError> {
        Ok(())
    }

    /// The open approvals of all Pods, oldest first.
    async fn open_approvals(&self) -> Result<Vec<OpenApproval>, ApiError> {
        Ok(Vec::new())
    }

    /// The newest records, or those before a seq: at most `limit` of them and about [`protocol::PAGE_BYTES_MAX`] bytes,
    /// but at least one if there is any.
    async fn transcript(
        &self,
        worker_id: &WorkerId,
        before: Option<&str>,
        limit: u32,
        form: RecordForm,
    ) -> Result<RecordPage, ApiError>;
    /// The whole journal, one page at a time.
    async fn export(&self, worker_id: &WorkerId) -> Result<Export, ApiError>;

    async fn observe(&self, worker_id: &WorkerId, after: Option<String>, tail: u32) -> Observation;
    /// The whole list at once, as far as it is known, then its changes.
    fn observe_pods(&self) -> PodsObservation;
}

impl dyn RuntimePort {
    /// Like [`RuntimePort::read`], with the answer type of this query.
    pub async fn ask<Q: ToQuery>(&self, query: Q) -> Result<Q::Answer, ApiError> {
        answer_of(self.read(query.into()).await?)
    }

    pub async fn pod(&self, pod: &PodRef) -> Result<PodDetail, ApiError> {
        self.ask(Pod { pod: pod.clone() }).await
    }
}

/// Converts a port's answer to the answer type of an operation.
pub(crate) fn answer_of<T: TryFrom<Answer>>(answer: Answer) -> Result<T, ApiError> {
    T::try_from(answer)
        .map_err(|_| ApiError::new(ErrorCode::Internal, "a runtime answered something else than was asked"))
}

/// The second Pod of a command on two Pods, which has been resolved before.
pub fn second(target: &str) -> Result<WorkerId, ApiError> {
    match target.parse() {
        Ok(Target::Ref(pod)) => Ok(pod.worker_id),
        _ => Err(ApiError::invalid(format!("\"{target}\" is not the address of a Pod"))),
    }
}

/// The host's own query for the Pods that a query selects.
pub fn pod_query(Pods { name, state, q, after, limit }: Pods) -> PodQuery {
    PodQuery { name: name.0, state: state.0, q: q.0, after: after.0, limit: Some(limit.0) }
}

/// A whole list as one page.
pub fn whole<T>(items: Vec<T>) -> Listing<T> {
    Listing { items, next: None }
}
