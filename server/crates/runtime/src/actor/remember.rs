//! The rules that a person's answers make, and taking back those of a Pod.

use pod::{Input, Remembering, rule_for, with_rule};
use pod_store::{PodUpdate, RuleChange, RuleRow};
use protocol::{
    AlertLevel, ApiError, Approval, ApprovalCommand, ControlEvent, Decision, ErrorCode, PermissionDecision,
    PermissionRule, RuleScope,
};

use super::{
    Actor,
    commands::{Carrying, encoded},
    commit::Extras,
    sight::Looking,
};
use crate::{
    about::cut,
    clock,
    command::answer_of,
    rules::{self, SHARED_RULES_MAX},
};

/// What an answer changes besides the question.
#[derive(Debug)]
pub(super) enum Remembered {
    Nothing,
    /// A rule of the Pod, and all of its rules from now on.
    Pod(PermissionRule, Vec<PermissionRule>),
    /// A rule of a folder or of the whole server.
    Shared(PermissionRule),
}

impl Remembered {
    /// The rule that the answer makes.
    pub(super) fn rule(&self) -> Option<&PermissionRule> {
        match self {
            Self::Nothing => None,
            Self::Pod(rule, _) | Self::Shared(rule) => Some(rule),
        }
    }

    /// What the transcript says about that rule: which calls it means, and where.
    pub(super) fn note(&self, scope: Option<RuleScope>) -> Option<Input> {
        let rule = self.rule()?;
        let verb = if rule.decision == PermissionDecision::Deny { "denied" } else { "allowed" };
        let calls = match &rule.pattern {
            Some(pattern) => format!("calls of {} that match {}", rule.tool, cut(pattern)),
            None => format!("all calls of {}", rule.tool),
        };
        let place = match (scope.unwrap_or_default(), &rule.folder) {
            (RuleScope::Folder, Some(folder)) => format!("in {folder}"),
            (scope, _) => scope.words().to_owned(),
        };
        let text = format!("always {verb} from now on, {place}: {calls}");
        let note = ControlEvent::Alert { level: AlertLevel::Note, source: "rules".to_owned(), text, model: None };
        Some(Input::Note(vec![note]))
    }
}

/// What the answer to this question asks to be remembered.
pub(super) async fn remembered(
    looking: Looking<'_>,
    asked: &Approval,
    command: &ApprovalCommand,
) -> Result<Remembered, ApiError> {
    if !command.remember {
        return match (command.scope, &command.pattern) {
            (None, None) => Ok(Remembered::Nothing),
            _ => Err(ApiError::invalid("`scope` and `pattern` are about a rule; set `remember`, or leave them out")),
        };
    }
    let spec = &looking.state.spec;
    let decision = match command.decision {
        Decision::Allow => PermissionDecision::Allow,
        Decision::Deny => PermissionDecision::Deny,
    };
    let scope = command.scope.unwrap_or_default();
    let sight = looking.sight(&asked.tool, &asked.arguments).await?;
    let wanted = Remembering { decision, scope, pattern: command.pattern.as_deref() };
    let rule = rule_for(&spec.cwd, &asked.tool, &asked.arguments, sight, wanted).map_err(ApiError::invalid)?;
    let refused =
        |why: String| ApiError::invalid(format!("`remember`: {why}; or answer without `remember`, for this once"));
    if scope == RuleScope::Pod {
        let permissions = with_rule(&spec.permissions, rule.clone()).map_err(refused)?;
        return Ok(Remembered::Pod(rule, permissions));
    }
    // This checks the rule alone; the number of shared rules has a limit of its own.
    with_rule(&[], rule.clone()).map_err(refused)?;
    let known = rules::shared(looking.actors).await?;
    if known.len() >= SHARED_RULES_MAX && known.iter().all(|(_, other)| *other != rule) {
        return Err(refused(format!(
            "there are {} rules of folders and of the server, and at most {SHARED_RULES_MAX} are allowed; remove one first",
            known.len()
        )));
    }
    Ok(Remembered::Shared(rule))
}

/// The row of a rule of a folder or of the whole server.
pub(super) fn row_of(rule: &PermissionRule, by: &str) -> RuleChange {
    RuleChange::Put(RuleRow {
        id: rules::shared_id(rule),
        rule: serde_json::to_string(rule).expect("a rule always encodes"),
        by: by.to_owned(),
        at: clock::now(),
    })
}

impl Carrying<'_> {
    /// Takes a rule of the Pod back.
    pub(super) async fn remove_rule(&mut self, id: &str) -> Result<String, ApiError> {
        let Actor { state, .. } = &*self.actor;
        let mut spec = state.spec.clone();
        spec.permissions.retain(|rule| rules::id_in_pod(&state.worker_id, rule) != id);
        if spec.permissions.len() == state.spec.permissions.len() {
            let sentence = format!("pod \"{}\" has no rule with the id \"{id}\"", state.name);
            return Err(ApiError::new(ErrorCode::NotFound, sentence));
        }
        let now = clock::now();
        let update = PodUpdate { spec: Some(encoded(&spec)), updated_at: Some(now), ..PodUpdate::default() };
        let extras = Extras { update, ..self.extras("rule_remove", now, &()) };
        if let Some(first) = self.commit([], extras).await? {
            return Ok(first);
        }
        self.actor.state.spec = spec;
        Ok(answer_of(&()))
    }
}
