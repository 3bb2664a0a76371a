//! Which tool calls are allowed: rules decide, then the Pod's mode, then the tool's own default.

mod address;
mod call;
mod command;
mod mode;
mod offer;
mod pattern;
mod public;
mod remember;
mod setters;
mod spelling;
mod warning;
mod words;

use protocol::{
    Mode, PermissionDecision, PermissionRule,
    tool::{self, Subject},
};
use serde_json::Value;

use self::call::Call;
pub use self::{
    address::HostPort,
    call::{call_folder, names_a_pod},
    offer::{Offer, offers, would_allow},
    public::is_public,
    remember::{Remembering, remembered, rule_for},
    warning::rule_warnings,
};
use crate::{PodSpec, Sight};

/// What happens with a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Allow,
    /// A person is asked.
    Ask,
    Deny(Denial),
}

/// Why a call is not made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Denial {
    Rule,
    /// The Pod, or one that leads it, is in plan mode.
    Plan,
    /// It would fail whatever a person answered; the sentence says why.
    Cannot(String),
}

impl Denial {
    /// What the model is told.
    pub fn sentence(&self, tool: &str) -> String {
        match self {
            Self::Rule => format!("a rule of this Pod denies {tool}"),
            Self::Plan => format!(
                "this Pod is in plan mode, so {tool} is not carried out: nothing is written and no command is run; read and \
                 search, then answer with your plan, and a person can choose another mode"
            ),
            Self::Cannot(sentence) => sentence.clone(),
        }
    }
}

impl PodSpec {
    /// What it does without asking: the least of its own mode and its ancestors'.
    pub fn mode_now(&self) -> Mode {
        self.leaders.iter().flatten().map(|leader| leader.mode).fold(self.mode, Mode::min)
    }
}

/// Decides on one call, by the rules and modes of a Pod and its ancestors: the strictest wins.
pub fn verdict(spec: &PodSpec, tool: &str, arguments: &Value) -> Verdict {
    let sight = spec.sights.of(tool, arguments);
    let decided = by_all(spec, tool, arguments, &sight, |mode| mode);
    if decided == PermissionDecision::Deny {
        return Verdict::Deny(Denial::Rule);
    }
    if tool::work(tool).writes() && spec.mode_now() == Mode::Plan {
        return Verdict::Deny(Denial::Plan);
    }
    let needs_a_person = (is_command(tool) && spec.shell_is_unconfined) || sight.is_changed;
    match (decided, sight.cannot) {
        (PermissionDecision::Allow, _) if !needs_a_person => Verdict::Allow,
        (_, Some(sentence)) => Verdict::Deny(Denial::Cannot(sentence)),
        (_, None) => Verdict::Ask,
    }
}

/// [`verdict`], without the reason.
pub fn permission(spec: &PodSpec, tool: &str, arguments: &Value) -> PermissionDecision {
    match verdict(spec, tool, arguments) {
        Verdict::Allow => PermissionDecision::Allow,
        Verdict::Ask => PermissionDecision::Ask,
        Verdict::Deny(_) => PermissionDecision::Deny,
    }
}

/// Whether a rule denies the call, whatever mode the Pod is in: rules bind a person too.
pub fn is_denied(spec: &PodSpec, tool: &str, arguments: &Value) -> bool {
    let sight = spec.sights.of(tool, arguments);
    by_all(spec, tool, arguments, &sight, |_| Mode::Ask) == PermissionDecision::Deny
}

/// The strictest decision of a Pod and its ancestors. `meant` is the mode that counts for a mode.
fn by_all(
    spec: &PodSpec,
    tool: &str,
    arguments: &Value,
    sight: &Sight,
    meant: impl Fn(Mode) -> Mode,
) -> PermissionDecision {
    let judged = |from: &str, rules: &[PermissionRule], mode: Mode| {
        let call = Call::of(&spec.cwd, from, tool, arguments, sight.clone());
        let usual = mode::usual(meant(mode), spec, tool, sight, call.default);
        decision(spec, rules, from, &call, usual)
    };
    let own = judged(&spec.cwd, &spec.permissions, spec.mode);
    match &spec.leaders {
        Some(leaders) => leaders
            .iter()
            .map(|leader| judged(&leader.cwd, &leader.permissions, leader.mode))
            .fold(own, PermissionDecision::stricter),
        None => spec
            .ceilings
            .iter()
            .map(|rules| judged(&spec.cwd, rules, spec.mode))
            .fold(own, PermissionDecision::stricter),
    }
}

/// True if there is a rule about this tool, so that more has to be found out about its calls.
pub fn has_rules(spec: &PodSpec, tool: &str) -> bool {
    let leaders = spec.leaders.iter().flatten().map(|leader| &leader.permissions);
    let all = std::iter::once(&spec.permissions).chain(&spec.ceilings).chain(leaders).flatten();
    all.chain(spec.shared_rules.iter()).chain(spec.server_rules.iter()).any(|rule| rule.tool == tool)
}

/// Each of several commands is decided on by itself; the strictest decision wins. Within a list the first rule that
/// matches counts; a deny of any list counts before the others, then the nearest list: the Pod's, its folder's, the
/// server's, the configuration's.
fn decision(
    spec: &PodSpec,
    rules: &[PermissionRule],
    from: &str,
    call: &Call<'_>,
    usual: PermissionDecision,
) -> PermissionDecision {
    let one = |part: usize| {
        let means = |rule: &&PermissionRule| call.is_meant(part, rule, from);
        let shared = |has_folder: bool| {
            spec.shared_rules.iter().filter(move |rule| rule.folder.is_some() == has_folder).find(means)
        };
        let lists = [rules.iter().find(means), shared(true), shared(false)];
        let is_denied = lists.iter().flatten().any(|rule| rule.decision == PermissionDecision::Deny);
        if is_denied {
            return PermissionDecision::Deny;
        }
        let nearest = lists.into_iter().flatten().next().or_else(|| spec.server_rules.iter().find(means));
        nearest.map_or(usual, |rule| rule.decision)
    };
    (0..call.parts()).map(one).reduce(PermissionDecision::stricter).unwrap_or(usual)
}

fn is_command(tool: &str) -> bool {
    tool::facts(tool).subject == Subject::Command
}

/// The decision for a call that no rule covers, unless its tool or the Pod's mode says otherwise.
pub fn default_permission(tool: &str) -> PermissionDecision {
    tool::facts(tool).default
}

/// The argument that patterns are matched against, and that identifies a call in one line.
pub fn main_argument<'a>(tool: &str, arguments: &'a Value) -> &'a str {
    arguments.get(tool::facts(tool).subject.argument()).and_then(Value::as_str).unwrap_or_default()
}
