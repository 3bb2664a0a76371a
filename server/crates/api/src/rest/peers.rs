//! Pods that know each other: introductions, requests, messages between them.

use axum::{Json, extract::State, http::StatusCode};
use protocol::{
    ExchangeMessage, HeldCommand, Listing, MessageAnswer, MessageCommand, OpenRequest, PeerAnswer, PeerCommand,
    PeerLink, PeerView, PodRef, RequestCommand, RuntimeId, WorkerId,
};
use serde::Deserialize;

use crate::{
    Api,
    answer::Problem,
    extract::{Asked, Caller, Fields, Key, PodPath, Within, cursor, invalid, limit},
    rest::paging::PageAsked,
};

const MESSAGES_DEFAULT: u32 = 100;
const MESSAGES_MAX: u32 = 1_000;

/// The other Pod of the path.
#[derive(Debug, Deserialize)]
pub(crate) struct PeerNamed {
    peer_runtime_id: String,
    peer_worker_id: String,
}

impl PeerNamed {
    fn peer(&self) -> Result<PodRef, Problem> {
        let runtime_id = RuntimeId::parse(&self.peer_runtime_id).map_err(invalid)?;
        let worker_id = WorkerId::parse(&self.peer_worker_id).map_err(invalid)?;
        Ok(PodRef::new(runtime_id, worker_id))
    }
}

/// Whom a Pod knows, then the requests between it and others.
#[utoipa::path(get, path = "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/peers", tag = "peers",
    params(("runtime_id" = String, Path), ("worker_id" = String, Path), PageAsked),
    responses((status = 200, description = "The peers", body = Listing<PeerView>)))]
pub(crate) async fn peers(
    State(api): State<Api>,
    _: Caller,
    PodPath(pod): PodPath,
    Asked(page): Asked<PageAsked>,
) -> Result<Json<Listing<PeerView>>, Problem> {
    Ok(Json(page.of(api.backend().peers(&pod).await?.items, |peer| peer.pod.to_string())?))
}

/// Introduces the Pod to another one. Both then see each other and can write to each other; nothing else changes, and
/// neither conversation is touched.
#[utoipa::path(post, path = "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/peers", tag = "peers",
    request_body = PeerCommand,
    params(("runtime_id" = String, Path), ("worker_id" = String, Path),
        ("Idempotency-Key" = Option<String>, Header, description = "The command's id; made when absent")),
    responses((status = 201, description = "They are peers now", body = PeerAnswer),
        (status = 200, description = "They knew each other before; or, to a repeated key: the other side declined, or did not answer in time", body = PeerAnswer),
        (status = 202, description = "The other side has to accept", body = PeerAnswer)))]
pub(crate) async fn introduce(
    State(api): State<Api>,
    Caller(origin): Caller,
    PodPath(pod): PodPath,
    Key(key): Key,
    Fields(command): Fields<PeerCommand>,
) -> Result<(StatusCode, Json<PeerAnswer>), Problem> {
    let introduced = api.backend().introduce(&origin, key, &pod, command).await?;
    let status = match (introduced.answer.state, introduced.stood) {
        (PeerLink::Pending, _) => StatusCode::ACCEPTED,
        (PeerLink::Declined | PeerLink::Expired, _) | (_, true) => StatusCode::OK,
        (_, false) => StatusCode::CREATED,
    };
    Ok((status, Json(introduced.answer)))
}

/// Ends what the two are to each other, on both sides: a link, or a request that waits.
#[utoipa::path(delete, tag = "peers",
    path = "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/peers/{peer_runtime_id}/{peer_worker_id}",
    params(("runtime_id" = String, Path), ("worker_id" = String, Path),
        ("peer_runtime_id" = String, Path), ("peer_worker_id" = String, Path),
        ("Idempotency-Key" = Option<String>, Header, description = "The command's id; made when absent")),
    responses((status = 204, description = "They are not peers, whether they were or not")))]
pub(crate) async fn unlink(
    State(api): State<Api>,
    Caller(origin): Caller,
    PodPath(pod): PodPath,
    Within(named): Within<PeerNamed>,
    Key(key): Key,
) -> Result<StatusCode, Problem> {
    api.backend().unlink(&origin, key, &pod, &named.peer()?).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct RequestsAsked {
    /// Those of one runtime alone; of all when absent.
    runtime: Option<String>,
}

/// Every request that waits for an answer, oldest first.
#[utoipa::path(get, path = "/api/v1/requests", tag = "peers", params(RequestsAsked, PageAsked),
    responses((status = 200, description = "The requests of all Pods", body = Listing<OpenRequest>)))]
pub(crate) async fn open_requests(
    State(api): State<Api>,
    _: Caller,
    Asked(asked): Asked<RequestsAsked>,
    Asked(page): Asked<PageAsked>,
) -> Result<Json<Listing<OpenRequest>>, Problem> {
    let requests = match super::lists::runtime(asked.runtime)? {
        None => api.backend().open_requests().await?,
        Some(runtime) => api.backend().open_requests_of(&runtime).await?,
    };
    Ok(Json(page.of(requests.items, |request| request.request_id.clone())?))
}

#[derive(Debug, Deserialize)]
pub(crate) struct RequestNamed {
    request_id: String,
}

/// Answers a request that was made to this Pod; the first answer counts.
#[utoipa::path(post, path = "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/peers/requests/{request_id}",
    tag = "peers", request_body = RequestCommand,
    params(("runtime_id" = String, Path), ("worker_id" = String, Path), ("request_id" = String, Path),
        ("Idempotency-Key" = Option<String>, Header, description = "The command's id; made when absent")),
    responses((status = 200, description = "What the two are to each other now", body = PeerAnswer)))]
pub(crate) async fn decide_request(
    State(api): State<Api>,
    Caller(origin): Caller,
    PodPath(pod): PodPath,
    Within(request): Within<RequestNamed>,
    Key(key): Key,
    Fields(command): Fields<RequestCommand>,
) -> Result<Json<PeerAnswer>, Problem> {
    Ok(Json(api.backend().decide_request(&origin, key, &pod, &request.request_id, command).await?))
}

/// Sends a message from this Pod to a peer, by a person. It is then on the disk at the receiver, or held.
#[utoipa::path(post, path = "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/messages", tag = "peers",
    request_body = MessageCommand,
    params(("runtime_id" = String, Path), ("worker_id" = String, Path),
        ("Idempotency-Key" = Option<String>, Header, description = "The command's id; made when absent")),
    responses((status = 202, description = "It is on the disk", body = MessageAnswer)))]
pub(crate) async fn send(
    State(api): State<Api>,
    Caller(origin): Caller,
    PodPath(pod): PodPath,
    Key(key): Key,
    Fields(command): Fields<MessageCommand>,
) -> Result<(StatusCode, Json<MessageAnswer>), Problem> {
    let answer = api.backend().send_message(&origin, key, &pod, command).await?;
    Ok((StatusCode::ACCEPTED, Json(answer)))
}

#[derive(Debug, Deserialize)]
pub(crate) struct MessageNamed {
    message_id: String,
}

/// Releases or drops a message that is held, on either side; the first decision counts.
#[utoipa::path(post, path = "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/messages/{message_id}", tag = "peers",
    request_body = HeldCommand,
    params(("runtime_id" = String, Path), ("worker_id" = String, Path), ("message_id" = String, Path),
        ("Idempotency-Key" = Option<String>, Header, description = "The command's id; made when absent")),
    responses((status = 200, description = "Where the message is now", body = MessageAnswer)))]
pub(crate) async fn decide_held(
    State(api): State<Api>,
    Caller(origin): Caller,
    PodPath(pod): PodPath,
    Within(message): Within<MessageNamed>,
    Key(key): Key,
    Fields(command): Fields<HeldCommand>,
) -> Result<Json<MessageAnswer>, Problem> {
    Ok(Json(api.backend().decide_held(&origin, key, &pod, &message.message_id, command).await?))
}

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ExchangeAsked {
    /// Only what is older: `next` of the page before.
    before: Option<String>,
    /// At most so many; 100 when absent, never more than 1,000.
    #[param(value_type = Option<u32>, minimum = 1)]
    limit: Option<String>,
}

/// What two Pods wrote to each other, newest first, with where each message is.
#[utoipa::path(get, operation_id = "peer_messages", tag = "peers",
    path = "/api/v1/runtimes/{runtime_id}/workers/{worker_id}/peers/{peer_runtime_id}/{peer_worker_id}/messages",
    params(("runtime_id" = String, Path), ("worker_id" = String, Path),
        ("peer_runtime_id" = String, Path), ("peer_worker_id" = String, Path), ExchangeAsked),
    responses((status = 200, description = "One page", body = Listing<ExchangeMessage>)))]
pub(crate) async fn exchange(
    State(api): State<Api>,
    _: Caller,
    PodPath(pod): PodPath,
    Within(named): Within<PeerNamed>,
    Asked(asked): Asked<ExchangeAsked>,
) -> Result<Json<Listing<ExchangeMessage>>, Problem> {
    let limit = limit(asked.limit.as_deref(), MESSAGES_DEFAULT, MESSAGES_MAX)?;
    let before = cursor(asked.before);
    Ok(Json(api.backend().exchange(&pod, &named.peer()?, before.as_deref(), limit).await?))
}
