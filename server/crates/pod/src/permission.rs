//! Which tool calls are allowed: the first rule that matches decides.

mod address;
mod call;
mod command;
mod pattern;
mod public;
mod spelling;
mod warning;
mod words;

use protocol::{
    PermissionDecision, PermissionRule,
    tool::{self, Subject},
};
use serde_json::Value;

use self::call::Call;
pub use self::{
    address::HostPort,
    call::{call_folder, names_a_pod},
    public::is_public,
    warning::rule_warnings,
};
use crate::{PodSpec, Sight};

/// The decision of a Pod's rules and its ancestors' about one call: the strictest wins. If no rule matches, the call's
/// default applies, from the table of tools ([`protocol::tool`]).
pub fn permission(spec: &PodSpec, tool: &str, arguments: &Value) -> PermissionDecision {
    let sight = spec.sights.of(tool, arguments);
    let judged = |from: &str, rules: &[PermissionRule]| {
        let rules = rules.iter().chain(spec.server_rules.iter());
        decision(rules, from, &Call::of(&spec.cwd, from, tool, arguments, sight.clone()))
    };
    let own = judged(&spec.cwd, &spec.permissions);
    let decided = match &spec.leaders {
        Some(leaders) => leaders
            .iter()
            .map(|leader| judged(&leader.cwd, &leader.permissions))
            .fold(own, PermissionDecision::stricter),
        None => spec.ceilings.iter().map(|rules| judged(&spec.cwd, rules)).fold(own, PermissionDecision::stricter),
    };
    match decided {
        PermissionDecision::Allow if is_command(tool) && spec.shell_is_unconfined => PermissionDecision::Ask,
        PermissionDecision::Allow if sight.is_changed => PermissionDecision::Ask,
        decided => decided,
    }
}

/// True if there is a rule about this tool, so that more has to be found out about its calls.
pub fn has_rules(spec: &PodSpec, tool: &str) -> bool {
    let leaders = spec.leaders.iter().flatten().map(|leader| &leader.permissions);
    let all = std::iter::once(&spec.permissions).chain(&spec.ceilings).chain(leaders).flatten();
    all.chain(spec.server_rules.iter()).any(|rule| rule.tool == tool)
}

/// The rule for a person's "always allow": this tool with exactly this argument in this folder.
pub fn remembered(
    cwd: &str,
    tool: &str,
    arguments: &Value,
    sight: Sight,
    decision: PermissionDecision,
) -> PermissionRule {
    Call::of(cwd, cwd, tool, arguments, sight).rule(decision)
}

/// Each of several commands is decided on by the first rule that matches it; the strictest decision wins.
fn decision<'a>(
    rules: impl Iterator<Item = &'a PermissionRule> + Clone,
    from: &str,
    call: &Call<'_>,
) -> PermissionDecision {
    let first = |part: usize| rules.clone().find(|rule| call.is_meant(part, rule, from)).map(|rule| rule.decision);
    let parts = (0..call.parts()).map(|part| first(part).unwrap_or(call.default));
    parts.reduce(PermissionDecision::stricter).unwrap_or(call.default)
}

fn is_command(tool: &str) -> bool {
    tool::facts(tool).subject == Subject::Command
}

/// The decision for a call that no rule covers, unless its tool says otherwise.
pub fn default_permission(tool: &str) -> PermissionDecision {
    tool::facts(tool).default
}

/// The argument that patterns are matched against, and that identifies a call in one line.
pub fn main_argument<'a>(tool: &str, arguments: &'a Value) -> &'a str {
    arguments.get(tool::facts(tool).subject.argument()).and_then(Value::as_str).unwrap_or_default()
}
