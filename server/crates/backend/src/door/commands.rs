//! Commands: each is carried out once for its key, by the runtime that its Pod lives in, and seen to in the audit.
//!
//! People name a Pod as they like; from here on it has an address. Two of different runtimes are brought together by `link`.

use protocol::{
    ApiError, AuditAbout, CommandId, ControlVerb, ErrorCode, PatchPod, PermissionRule, PodDetail, PodRef, Receipt,
    RuntimeId,
    operations::{Answer, AnswerApproval, Approvals, Command, Introduce, Patch, SendMessage, ToCommand},
};
use runtime::{CommandKey, Origin, about_answer, about_call};
use sha2::{Digest, Sha256};

use super::Backend;
use crate::port::answer_of;

impl Backend {
    /// Carries a command out, or gives its first answer.
    pub async fn carry_out<C: ToCommand>(
        &self,
        origin: &Origin,
        id: CommandId,
        command: C,
    ) -> Result<C::Answer, ApiError> {
        answer_of(Box::pin(self.command(origin, id, command.into())).await?)
    }

    /// As [`Backend::carry_out`], of a command that carries nothing but its name.
    pub async fn control(
        &self,
        origin: &Origin,
        id: CommandId,
        pod: PodRef,
        verb: ControlVerb,
    ) -> Result<Receipt, ApiError> {
        answer_of(Box::pin(self.command(origin, id, verb.of(pod))).await?)
    }

    /// As [`Backend::carry_out`], of any command.
    pub async fn command(&self, origin: &Origin, id: CommandId, command: Command) -> Result<Answer, ApiError> {
        if let Command::RunTool(run) = &command
            && !run.body.arguments.is_object()
        {
            return Err(ApiError::invalid("`arguments` is a JSON object of what the tool takes"));
        }
        let key = key_of(id, &command);
        match &command {
            Command::Introduce(introduce) => {
                let done = self.introduce(&key, origin, introduce.clone()).await;
                self.audited(origin, &command, None, done).await
            }
            Command::SendMessage(send) => {
                let done = self.send_message(&key, origin, send.clone()).await;
                self.audited(origin, &command, None, done).await
            }
            _ => self.carried(origin, &key, command).await,
        }
    }

    /// Takes one rule from a Pod. One that it has not is no error: it is gone.
    pub async fn forget_rule(
        &self,
        origin: &Origin,
        id: CommandId,
        pod: &PodRef,
        rule: &PermissionRule,
    ) -> Result<PodDetail, ApiError> {
        let mut permissions = self.pod(pod).await?.permissions;
        if let Some(at) = permissions.iter().position(|known| known == rule) {
            permissions.remove(at);
        }
        let body = PatchPod { permissions: Some(permissions), ..PatchPod::default() };
        self.carry_out(origin, id, Patch { pod: pod.clone(), body }).await
    }

    /// Carries a command out that is about one Pod. A repeat writes no row of the audit.
    async fn carried(&self, origin: &Origin, key: &CommandKey, command: Command) -> Result<Answer, ApiError> {
        let runtime_id = command.runtime_id();
        let first = match runtime_id == RuntimeId::local() {
            true => Ok(None),
            false => self.first_answer(key, &command).await,
        };
        let done = match first {
            Ok(Some(answer)) => return Ok(answer),
            Ok(None) => self.passed_on(key, origin, command.clone()).await,
            Err(error) => Err(error),
        };
        // Its Pod may be gone since, or by this very command, which came twice: a repeat is told what the first one was.
        let done = match done {
            Err(gone) if gone.code == ErrorCode::PodNotFound => match self.first_answer(key, &command).await {
                Ok(Some(answer)) => return Ok(answer),
                Err(reused) if reused.code == ErrorCode::KeyReused => Err(reused),
                Ok(None) | Err(_) => Err(gone),
            },
            done => done,
        };
        if let (Command::Delete(delete), Ok(_)) = (&command, &done) {
            self.previews().end(&delete.pod);
        }
        let about = self.about(&command, &done).await;
        self.audited(origin, &command, about, done).await
    }

    /// Has the command's runtime carry it out, once for its key.
    pub(super) async fn passed_on(
        &self,
        key: &CommandKey,
        origin: &Origin,
        command: Command,
    ) -> Result<Answer, ApiError> {
        let runtime_id = command.runtime_id();
        let work = async { self.port(&runtime_id)?.carry_out(key.clone(), origin, command.clone()).await };
        self.once(&runtime_id, key, &command, work).await
    }

    /// A command that the runtime in this process carried out is audited with it, in its own transaction, by the
    /// runtime; one that was not, or was carried out elsewhere, here.
    async fn audited(
        &self,
        origin: &Origin,
        command: &Command,
        about: Option<AuditAbout>,
        done: Result<Answer, ApiError>,
    ) -> Result<Answer, ApiError> {
        if done.is_ok() && command.runtime_id() == RuntimeId::local() {
            return done;
        }
        self.audit().ended(origin, command.action(), command.target(), about, &done).await;
        done
    }

    /// What a row of the audit is about that is written here, beyond its target.
    async fn about(&self, command: &Command, done: &Result<Answer, ApiError>) -> Option<AuditAbout> {
        match (command, done) {
            (Command::RunTool(run), _) => Some(about_call(&run.name, &run.body.arguments)),
            (Command::AnswerApproval(given), Ok(Answer::Approval(answered))) => {
                Some(about_answer(answered, given.body.remember))
            }
            (Command::AnswerApproval(given), done) => {
                let about = AuditAbout {
                    decision: Some(given.body.decision),
                    remembered: given.body.remember,
                    ..AuditAbout::default()
                };
                // Nobody is asked again who has just not answered.
                let is_away = done.as_ref().is_err_and(|error| error.code.status() >= 500);
                Some(if is_away { about } else { self.about_refused(given, about).await })
            }
            _ => None,
        }
    }

    /// An answer that did not count: with the question it was given to, where there is one.
    async fn about_refused(&self, given: &AnswerApproval, about: AuditAbout) -> AuditAbout {
        let query = Approvals { pod: given.pod.clone(), all: true, page: Default::default() };
        let asked = self.read(query).await.map(|listed| listed.items).unwrap_or_default();
        match asked.into_iter().find(|asked| asked.id == given.id) {
            Some(asked) => {
                let AuditAbout { tool, subject, .. } = about_call(&asked.tool, &asked.arguments);
                AuditAbout { tool, subject, ..about }
            }
            None => about,
        }
    }

    /// Introduces a Pod to another one: at once, or as a request where the other one's policy is to ask.
    async fn introduce(&self, key: &CommandKey, origin: &Origin, mut introduce: Introduce) -> Result<Answer, ApiError> {
        self.port(&introduce.pod.runtime_id)?;
        let pod = introduce.pod.clone();
        match self.meant(&introduce.body.target, key, || introduce.clone().into()).await? {
            Meant::Pod(peer) if peer.runtime_id == pod.runtime_id => {
                introduce.body.target = peer.to_string();
                self.passed_on(key, origin, introduce.into()).await
            }
            Meant::Pod(peer) => {
                Ok(self.introduce_across(key.clone(), origin, &pod, &peer, introduce.body.note).await?.into())
            }
            Meant::Repeated(answer) => Ok(*answer),
        }
    }

    /// A message from a Pod to its peer, by a person.
    async fn send_message(&self, key: &CommandKey, origin: &Origin, mut send: SendMessage) -> Result<Answer, ApiError> {
        self.port(&send.pod.runtime_id)?;
        if let Some(peer) = self.far_peer(&send.pod, &send.body.to).await? {
            return self.send_across(key, origin, send, &peer).await;
        }
        match self.meant(&send.body.to, key, || send.clone().into()).await? {
            Meant::Pod(peer) if peer.runtime_id == send.pod.runtime_id => {
                send.body.to = peer.to_string();
                self.passed_on(key, origin, send.into()).await
            }
            Meant::Pod(peer) => self.send_across(key, origin, send, &peer).await,
            Meant::Repeated(answer) => Ok(*answer),
        }
    }

    /// The Pod that a person means. A command that was carried out before keeps its answer, also when its target is
    /// gone or has another name by now.
    async fn meant(
        &self,
        target: &str,
        key: &CommandKey,
        command: impl FnOnce() -> Command,
    ) -> Result<Meant, ApiError> {
        match self.resolve(target).await {
            Ok(peer) => Ok(Meant::Pod(peer)),
            Err(error) => {
                self.first_answer(key, &command()).await?.map(|first| Meant::Repeated(Box::new(first))).ok_or(error)
            }
        }
    }
}

/// What a target comes to.
enum Meant {
    Pod(PodRef),
    /// The command was carried out before, with this answer.
    Repeated(Box<Answer>),
}

fn key_of(id: CommandId, command: &Command) -> CommandKey {
    fingerprint(id, command.key_word(), command.pod(), &command.said())
}

/// The same key with another verb, address or body is another command, and is refused as `key_reused`. `said` is JSON.
pub(super) fn fingerprint(id: CommandId, verb: &str, pod: Option<&PodRef>, said: &str) -> CommandKey {
    let mut hash = Sha256::new();
    hash.update(verb);
    hash.update([0]);
    hash.update(pod.map(PodRef::to_string).unwrap_or_default());
    hash.update([0]);
    hash.update(said);
    CommandKey { id, fingerprint: hash.finalize().into() }
}
