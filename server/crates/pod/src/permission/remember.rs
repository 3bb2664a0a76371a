//! The rules that a person's "always" makes.

use protocol::{PermissionDecision, PermissionRule, RuleScope, tool};
use serde_json::Value;

use super::{call::Call, pattern, words};
use crate::{RULE_PATTERN_CHARS_MAX, Sight};

/// What a person wants remembered about a call.
#[derive(Debug, Clone, Copy)]
pub struct Remembering<'a> {
    pub decision: PermissionDecision,
    pub scope: RuleScope,
    /// Exactly this call when absent.
    pub pattern: Option<&'a str>,
}

/// The rule for a person's "always" in this Pod: this tool with exactly this argument in this folder.
pub fn remembered(
    cwd: &str,
    tool: &str,
    arguments: &Value,
    sight: Sight,
    decision: PermissionDecision,
) -> PermissionRule {
    Call::of(cwd, cwd, tool, arguments, sight).rule(decision)
}

/// The rule for what a person wants remembered.
///
/// # Errors
/// A sentence that says why the pattern cannot be used for this call.
pub fn rule_for(
    cwd: &str,
    tool: &str,
    arguments: &Value,
    sight: Sight,
    asked: Remembering<'_>,
) -> Result<PermissionRule, String> {
    let call = Call::of(cwd, cwd, tool, arguments, sight);
    let exact = call.rule(asked.decision);
    let folder = match asked.scope {
        RuleScope::Pod => exact.folder.clone(),
        RuleScope::Folder => Some(call.folder().to_owned()),
        RuleScope::Everywhere => None,
    };
    let Some(pattern) = asked.pattern else {
        // Elsewhere a relative path would mean another file.
        let whole = call.whole_path().filter(|_| asked.scope == RuleScope::Everywhere);
        let pattern = whole.map(pattern::of_text).or(exact.pattern);
        return Ok(PermissionRule { folder, pattern, ..exact });
    };
    check(pattern)?;
    let whole = everywhere(pattern, &call).filter(|_| asked.scope == RuleScope::Everywhere);
    let pattern = whole.as_deref().unwrap_or(pattern);
    // A rule that names a Pod keeps its id.
    let pod = exact.pod.filter(|_| pattern::exact(pattern) == exact.pattern.as_deref().and_then(pattern::exact));
    let rule = PermissionRule {
        tool: tool.to_owned(),
        pattern: Some(pattern.to_owned()),
        folder,
        pod,
        decision: asked.decision,
    };
    let is_loose = tool::facts(tool).subject == tool::Subject::Command && redirects_anywhere(pattern);
    match call.is_covered(&rule, cwd) && !is_loose {
        true => Ok(rule),
        false => Err(not_covered(tool, pattern)),
    }
}

/// A pattern of paths below a folder, with that folder. One that begins with a star is about files of any folder.
fn everywhere(pattern: &str, call: &Call<'_>) -> Option<String> {
    let is_below = call.whole_path().is_some() && !pattern.starts_with(['/', '*']);
    is_below.then(|| format!("{}/{pattern}", pattern::of_text(call.folder().trim_end_matches('/'))))
}

/// Whether a star stands for a file that a command is redirected to. Rules that you write yourself may say so; an answer
/// to a question may not.
fn redirects_anywhere(pattern: &str) -> bool {
    words::read_pattern(pattern).is_some_and(|line| line.is_redirected_anywhere())
}

fn check(pattern: &str) -> Result<(), String> {
    let length = pattern.chars().count();
    if pattern.trim().is_empty() {
        return Err("`pattern` is empty; leave it out for exactly this call, or `*` stands for every call".to_owned());
    }
    match length > RULE_PATTERN_CHARS_MAX {
        true => Err(format!("`pattern` has {length} characters; it has at most {RULE_PATTERN_CHARS_MAX}")),
        false => Ok(()),
    }
}

fn not_covered(tool: &str, pattern: &str) -> String {
    const QUOTED_CHARS_MAX: usize = 100;
    let quoted: String = pattern.chars().take(QUOTED_CHARS_MAX).collect();
    let why = match tool::facts(tool).subject {
        tool::Subject::Command => {
            "; each command of a line has to be covered, and no `*` covers a redirection or a substitution"
        }
        _ => "",
    };
    format!(
        "`pattern` \"{quoted}\" does not cover this call{why}; choose one of the question's `patterns`, or leave it out for exactly this call"
    )
}
