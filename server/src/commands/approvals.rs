use anyhow::{Context, Result};
use client::ClientError;
use jiff::Timestamp;
use protocol::{
    AgentOption, Approval, ApprovalCommand, CommandId, Decision, ErrorCode, Listing, OpenApproval, PatternOffer,
    PodState, PodSummary,
    operation::{Filled, Page},
    operations::{self, Pods},
};
use transcript::words::actor_words;

use super::{
    Caller, ago,
    lone::{self, Question},
    name_of, pods_of,
};
use crate::{
    cli::{ApprovalsOptions, ApproveOptions, DenyOptions},
    output,
};

/// Prints the approvals of one Pod, or of all.
pub(super) async fn approvals(caller: &Caller, options: ApprovalsOptions) -> Result<()> {
    match &options.target {
        Some(target) => of_one(caller, target, options.all).await,
        None => of_all(caller, options.all).await,
    }
}

/// Answers an approval: the one with this id, or the only pending one of the Pod, or of all Pods.
pub(super) async fn approve(caller: &Caller, options: ApproveOptions) -> Result<()> {
    let (asked, lone_of) = match (&options.target, &options.id) {
        (Some(target), Some(id)) => (Question { pod: caller.resolve(target).await?, id: id.clone() }, None),
        (target, _) => {
            lone::question(caller, target.as_deref()).await.map(|(question, name)| (question, Some(name)))?
        }
    };
    let decision = if options.deny { Decision::Deny } else { Decision::Allow };
    let content = options.content.as_deref().map(serde_json::from_str).transpose();
    let content = content.context("--content is JSON, such as '{\"name\":\"ada\"}'")?;
    let ApproveOptions { remember, pattern, scope, reason, option, .. } = options;
    let command = ApprovalCommand { decision, remember, scope, pattern, reason, content, option };
    let approval = caller
        .client
        .carry_out(&CommandId::random(), &operations::AnswerApproval { pod: asked.pod, id: asked.id, body: command })
        .await?;
    match caller.config.json {
        true => output::json(&approval),
        false => {
            // Without an id, the answer says what it was about.
            let what = match lone_of {
                Some(name) => format!("{name}: {}", lone::call_words(&approval)),
                None => approval.tool.clone(),
            };
            output::line(&output::printable(&format!("{what} is {}", answer(&approval))))
        }
    }
}

/// Denies an approval.
pub(super) async fn deny(caller: &Caller, options: DenyOptions) -> Result<()> {
    let DenyOptions { target, id, remember, pattern, scope, reason, option } = options;
    let content = None;
    let options = ApproveOptions { target, id, deny: true, remember, pattern, scope, reason, content, option };
    approve(caller, options).await
}

async fn of_one(caller: &Caller, target: &str, all: bool) -> Result<()> {
    let pod = caller.resolve(target).await?;
    let listing = caller.client.read(&operations::Approvals { pod: pod.clone(), all, page: Page::default() }).await?;
    match caller.config.json {
        true => output::json(&listing),
        false => print(listing.items.iter().map(|approval| (None, approval)).collect(), all),
    }
}

async fn of_all(caller: &Caller, all: bool) -> Result<()> {
    let items = of_pods(caller, &asking(caller, all).await?, all).await?;
    match caller.config.json {
        true => output::json(&Listing { items, next: None }),
        false => print(items.iter().map(|open| (Some(open), &open.approval)).collect(), all),
    }
}

/// The pending approvals of these Pods, or all of theirs; the one that waits longest is first.
pub(super) async fn of_pods(caller: &Caller, pods: &[PodSummary], all: bool) -> Result<Vec<OpenApproval>> {
    let mut items = Vec::new();
    for summary in pods {
        let asked = match caller
            .client
            .read(&operations::Approvals { pod: summary.pod.clone(), all, page: Page::default() })
            .await
        {
            Ok(listing) => listing.items,
            // It was deleted since the list was made.
            Err(ClientError::Api(error)) if error.code == ErrorCode::PodNotFound => continue,
            Err(error) => return Err(error.into()),
        };
        items.extend(asked.into_iter().map(|approval| OpenApproval {
            pod: summary.pod.clone(),
            name: summary.name.clone(),
            parent: summary.relations.parent.clone(),
            approval,
        }));
    }
    items.sort_by_key(|open| open.approval.asked_at);
    Ok(items)
}

/// The Pods that can have an open approval, or all of them. An approval of a paused Pod stays open.
pub(super) async fn asking(caller: &Caller, all: bool) -> Result<Vec<PodSummary>> {
    if all {
        return Ok(pods_of(caller, Pods::default()).await?.items);
    }
    let mut pods = Vec::new();
    for state in [PodState::Waiting, PodState::Paused] {
        let filter = Pods { state: Filled(Some(state)), ..Pods::default() };
        pods.extend(pods_of(caller, filter).await?.items.into_iter().filter(|summary| summary.needs_you));
    }
    // A Pod that was paused between the two requests is in both lists.
    pods.sort_by(|one, other| one.pod.cmp(&other.pod));
    pods.dedup_by(|one, other| one.pod == other.pod);
    Ok(pods)
}

fn print(questions: Vec<(Option<&OpenApproval>, &Approval)>, all: bool) -> Result<()> {
    if questions.is_empty() {
        output::note(if all { "no approvals" } else { "no pending approvals; --all shows answered ones" });
        return Ok(());
    }
    let row = |(open, approval): (Option<&OpenApproval>, &Approval)| {
        let pod = open.map(|open| name_of(&open.name, &open.pod)).unwrap_or_default();
        let asked = ago(approval.asked_at, Timestamp::now());
        [pod, approval.id.clone(), asked, answer(approval), approval.tool.clone(), approval.arguments.to_string()]
    };
    let has_names = questions.iter().any(|(open, _)| open.is_some());
    let mut details = Vec::new();
    for (open, approval) in &questions {
        // Ids are unique only within a Pod.
        let which = match open {
            Some(open) => format!("{} {}", name_of(&open.name, &open.pod), approval.id),
            None => approval.id.clone(),
        };
        details.extend([change(&which, approval), options(&which, approval), patterns(&which, approval)]);
    }
    let rows = questions.into_iter().map(row);
    match (has_names, all) {
        (true, true) => output::headed(["POD", "ID", "ASKED", "ANSWER", "TOOL", "ARGUMENTS"], rows),
        (true, false) => output::headed(
            ["POD", "ID", "ASKED", "TOOL", "ARGUMENTS"],
            rows.map(|[pod, id, asked, _, tool, arguments]| [pod, id, asked, tool, arguments]),
        ),
        (false, true) => output::headed(
            ["ID", "ASKED", "ANSWER", "TOOL", "ARGUMENTS"],
            rows.map(|[_, id, asked, answer, tool, arguments]| [id, asked, answer, tool, arguments]),
        ),
        (false, false) => output::headed(
            ["ID", "ASKED", "TOOL", "ARGUMENTS"],
            rows.map(|[_, id, asked, _, tool, arguments]| [id, asked, tool, arguments]),
        ),
    }?;
    details.iter().flatten().try_for_each(|detail| output::line(detail))
}

/// What "always" can mean for an open question, shown below the table.
fn patterns(which: &str, approval: &Approval) -> Option<String> {
    let pattern = |offer: &PatternOffer| {
        let label = offer.label.as_deref().unwrap_or_default();
        let lately = match offer.would_have_allowed {
            0 => String::new(),
            1 => "; it would have allowed 1 recent call".to_owned(),
            count => format!("; it would have allowed {count} recent calls"),
        };
        format!("  --pattern '{}'  {label}{lately}", offer.pattern.replace('\'', "'\\''"))
    };
    let lines: Vec<_> = approval.patterns.iter().map(pattern).collect();
    (!lines.is_empty()).then(|| output::printable(&format!("\n{which} with --always can mean\n{}", lines.join("\n"))))
}

/// Returns the answers that an agent offers to its open question, shown below the table.
fn options(which: &str, approval: &Approval) -> Option<String> {
    let is_open = approval.decision.is_none() && approval.by.is_none() && approval.reason.is_none();
    let option = |option: &AgentOption| format!("  --option {}  {} ({})", option.id, option.name, option.kind);
    let lines: Vec<_> = approval.options.iter().map(option).collect();
    (is_open && !lines.is_empty()).then(|| output::printable(&format!("\n{which} offers\n{}", lines.join("\n"))))
}

/// What an approval's call would do to its file as it is now, printed below the table.
fn change(which: &str, approval: &Approval) -> Option<String> {
    let effect = approval.effect.as_deref()?;
    let path = approval.arguments.get("path").and_then(serde_json::Value::as_str).unwrap_or_default();
    let diff = approval.diff.as_deref().unwrap_or_default();
    Some(format!("\n{which} {} {path}: {effect}\n{diff}", approval.tool).trim_end().to_owned())
}

/// `allowed by you: reason`, `withdrawn`, or `open`.
fn answer(approval: &Approval) -> String {
    let (word, by) = match (approval.decision, &approval.by) {
        (Some(Decision::Allow), by) => ("allowed", by),
        (Some(Decision::Deny), by) => ("denied", by),
        (None, by) if by.is_some() || approval.reason.is_some() => ("withdrawn", by),
        (None, _) => return "open".to_owned(),
    };
    let by = by.as_deref().map(|by| format!(" by {}", actor_words(by))).unwrap_or_default();
    let reason = approval.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
    format!("{word}{by}{reason}").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_says_who_gave_it_and_why() {
        let approval = |fields: serde_json::Value| {
            let mut approval = serde_json::json!({ "id": "1", "tool": "Bash", "arguments": { "command": "ls" },
                "asked_at": "2026-01-02T03:04:05Z" });
            approval.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
            answer(&serde_json::from_value(approval).unwrap())
        };
        assert_eq!(approval(serde_json::json!({})), "open");
        assert_eq!(approval(serde_json::json!({ "decision": "allow", "by": "operator" })), "allowed by you");
        assert_eq!(
            approval(serde_json::json!({ "decision": "deny", "by": "x", "reason": "no\nno" })),
            "denied by x: no no"
        );
        assert_eq!(approval(serde_json::json!({ "reason": "the Pod was stopped" })), "withdrawn: the Pod was stopped");
    }
}
