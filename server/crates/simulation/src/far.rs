//! Servers that know each other. What is said over the line between two of them, and when, is the product's; only the way
//! there is the simulated network.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use backend::{
    Backend, Entry, EntryKind, Export, LinkFailure, LinkWay, Observation, Origin, PodsObservation, RecordForm,
    RecordPage, RuntimePort, Terms, whole,
};
use futures_util::{StreamExt, stream};
use hyper::Method;
use protocol::{
    ApiError, ErrorCode, LinkAnswer, LinkExchange, PodDetail, PodName, PodRef, PodSummary, RuntimeId, RuntimeKind,
    RuntimeState, RuntimeView, Timestamp, WorkerId,
    operations::{Answer, Command, Query},
};
use runtime::CommandKey;
use serde_json::json;

use crate::http::{ANSWER_MAX, Call};

/// How long to wait before a server that did not answer is asked again which one it is.
const LOOK_AGAIN: Duration = Duration::from_millis(700);

/// The stores of the servers that one server has added, as far as they are known: what the product keeps in a file.
pub(crate) type Kept = Arc<Mutex<BTreeMap<String, String>>>;

/// Another server, as the one that has added it reaches it.
#[derive(Debug)]
struct Far {
    server: String,
    runtime_id: RuntimeId,
    terms: Arc<Terms>,
}

/// Adds the other servers to this one.
///
/// # Errors
/// The name of one is no name of a server.
pub(crate) fn add(backend: &Backend, others: &[String], kept: &Kept) -> Result<(), String> {
    for server in others {
        let runtime_id = RuntimeId::parse(server).map_err(|error| error.to_string())?;
        let terms = Arc::new(Terms::new(runtime_id.clone()));
        let far = Arc::new(Far { server: server.clone(), runtime_id: runtime_id.clone(), terms: terms.clone() });
        let store_id = kept.lock().unwrap_or_else(PoisonError::into_inner).get(server).cloned();
        let is_known = store_id.is_some();
        let entry = Entry {
            store_id,
            terms: Some(terms),
            link: Some(far.clone()),
            ..Entry::new(EntryKind::Remote, far.clone())
        };
        backend.registry().insert(runtime_id, entry).map_err(|error| error.detail)?;
        if !is_known {
            tokio::spawn(look(backend.clone(), far, kept.clone()));
        }
    }
    Ok(())
}

/// Asks a server which one it is, until it answers.
async fn look(backend: Backend, far: Arc<Far>, kept: Kept) {
    loop {
        if let Some((200, about)) = Call::get("/api/v1/about").ask(&far.server).await
            && let Some(store_id) = about["store_id"].as_str()
        {
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.insert(far.server.clone(), store_id.to_owned());
            return backend.registry().set_store(&far.runtime_id, store_id);
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

#[async_trait]
impl LinkWay for Far {
    async fn exchange(&self, exchange: LinkExchange) -> Result<LinkAnswer, LinkFailure> {
        let call = Call {
            method: Method::POST,
            body: Some(json!(exchange)),
            patience: ANSWER_MAX + Duration::from_millis(exchange.wait_ms),
            ..Call::get("/api/v1/link")
        };
        let away = |why: String| LinkFailure::Away(why);
        match call.ask(&self.server).await {
            Some((200, answer)) => serde_json::from_value(answer).map_err(|error| away(error.to_string())),
            Some((400..=499, refusal)) => Err(LinkFailure::Refused(ApiError::invalid(refusal.to_string()))),
            Some((status, _)) => Err(away(format!("it answers {status}"))),
            None => Err(away("it does not answer".to_owned())),
        }
    }
}

impl Far {
    fn unavailable(&self) -> ApiError {
        let sentence = format!("the runtime \"{}\" does not answer", self.runtime_id);
        ApiError::new(ErrorCode::RuntimeUnavailable, sentence)
    }
}

/// Of Pods of the other server, one can be read: what a person who makes it a peer names. For everything else the people
/// ask the Pod's own server.
#[async_trait]
impl RuntimePort for Far {
    fn view(&self, since: Timestamp) -> RuntimeView {
        let runtime_id = self.runtime_id.clone();
        RuntimeView { runtime_id, kind: RuntimeKind::Remote, state: RuntimeState::Live, since, detail: None }
    }

    async fn carry_out(&self, _: CommandKey, _: &Origin, _: Command) -> Result<Answer, ApiError> {
        Err(self.unavailable())
    }

    async fn read(&self, query: Query) -> Result<Answer, ApiError> {
        match query {
            Query::Pods(_) => Ok(whole::<PodSummary>(Vec::new()).into()),
            Query::Pod(query) => {
                let path = format!("/api/v1/runtimes/local/workers/{}", query.pod.worker_id);
                let Some((200, detail)) = Call::get(path).ask(&self.server).await else {
                    return Err(self.unavailable());
                };
                let detail: PodDetail = serde_json::from_value(detail).map_err(|_| self.unavailable())?;
                Ok(self.terms.answer(detail).into())
            }
            _ => Err(self.unavailable()),
        }
    }

    async fn pod_named(&self, _: &PodName) -> Result<Option<PodRef>, ApiError> {
        Ok(None)
    }

    async fn transcript(&self, _: &WorkerId, _: Option<&str>, _: u32, _: RecordForm) -> Result<RecordPage, ApiError> {
        Err(self.unavailable())
    }

    async fn export(&self, _: &WorkerId) -> Result<Export, ApiError> {
        Err(self.unavailable())
    }

    async fn observe(&self, _: &WorkerId, _: Option<String>, _: u32) -> Observation {
        stream::pending().boxed()
    }

    fn observe_pods(&self) -> PodsObservation {
        stream::pending().boxed()
    }
}
