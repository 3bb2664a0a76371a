//! Carries out each command once per key, in the runtime of its Pod, and sees to its audit row.
//!
//! Clients may name a Pod in any form; from here on it has an address. Commands on two Pods of different runtimes are
//! handled by `link`.

use protocol::{
    ApiError, AuditAbout, ErrorCode, PodRef, RuntimeId,
    operations::{Answer, AnswerApproval, Approvals, Command, Introduce, SendMessage},
};
use runtime::{CommandKey, Origin, about_answer, about_call};

use super::Backend;

/// Carries out one command for its caller, once per key.
#[derive(Debug, Clone, Copy)]
pub(super) struct Carrier<'a> {
    pub(super) backend: &'a Backend,
    pub(super) origin: &'a Origin,
    pub(super) key: &'a CommandKey,
}

impl Carrier<'_> {
    /// Carries out a command on one Pod. A repeat writes no audit row.
    pub(super) async fn carried(self, command: Command) -> Result<Answer, ApiError> {
        let runtime_id = command.runtime_id();
        let first = match runtime_id == RuntimeId::local() {
            true => Ok(None),
            false => self.first_answer(&command).await,
        };
        let done = match first {
            Ok(Some(answer)) => return Ok(answer),
            Ok(None) => self.passed_on(command.clone()).await,
            Err(error) => Err(error),
        };
        // The Pod may be gone by now, perhaps deleted by the same command sent twice: a repeat gets the first answer.
        let done = match done {
            Err(gone) if gone.code == ErrorCode::PodNotFound => match self.first_answer(&command).await {
                Ok(Some(answer)) => return Ok(answer),
                Err(reused) if reused.code == ErrorCode::KeyReused => Err(reused),
                Ok(None) | Err(_) => Err(gone),
            },
            done => done,
        };
        if let (Command::Delete(delete), Ok(_)) = (&command, &done) {
            self.backend.previews().end(&delete.pod);
        }
        let about = self.about(&command, &done).await;
        self.audited(&command, about, done).await
    }

    /// Has the command's runtime carry it out, once per key.
    async fn passed_on(self, command: Command) -> Result<Answer, ApiError> {
        let work = async {
            let port = self.backend.port(&command.runtime_id())?;
            port.carry_out(self.key.clone(), self.origin, command.clone()).await
        };
        self.once(&command, work).await
    }

    /// Audits the command if that is not done yet: the runtime in this process audits a command that it carries out in
    /// the same transaction; refused commands and those carried out elsewhere are audited here. What is only noted on
    /// changes is in no audit.
    pub(super) async fn audited(
        self,
        command: &Command,
        about: Option<AuditAbout>,
        done: Result<Answer, ApiError>,
    ) -> Result<Answer, ApiError> {
        let is_audited = done.is_ok() && command.runtime_id() == RuntimeId::local();
        if is_audited || matches!(command, Command::KeepDrafts(_)) {
            return done;
        }
        self.backend.audit().ended(self.origin, command.action(), command.target(), about, &done).await;
        done
    }

    /// Details besides the target for an audit row that is written here.
    async fn about(self, command: &Command, done: &Result<Answer, ApiError>) -> Option<AuditAbout> {
        match (command, done) {
            (Command::RunTool(run), _) => Some(about_call(&run.name, &run.body.arguments)),
            (Command::AnswerApproval(given), Ok(Answer::Approval(answered))) => {
                Some(about_answer(answered, &given.body, given.body.pattern.as_deref()))
            }
            (Command::AnswerApproval(given), done) => {
                let about = AuditAbout {
                    decision: Some(given.body.decision),
                    remembered: given.body.remember,
                    ..AuditAbout::default()
                };
                // If the runtime has just failed to answer, do not ask it again.
                let is_away = done.as_ref().is_err_and(|error| error.code.status() >= 500);
                Some(if is_away { about } else { self.about_refused(given, about).await })
            }
            _ => None,
        }
    }

    /// Details for an answer to an approval that was refused, with the call in question if it is known.
    async fn about_refused(self, given: &AnswerApproval, about: AuditAbout) -> AuditAbout {
        let query = Approvals { pod: given.pod.clone(), all: true, page: Default::default() };
        let asked = self.backend.read(query).await.map(|listed| listed.items).unwrap_or_default();
        match asked.into_iter().find(|asked| asked.id == given.id) {
            Some(asked) => {
                let AuditAbout { tool, subject, .. } = about_call(&asked.tool, &asked.arguments);
                AuditAbout { tool, subject, ..about }
            }
            None => about,
        }
    }

    /// Makes two Pods peers: at once, or by a peer request where the target's policy is to ask.
    pub(super) async fn introduce(self, mut introduce: Introduce) -> Result<Answer, ApiError> {
        self.backend.port(&introduce.pod.runtime_id)?;
        let pod = introduce.pod.clone();
        match self.meant(&introduce.body.target, || introduce.clone().into()).await? {
            Meant::Pod(peer) if peer.runtime_id == pod.runtime_id => {
                introduce.body.target = peer.to_string();
                self.passed_on(introduce.into()).await
            }
            Meant::Pod(peer) => Ok(self.introduce_across(&pod, &peer, introduce.body.note).await?.into()),
            Meant::Repeated(answer) => Ok(*answer),
        }
    }

    /// A person's message from a Pod to its peer.
    pub(super) async fn send_message(self, mut send: SendMessage) -> Result<Answer, ApiError> {
        self.backend.port(&send.pod.runtime_id)?;
        if let Some(peer) = self.backend.links().far_peer(&send.pod, &send.body.to).await? {
            return self.send_across(send, &peer).await;
        }
        match self.meant(&send.body.to, || send.clone().into()).await? {
            Meant::Pod(peer) if peer.runtime_id == send.pod.runtime_id => {
                send.body.to = peer.to_string();
                self.passed_on(send.into()).await
            }
            Meant::Pod(peer) => self.send_across(send, &peer).await,
            Meant::Repeated(answer) => Ok(*answer),
        }
    }

    /// The Pod that a person means. A command that was carried out before keeps its answer, even if its target is gone
    /// or renamed by now.
    async fn meant(self, target: &str, command: impl FnOnce() -> Command) -> Result<Meant, ApiError> {
        match self.backend.resolve(target).await {
            Ok(peer) => Ok(Meant::Pod(peer)),
            Err(error) => {
                self.first_answer(&command()).await?.map(|first| Meant::Repeated(Box::new(first))).ok_or(error)
            }
        }
    }
}

/// What a target resolves to.
enum Meant {
    Pod(PodRef),
    /// The command was carried out before, with this answer.
    Repeated(Box<Answer>),
}
