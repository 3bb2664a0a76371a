//! Commands on two Pods of which one is here and the other in another store.

use std::time::Duration;

use protocol::{
    ApiError, ErrorCode, ExchangeMessage, Listing, MessageCommand, PeerPolicy, PodName, PodRef, RuntimeId,
    RuntimeState, Target,
    operations::{Answer, SendMessage},
};
use runtime::{FarPod, Introduced};

use super::{super::Carrier, Links, names};
use crate::EntryKind;

/// How long to wait for the line to a server that answers.
const LINE_WAIT: Duration = Duration::from_secs(2);

impl Carrier<'_> {
    /// Makes the two peers. Returns within moments whether they are peers or the request is still pending.
    pub(in crate::door) async fn introduce_across(
        self,
        pod: &PodRef,
        peer: &PodRef,
        note: Option<String>,
    ) -> Result<Introduced, ApiError> {
        let (peers, key) = (self.backend.host.peers(), self.key.clone());
        if is_local(pod) {
            let target = self.backend.links().far_pod(peer).await?;
            return peers.introduce_far(key, self.origin, &pod.worker_id, target, note).await;
        }
        one_is_here(pod, peer)?;
        let own = self.backend.pod(peer).await?;
        let (worker_id, name) = (&peer.worker_id, &own.summary.name);
        let done = match own.peer_policy {
            // The proposal is made from here, whichever Pod was named first: the one that is here accepts it in any
            // case.
            PeerPolicy::Open => {
                let target = self.backend.links().far_pod(pod).await?;
                peers.introduce_far(key, self.origin, worker_id, target, note).await
            }
            PeerPolicy::Ask => {
                let source = self.backend.links().far_pod(pod).await?;
                self.check_open(pod, name).await?;
                peers.invite_far(key, self.origin, worker_id, source, note).await
            }
            PeerPolicy::Closed => {
                let sentence = format!("pod \"{name}\" accepts no peers; PATCH its peer_policy to change that");
                Err(ApiError::new(ErrorCode::PeerRefused, sentence))
            }
        };
        let Introduced { mut answer, stood } = done?;
        std::mem::swap(&mut answer.source, &mut answer.peer);
        Ok(Introduced { answer, stood })
    }

    /// Refuses if both Pods would have to be asked. If the other Pod's policy is not known now, its own server decides
    /// when it gets the request.
    async fn check_open(self, pod: &PodRef, other: &PodName) -> Result<(), ApiError> {
        match self.backend.pod(pod).await {
            Ok(detail) if detail.peer_policy != PeerPolicy::Open => {
                let sentence = format!(
                    "pod \"{}\" accepts peers only on request, and so does \"{other}\"; send it a peer request from \"{other}\" \
                     instead",
                    detail.summary.name
                );
                Err(ApiError::new(ErrorCode::PeerRefused, sentence))
            }
            _ => Ok(()),
        }
    }

    /// Sends a message from one to the other. If the sender is the one there, its own server sends it.
    pub(in crate::door) async fn send_across(self, send: SendMessage, peer: &PodRef) -> Result<Answer, ApiError> {
        let pod = &send.pod;
        if is_local(pod) {
            let (peers, key) = (self.backend.host.peers(), self.key.clone());
            return peers.send_far(key, self.origin, &pod.worker_id, peer, &send.body.text).await.map(Answer::from);
        }
        let entry = self.backend.registry.entry(&pod.runtime_id)?;
        let (Some(client), Some(terms)) = (entry.client, entry.terms) else {
            let sentence = format!("what a Pod of \"{}\" writes is sent by its own server", pod.runtime_id);
            return Err(ApiError::invalid(sentence));
        };
        let unknown = || {
            let sentence = format!("{peer} is not a peer of {pod}; make them peers first");
            ApiError::new(ErrorCode::NotVisible, sentence)
        };
        let there = terms.to_theirs(pod).ok_or_else(unknown)?;
        let to = terms.to_theirs(peer).ok_or_else(unknown)?.to_string();
        let theirs = SendMessage { pod: there, body: MessageCommand { to, text: send.body.text.clone() } };
        let work = async {
            client.carry_out(&self.key.id, &theirs).await.map(Answer::from).map_err(|error| match error {
                client::ClientError::Api(error) => terms.answer(error),
                _ => {
                    let sentence =
                        format!("the runtime \"{}\" does not answer; try again with the same key", pod.runtime_id);
                    ApiError::new(ErrorCode::RuntimeUnavailable, sentence)
                }
            })
        };
        self.once(&send.clone().into(), work).await
    }
}

impl Links<'_> {
    /// The peer in another runtime that a person means by a name or an address, whether its server answers or not.
    pub(in crate::door) async fn far_peer(self, pod: &PodRef, target: &str) -> Result<Option<PodRef>, ApiError> {
        let Ok(target) = target.parse::<Target>() else { return Ok(None) };
        if !is_local(pod) || matches!(&target, Target::Name { runtime_id: None, .. }) {
            return Ok(None);
        }
        let peers = self.backend.host.peers().of_pod(&pod.worker_id).await?;
        let is_meant = |peer: &PodRef, name: &protocol::PodName| match &target {
            Target::Ref(address) => peer == address,
            Target::Name { name: wanted, runtime_id } => {
                name == wanted && runtime_id.as_ref() == Some(&peer.runtime_id)
            }
        };
        let mut meant = peers.into_iter().filter(|view| !is_local(&view.pod) && is_meant(&view.pod, &view.name));
        Ok(meant.next().map(|view| view.pod))
    }

    /// The messages between the two, as the one that is here has them.
    pub(in crate::door) async fn messages(
        self,
        pod: &PodRef,
        peer: &PodRef,
        before: Option<&str>,
        limit: u32,
    ) -> Result<Listing<ExchangeMessage>, ApiError> {
        if !is_local(pod) {
            self.backend.port(&pod.runtime_id)?;
        }
        one_is_here(pod, peer)?;
        match is_local(pod) {
            true => self.backend.host.peers().exchange_far(&pod.worker_id, peer, before, limit).await,
            false => self.backend.host.peers().exchange_far(&peer.worker_id, pod, before, limit).await,
        }
    }

    /// A Pod of another store, as far as it is known here.
    async fn far_pod(self, pod: &PodRef) -> Result<FarPod, ApiError> {
        let entry = self.backend.registry.entry(&pod.runtime_id)?;
        if entry.kind == EntryKind::Compat {
            return Err(ApiError::invalid("older Pods know only Pods of their own runtime"));
        }
        let Some(store) = entry.store_id else {
            let sentence = format!("the runtime \"{}\" has not answered yet; try again", pod.runtime_id);
            return Err(ApiError::new(ErrorCode::RuntimeUnavailable, sentence));
        };
        // While its server is away, its last known state will do: the request waits for the server, as messages do.
        let summary = match self.backend.pod(pod).await {
            Err(error) if error.code == ErrorCode::RuntimeUnavailable => {
                entry.port.pod_seen(&pod.worker_id).ok_or(error)?
            }
            found => found?.summary,
        };
        // Right after a server was added its line is still coming up; waiting a moment lets the answer be final.
        let mut lines = self.backend.lines.watch();
        let is_up = async { while !self.backend.lines.state(&store).0 && lines.changed().await.is_ok() {} };
        if entry.port.view(self.backend.since).state == RuntimeState::Live {
            let _ = tokio::time::timeout(LINE_WAIT, is_up).await;
            names::tell(self.backend);
        }
        let card = runtime::link_card(summary);
        Ok(FarPod { store: store.clone(), card })
    }
}

fn is_local(pod: &PodRef) -> bool {
    pod.runtime_id == RuntimeId::local()
}

fn one_is_here(pod: &PodRef, peer: &PodRef) -> Result<(), ApiError> {
    match is_local(pod) || is_local(peer) {
        true => Ok(()),
        false => Err(ApiError::invalid(format!(
            "neither of the two lives here ({} and {}); ask the server of one of them",
            pod.runtime_id, peer.runtime_id
        ))),
    }
}
