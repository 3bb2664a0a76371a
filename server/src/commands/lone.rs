//! Which approval is meant when `approve` or `deny` names none: the only pending one.

use anyhow::{Result, bail};
use protocol::{Approval, OpenApproval, PodRef, operation::Page, operations, tool::facts};
use serde_json::Value;
use transcript::call;

use super::{
    Caller,
    approvals::{asking, of_pods},
    name_of,
};

/// At most this many approvals are listed in an error.
const LISTED_MAX: usize = 10;
/// Of each, at most this much of its call.
const CALL_CHARS_MAX: usize = 80;

/// One approval of one Pod.
pub(super) struct Question {
    pub(super) pod: PodRef,
    pub(super) id: String,
}

/// The only pending approval, and the name of its Pod: of the Pod that is named, or of all. Several are an error that
/// lists them, and so is none.
pub(super) async fn question(caller: &Caller, target: Option<&str>) -> Result<(Question, String)> {
    let pending = match target {
        Some(target) => of_pod(caller, target).await?,
        None => of_pods(caller, &asking(caller, false).await?, false).await?.iter().map(named).collect(),
    };
    let whose = target.map(|target| format!(" of {target}")).unwrap_or_default();
    match pending.as_slice() {
        [] => bail!("there is no pending approval{whose}; `yoi approvals` lists them"),
        [(name, pod, approval)] => Ok((Question { pod: pod.clone(), id: approval.id.clone() }, name.clone())),
        several => bail!("{}", several_words(several, &whose)),
    }
}

/// `Bash cargo test`: the tool and its main argument, on one line.
pub(super) fn call_words(approval: &Approval) -> String {
    let main = approval.arguments.get(facts(&approval.tool).subject.argument()).and_then(Value::as_str);
    let about = main.map_or_else(|| call::telling(Some(&approval.arguments), ""), str::to_owned);
    format!("{} {about}", approval.tool).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A pending approval with its Pod's name and address.
type Pending = (String, PodRef, Approval);

async fn of_pod(caller: &Caller, target: &str) -> Result<Vec<Pending>> {
    let pod = caller.resolve(target).await?;
    let listing = operations::Approvals { pod: pod.clone(), all: false, page: Page::default() };
    let items = caller.client.read(&listing).await?.items;
    Ok(items.into_iter().map(|approval| (target.to_owned(), pod.clone(), approval)).collect())
}

fn named(open: &OpenApproval) -> Pending {
    (name_of(&open.name, &open.pod), open.pod.clone(), open.approval.clone())
}

/// One line, as every error is.
fn several_words(pending: &[Pending], whose: &str) -> String {
    let said = |(name, _, approval): &Pending| {
        let call: String = call_words(approval).chars().take(CALL_CHARS_MAX).collect();
        format!("{name} {} ({call})", approval.id)
    };
    let listed: Vec<_> = pending.iter().take(LISTED_MAX).map(said).collect();
    let more = match pending.len() - listed.len() {
        0 => String::new(),
        more => format!("; and {more} more, which `yoi approvals` lists"),
    };
    format!("{} approvals{whose} are pending; name one by its Pod and id: {}{more}", pending.len(), listed.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_are_listed_on_one_line_with_what_each_is_about() {
        let pending = |id: &str, command: &str| {
            let fields = serde_json::json!({ "id": id, "tool": "Bash", "arguments": { "command": command },
                "asked_at": "2026-01-02T03:04:05Z" });
            ("ada".to_owned(), "local/p-1".parse().unwrap(), serde_json::from_value(fields).unwrap())
        };
        let two = [pending("q1", "ls\n  -l"), pending("q2", &"x".repeat(200))];
        let words = several_words(&two, " of ada");
        let begin = "2 approvals of ada are pending; name one by its Pod and id: ada q1 (Bash ls -l); ada q2 (Bash xxx";
        assert!(words.starts_with(begin) && words.len() < 200 && !words.contains('\n'), "{words}");
        let many: Vec<_> = (0..13).map(|n| pending(&format!("q{n}"), "ls")).collect();
        assert!(several_words(&many, "").ends_with("ada q9 (Bash ls); and 3 more, which `yoi approvals` lists"));
    }
}
