//! Pods that know each other: introductions, requests, and what Pods write to each other.
//!
//! People name a Pod as they like; from here on it has an address. Two of different runtimes are brought together by
//! `link`.

use protocol::{
    ApiError, CommandId, ExchangeMessage, HeldCommand, Listing, MessageAnswer, MessageCommand, PeerAnswer, PeerCommand,
    PeerView, PodRef, RequestCommand,
};
use runtime::{CommandKey, Introduced, Origin};
use serde::de::DeserializeOwned;

use crate::{Backend, command_key};

/// So much of what a person wrote goes into the audit when no Pod is meant by it. An address is at most 97 long.
const TARGET_CHARS_MAX: usize = 100;

impl Backend {
    /// Introduces a Pod to another one: at once, or as a request where the other one's policy is to ask.
    pub async fn introduce(
        &self,
        origin: &Origin,
        id: CommandId,
        pod: &PodRef,
        command: PeerCommand,
    ) -> Result<Introduced, ApiError> {
        let key = command_key(id, "peer", Some(pod), &command);
        let target = pair(pod, &command.target);
        let done = async {
            let port = self.port(&pod.runtime_id)?;
            match self.meant(&command.target, &key).await? {
                Meant::Pod(peer) if peer.runtime_id == pod.runtime_id => {
                    let work = port.introduce(key.clone(), origin, &pod.worker_id, &peer.worker_id, command.note);
                    self.once(&pod.runtime_id, &key, work).await
                }
                Meant::Pod(peer) => self.introduce_across(key, origin, pod, &peer, command.note).await,
                Meant::Repeated(introduced) => Ok(introduced),
            }
        };
        let done = done.await;
        self.audited(origin, "peer", &pod.runtime_id, target, None, done).await
    }

    /// Ends what two Pods are to each other: a link, or a request that waits. What is not there needs no end.
    pub async fn unlink(&self, origin: &Origin, id: CommandId, pod: &PodRef, peer: &PodRef) -> Result<(), ApiError> {
        let key = command_key(id, "unpeer", Some(pod), peer);
        let work = async { self.port(&pod.runtime_id)?.unlink(key.clone(), origin, &pod.worker_id, peer).await };
        self.carry_out(origin, "unpeer", &key, (&pod.runtime_id, pair(pod, peer)), work).await
    }

    /// Whom a Pod knows, and the requests between it and others.
    pub async fn peers(&self, pod: &PodRef) -> Result<Listing<PeerView>, ApiError> {
        let items = self.port(&pod.runtime_id)?.peers(&pod.worker_id).await?;
        Ok(Listing { items, next: None })
    }

    /// Accepts or declines a request that was made to this Pod; of two answers the first counts.
    pub async fn decide_request(
        &self,
        origin: &Origin,
        id: CommandId,
        pod: &PodRef,
        request_id: &str,
        command: RequestCommand,
    ) -> Result<PeerAnswer, ApiError> {
        let key = command_key(id, "peer_decide", Some(pod), &(request_id, &command));
        let work = async {
            let port = self.port(&pod.runtime_id)?;
            port.decide_request(key.clone(), origin, &pod.worker_id, request_id, command.decision).await
        };
        self.carry_out(origin, "peer_decide", &key, (&pod.runtime_id, pair(pod, request_id)), work).await
    }

    /// A message from a Pod to its peer, by a person.
    pub async fn send_message(
        &self,
        origin: &Origin,
        id: CommandId,
        pod: &PodRef,
        command: MessageCommand,
    ) -> Result<MessageAnswer, ApiError> {
        let key = command_key(id, "message", Some(pod), &command);
        let target = pair(pod, &command.to);
        let done = async {
            let port = self.port(&pod.runtime_id)?;
            if let Some(peer) = self.far_peer(pod, &command.to).await? {
                return self.send_across(key, origin, pod, &peer, command.text).await;
            }
            match self.meant(&command.to, &key).await? {
                Meant::Pod(peer) if peer.runtime_id == pod.runtime_id => {
                    let work = port.send_message(key.clone(), origin, &pod.worker_id, &peer.worker_id, &command.text);
                    self.once(&pod.runtime_id, &key, work).await
                }
                Meant::Pod(peer) => self.send_across(key, origin, pod, &peer, command.text).await,
                Meant::Repeated(answer) => Ok(answer),
            }
        };
        let done = done.await;
        self.audited(origin, "message", &pod.runtime_id, target, None, done).await
    }

    /// Releases or drops a message that is held; on either side, and the first decision counts.
    pub async fn decide_held(
        &self,
        origin: &Origin,
        id: CommandId,
        pod: &PodRef,
        message_id: &str,
        command: HeldCommand,
    ) -> Result<MessageAnswer, ApiError> {
        let key = command_key(id, "message_decide", Some(pod), &(message_id, &command));
        let work = async {
            let port = self.port(&pod.runtime_id)?;
            port.decide_held(key.clone(), origin, &pod.worker_id, message_id, command.decision).await
        };
        self.carry_out(origin, "message_decide", &key, (&pod.runtime_id, pair(pod, message_id)), work).await
    }

    /// What two Pods wrote to each other, newest first; `before` is `next` of the page before.
    pub async fn exchange(
        &self,
        pod: &PodRef,
        peer: &PodRef,
        before: Option<&str>,
        limit: u32,
    ) -> Result<Listing<ExchangeMessage>, ApiError> {
        if pod.runtime_id != peer.runtime_id {
            return self.exchange_across(pod, peer, before, limit).await;
        }
        let port = self.port(&pod.runtime_id)?;
        port.exchange(&pod.worker_id, &peer.worker_id, before, limit).await
    }

    /// The Pod that a person means. A command that was carried out before keeps its answer, also when its target is
    /// gone or has another name by now.
    async fn meant<T: DeserializeOwned>(&self, target: &str, key: &CommandKey) -> Result<Meant<T>, ApiError> {
        match self.resolve(target).await {
            Ok(peer) => Ok(Meant::Pod(peer)),
            Err(error) => self.first_answer(key).await?.map(Meant::Repeated).ok_or(error),
        }
    }
}

/// What a target comes to.
enum Meant<T> {
    Pod(PodRef),
    /// The command was carried out before, with this answer.
    Repeated(T),
}

/// A Pod and what is done to it, as the audit names it.
fn pair(pod: &PodRef, other: &(impl ToString + ?Sized)) -> String {
    let other: String = other.to_string().chars().take(TARGET_CHARS_MAX).collect();
    format!("{pod} {other}")
}
