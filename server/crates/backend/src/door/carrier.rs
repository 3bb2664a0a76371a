//! Each command is carried out once for its key, by the runtime that its Pod lives in, and seen to in the audit.
//!
//! People name a Pod as they like; from here on it has an address. Two of different runtimes are brought together by `link`.

use protocol::{
    ApiError, AuditAbout, ErrorCode, PodRef, RuntimeId,
    operations::{Answer, AnswerApproval, Approvals, Command, Introduce, SendMessage},
};
use runtime::{CommandKey, Origin, about_answer, about_call};

use super::Backend;

/// A carrier carries one command out for whoever asks for it, once for its key.
#[derive(Debug, Clone, Copy)]
pub(super) struct Carrier<'a> {
    pub(super) backend: &'a Backend,
    pub(super) origin: &'a Origin,
    pub(super) key: &'a CommandKey,
}

impl Carrier<'_> {
    /// Carries a command out that is about one Pod. A repeat writes no row of the audit.
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
        // Its Pod may be gone since, or by this very command, which came twice: a repeat is told what the first one was.
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

    /// Has the command's runtime carry it out, once for its key.
    async fn passed_on(self, command: Command) -> Result<Answer, ApiError> {
        let work = async {
            let port = self.backend.port(&command.runtime_id())?;
            port.carry_out(self.key.clone(), self.origin, command.clone()).await
        };
        self.once(&command, work).await
    }

    /// A command that the runtime in this process carried out is audited with it, in its own transaction, by the
    /// runtime; one that was not, or was carried out elsewhere, here.
    pub(super) async fn audited(
        self,
        command: &Command,
        about: Option<AuditAbout>,
        done: Result<Answer, ApiError>,
    ) -> Result<Answer, ApiError> {
        if done.is_ok() && command.runtime_id() == RuntimeId::local() {
            return done;
        }
        self.backend.audit().ended(self.origin, command.action(), command.target(), about, &done).await;
        done
    }

    /// What a row of the audit is about that is written here, beyond its target.
    async fn about(self, command: &Command, done: &Result<Answer, ApiError>) -> Option<AuditAbout> {
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

    /// Introduces a Pod to another one: at once, or as a request where the other one's policy is to ask.
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

    /// A message from a Pod to its peer, by a person.
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

    /// The Pod that a person means. A command that was carried out before keeps its answer, also when its target is
    /// gone or has another name by now.
    async fn meant(self, target: &str, command: impl FnOnce() -> Command) -> Result<Meant, ApiError> {
        match self.backend.resolve(target).await {
            Ok(peer) => Ok(Meant::Pod(peer)),
            Err(error) => {
                self.first_answer(&command()).await?.map(|first| Meant::Repeated(Box::new(first))).ok_or(error)
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
