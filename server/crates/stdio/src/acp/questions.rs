//! Asks for a Pod's approvals in the editor too. The first answer counts, wherever it is given.

use std::sync::Arc;

use agent_client_protocol::v1::schema::{
    PermissionOption, PermissionOptionKind, RequestPermissionOutcome, RequestPermissionRequest,
    RequestPermissionResponse, ToolCallUpdate, ToolCallUpdateFields,
};
use protocol::{ApprovalCommand, CommandId, ToolBy, operations::AnswerApproval};
use serde_json::{Value, json};

use super::{
    session::{Asking, Session},
    translate,
};

/// The maximum number of options of one approval.
const OPTIONS_MAX: usize = 20;

/// An approval, from a record or a list.
#[derive(Debug, Clone)]
pub(super) struct Question {
    pub(super) id: String,
    pub(super) tool: String,
    pub(super) arguments: Value,
    /// The options that an agent offers in place of yes and no.
    pub(super) options: Vec<Value>,
}

impl Question {
    /// Reads an approval from a record or a list entry; `None` if it is not one.
    pub(super) fn read(said: &Value) -> Option<Self> {
        let text = |name: &str| said.get(name).and_then(Value::as_str).map(str::to_owned);
        let options = said.get("options").and_then(Value::as_array).cloned().unwrap_or_default();
        let arguments = said.get("arguments").cloned().unwrap_or_default();
        Some(Self { id: text("id")?, tool: text("tool")?, arguments, options })
    }

    /// The id of the call that it is about.
    fn call_id(&self) -> &str {
        match self.id.rsplit_once('.') {
            Some((call_id, tail)) if tail.starts_with("out") || tail.starts_with("ask") => call_id,
            _ => &self.id,
        }
    }

    fn offered(&self) -> Vec<PermissionOption> {
        let own = self.options.iter().take(OPTIONS_MAX).filter_map(|option| {
            let text = |name: &str| option.get(name).and_then(Value::as_str).map(str::to_owned);
            let kind = serde_json::from_value(option.get("kind")?.clone()).ok()?;
            Some(PermissionOption::new(text("id")?, text("name")?, kind))
        });
        let own: Vec<_> = own.collect();
        if !own.is_empty() {
            return own;
        }
        let option = |id: &'static str, name: &str, kind| PermissionOption::new(id, name, kind);
        let deny = option("deny", "Deny", PermissionOptionKind::RejectOnce);
        // A form has to be filled in where there are fields for it.
        if self.arguments.get("schema").is_some_and(Value::is_object) && self.id.contains(".ask") {
            return vec![deny];
        }
        vec![
            option("allow", "Allow once", PermissionOptionKind::AllowOnce),
            option("always", "Always allow this", PermissionOptionKind::AllowAlways),
            deny,
            option("never", "Always deny this", PermissionOptionKind::RejectAlways),
        ]
    }

    /// The answer that an option stands for.
    fn answer(&self, chosen: &str) -> Option<ApprovalCommand> {
        let option = self.offered().into_iter().find(|option| &*option.option_id.0 == chosen)?;
        let allows = matches!(option.kind, PermissionOptionKind::AllowOnce | PermissionOptionKind::AllowAlways);
        let decision = if allows { "allow" } else { "deny" };
        let said = match self.options.is_empty() {
            true => {
                let remembers =
                    matches!(option.kind, PermissionOptionKind::AllowAlways | PermissionOptionKind::RejectAlways);
                json!({ "decision": decision, "remember": remembers })
            }
            false => json!({ "decision": decision, "option": chosen }),
        };
        serde_json::from_value(said).ok()
    }
}

/// Asks the editor, and passes its answer on.
pub(super) async fn ask(session: &Arc<Session>, question: Question) {
    let mut fields = ToolCallUpdateFields::new();
    fields.title = Some(translate::title(&question.tool, &question.arguments, ToolBy::Model));
    fields.kind = Some(translate::kind(&question.tool));
    fields.raw_input = Some(question.arguments.clone());
    let call = ToolCallUpdate::new(question.call_id().to_owned(), fields);
    let asked = RequestPermissionRequest::new(session.id.clone(), call, question.offered());
    if session.questions().contains_key(&question.id) {
        return;
    }
    let (request, answer) = session.wire.ask("session/request_permission", &asked).await;
    let (asking, id) = (Arc::downgrade(session), question.id.clone());
    let waiting = tokio::spawn(async move {
        let Ok(Some(answer)) = answer.await else { return };
        let Some(session) = asking.upgrade() else { return };
        session.questions().remove(&question.id);
        let Ok(RequestPermissionResponse { outcome, .. }) = serde_json::from_value(answer) else { return };
        // Closing the dialog is not an answer; the approval stays open elsewhere.
        let RequestPermissionOutcome::Selected(chosen) = outcome else { return };
        let Some(body) = question.answer(&chosen.option_id.0) else { return };
        let answer = AnswerApproval { pod: session.pod.clone(), id: question.id, body };
        if let Err(error) = session.client.carry_out(&CommandId::random(), &answer).await {
            // Usually somebody else was quicker; the transcript says who.
            eprintln!("yoi acp: an answer did not count: {error}");
        }
    });
    session.questions().insert(id, Asking { request, waiting: waiting.abort_handle() });
}

/// Withdraws the question, because somebody has answered or it no longer matters.
pub(super) async fn withdraw(session: &Session, id: &str) {
    let asking = session.questions().remove(id);
    if let Some(Asking { request, waiting }) = asking {
        waiting.abort();
        session.wire.take_back(request).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(said: Value) -> Question {
        Question::read(&said).unwrap()
    }

    #[test]
    fn an_option_stands_for_one_answer() {
        let plain = question(json!({ "id": "call-b1", "tool": "Bash", "arguments": { "command": "ls" } }));
        let answer = |chosen: &str| plain.answer(chosen).map(|answer| json!(answer));
        assert_eq!(answer("allow"), Some(json!({ "decision": "allow", "remember": false })));
        assert_eq!(answer("always"), Some(json!({ "decision": "allow", "remember": true })));
        assert_eq!(answer("never"), Some(json!({ "decision": "deny", "remember": true })));
        assert_eq!((answer("perhaps"), answer("")), (None, None));
    }

    #[test]
    fn an_approval_in_the_middle_of_a_call_is_about_that_call() {
        let of = |id: &str| question(json!({ "id": id, "tool": "Network", "arguments": {} })).call_id().to_owned();
        assert_eq!(
            (of("call-b1").as_str(), of("call-b1.out7").as_str(), of("call-b1.ask7").as_str()),
            ("call-b1", "call-b1", "call-b1")
        );
    }

    #[test]
    fn an_agents_own_options_are_offered_and_what_wants_fields_can_only_be_denied_here() {
        let own = question(json!({ "id": "a", "tool": "edit", "arguments": {}, "options": [
            { "id": "x", "name": "Yes, and more", "kind": "allow_always" }, { "id": "y", "name": "No", "kind": "reject_once" },
        ] }));
        assert_eq!(own.offered().len(), 2);
        assert_eq!(&*own.offered()[0].option_id.0, "x");
        let form = question(json!({ "id": "c.ask1", "tool": "s__t", "arguments": { "schema": {} } }));
        assert_eq!(form.offered().len(), 1);
    }
}
