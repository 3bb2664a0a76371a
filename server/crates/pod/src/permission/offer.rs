//! The meanings that "always" can have for a call, from exactly this call to every call of the tool.

use protocol::{
    PermissionDecision, PermissionRule,
    tool::{self, Subject},
};
use serde_json::Value;

use super::{call::Call, main_argument, pattern, warning::rule_warning, words};
use crate::Sight;

/// One meaning that "always" can have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    pub rule: PermissionRule,
    /// The rule's pattern.
    pub pattern: String,
    /// What it means, in words.
    pub label: String,
    /// What it allows beyond what it seems to.
    pub warning: Option<String>,
}

/// The meanings of "always allow" for this call in its Pod, the narrowest first. Each of them covers the call.
pub fn offers(cwd: &str, tool: &str, arguments: &Value, sight: Sight) -> Vec<Offer> {
    let call = Call::of(cwd, cwd, tool, arguments, sight);
    let exact = call.rule(PermissionDecision::Allow);
    let exactly = exact.pattern.clone().unwrap_or_default();
    let mut offers: Vec<Offer> = Vec::new();
    let wider = wider(cwd, tool, arguments, &exactly);
    for (pattern, label) in std::iter::once((exactly, this(tool).to_owned())).chain(wider) {
        let pod = exact.pod.clone().filter(|_| offers.is_empty());
        let rule = PermissionRule { pattern: Some(pattern.clone()), pod, ..exact.clone() };
        if call.is_covered(&rule, cwd) && offers.iter().all(|offer| offer.pattern != pattern) {
            offers.push(Offer { warning: rule_warning(&rule), rule, pattern, label });
        }
    }
    offers
}

/// Whether a rule would have allowed this call by itself.
pub fn would_allow(rule: &PermissionRule, cwd: &str, tool: &str, arguments: &Value, sight: Sight) -> bool {
    rule.decision == PermissionDecision::Allow && Call::of(cwd, cwd, tool, arguments, sight).is_covered(rule, cwd)
}

/// What exactly this call is called.
fn this(tool: &str) -> &'static str {
    match tool::facts(tool).subject {
        Subject::Command => "exactly this command",
        Subject::Path => "this file",
        Subject::Url => "this address",
        Subject::Host => "this host",
        Subject::Pod => "this Pod",
        _ => "exactly this call",
    }
}

/// Wider patterns with their labels, the narrowest first.
fn wider(cwd: &str, tool: &str, arguments: &Value, exactly: &str) -> Vec<(String, String)> {
    let every = |what: &str| ("*".to_owned(), what.to_owned());
    let given = main_argument(tool, arguments);
    match tool::facts(tool).subject {
        Subject::Command => {
            let begin = |words: usize| words::read(given).and_then(|line| line.general(words));
            let labelled = |pattern: String| {
                let label = format!("{} with any arguments", pattern.replace(" *", ""));
                (pattern, label)
            };
            let some = [2, 1].into_iter().filter_map(begin).map(labelled);
            some.chain([every(&format!("every call of {tool}"))]).collect()
        }
        Subject::Path => {
            let exact = pattern::exact(exactly).unwrap_or_default();
            let folder = match exact.rsplit_once('/') {
                Some(("", _)) => None,
                Some((folder, _)) => Some(folder.to_owned()),
                None => Some(cwd.to_owned()),
            };
            let folder =
                folder.map(|folder| (format!("{}/*", pattern::of_text(&folder)), format!("files in {folder}")));
            folder.into_iter().chain([every(&format!("every call of {tool}"))]).collect()
        }
        Subject::Url => {
            let host = url::Url::parse(given).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
            let host = host.and_then(|url| {
                let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
                let host = format!("{}{port}", url.host_str()?);
                Some((format!("{}://{host}/*", url.scheme()), format!("pages of {host}")))
            });
            host.into_iter().chain([every("every address")]).collect()
        }
        Subject::Host => {
            let domain = exactly.split_once('.').map(|(_, domain)| domain).filter(|domain| domain.contains('.'));
            domain.map(|domain| (format!("*.{domain}"), format!("hosts below {domain}"))).into_iter().collect()
        }
        _ => vec![every(&format!("every call of {tool}"))],
    }
}
