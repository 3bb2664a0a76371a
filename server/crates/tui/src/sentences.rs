//! The outcome of a command as one sentence for the last line.

use client::{ClientError, in_verbs};
use commands::PreviewAct;
use protocol::{
    ApiError, ApprovalCommand, Candidate, ControlVerb, Decision, ErrorCode, HeldDecision, NetworkPolicy, PeerLink,
    PodName, Preview, RequestDecision, WorktreeVerb,
};
use transcript::words::auto_resume_words;

use crate::model::{Act, Answer, Notice, Then};

/// At most this many candidates are named.
const CANDIDATES_MAX: usize = 5;

/// The outcome of a command on the Pod of this name.
pub(crate) fn of_act(name: &str, act: &Act, done: &Result<Answer, ClientError>) -> Notice {
    let (text, is_error) = match done {
        Ok(Answer::NotSteered { why, .. }) => {
            (format!("not sent; it is back in your message: {}", of_error(why)), true)
        }
        Ok(Answer::Tool(answer)) if answer.is_error => (format!("failed: {}", answer.summary), true),
        Ok(answer) => (success(name, act, answer), false),
        Err(error) => (failure(name, act, error), true),
    };
    Notice { text, is_error }
}

fn success(name: &str, act: &Act, answer: &Answer) -> String {
    match (act, answer) {
        (Act::Introduce(target), Answer::Peer(answer)) => introduced(name, target, answer.state),
        (Act::Introduce(target), _) => introduced(name, target, PeerLink::Linked),
        (Act::Unlink(target), _) => format!("{name} and {target} are no longer peers"),
        (Act::Control(ControlVerb::Compact), _) => format!("Compacting {name}"),
        (Act::Control(ControlVerb::Retry), _) => format!("asking the model of {name} again"),
        (Act::Control(verb), _) => format!("{name}: {} accepted", verb.as_str()),
        (Act::Commit(_), _) => format!("{name}: the changes are committed"),
        (Act::Worktree(command), _) => match command.verb {
            WorktreeVerb::Merge => format!("{name}: its branch is merged"),
            WorktreeVerb::Discard => format!("{name}: its work tree and its branch are removed"),
        },
        (Act::Rename(new), _) => format!("{name} renamed to {new}"),
        (Act::Model(model, _), _) => format!("{name} uses {model} from its next model call on"),
        (Act::Mode(mode), _) => format!("{name}: mode is {}", mode.replace('_', " ")),
        (Act::Think(level), _) => format!("{name}: thinking is {level} from its next model call on"),
        (Act::Budget(Some(budget)), _) => format!("{name} has a budget of {}, including its children", budget.words()),
        (Act::Budget(None), _) => format!("{name} has no budget"),
        (Act::AutoResume(is_on), _) => format!("{name} {}", auto_resume_words(*is_on)),
        (Act::Network(policy), _) => network(name, *policy),
        (Act::Preview(act), Answer::Previews(ports)) => previews(name, *act, ports),
        (Act::Preview(_), _) => format!("{name}: the preview is closed"),
        (Act::Delete(_), _) => format!("{name} deleted"),
        (Act::Answer { command, .. }, _) => match (command.decision, command.remember) {
            (Decision::Allow, false) => format!("{name}: allowed once"),
            (Decision::Allow, true) => format!("{name}: allowed, and always from now on: {}", always(command)),
            (Decision::Deny, _) => format!("{name}: denied"),
        },
        (Act::Decide { decision: RequestDecision::Accept, .. }, _) => format!("{name}: request accepted"),
        (Act::Decide { decision: RequestDecision::Decline, .. }, _) => format!("{name}: request declined"),
        (Act::Spawn(spawn), _) => format!("child {} of {name} started", spawn.name),
        (Act::Rewind(_), _) => format!("{name} rewound; the transcript keeps everything, dimmed"),
        (Act::Export(_), Answer::File(path)) => format!("transcript saved to {path}"),
        (Act::Own { .. }, _) => format!("sent to {name}"),
        (Act::StopJob(_), _) => format!("{name}: the background command is stopped"),
        (Act::StopRun, Answer::Stopped(back)) if !back.is_empty() => {
            format!("{name}: the run is stopped; queued messages are back in your message")
        }
        (Act::StopRun, _) => format!("{name}: the run is stopped"),
        (Act::TakeBack { then: Then::Edit, .. }, _) => {
            "taken back; when sent again, it goes to the end of the queue".to_owned()
        }
        (Act::TakeBack { then: Then::Forget, .. }, _) => "taken back; not sent".to_owned(),
        (Act::TakeBack { then: Then::Steer, .. }, _) => {
            format!("{name} reads it at its next model call, in the current run")
        }
        (Act::Held { decision: HeldDecision::Release, .. }, _) => "released".to_owned(),
        (Act::Held { decision: HeldDecision::Drop, .. }, _) => "dropped; it is not delivered".to_owned(),
        (Act::Export(_) | Act::Say(_), _) => format!("sent to {name}"),
    }
}

/// What "always" means: `cargo test *, everywhere`.
fn always(command: &ApprovalCommand) -> String {
    let calls = command.pattern.as_deref().unwrap_or("exactly this call");
    format!("{calls}, {}", command.scope.unwrap_or_default().words())
}

fn network(name: &str, policy: NetworkPolicy) -> String {
    match policy {
        NetworkPolicy::None => format!("commands of {name} have no network access"),
        NetworkPolicy::Ask => format!("commands of {name} ask for each host without a rule"),
        NetworkPolicy::Open => format!("commands of {name} have full network access"),
    }
}

fn previews(name: &str, act: PreviewAct, ports: &[Preview]) -> String {
    if let (PreviewAct::Open(port), Some(url)) = (act, ports.iter().find_map(|open| open.url.as_deref())) {
        return format!("port {port} of {name}, for one browser and one minute, also in your clipboard: {url}");
    }
    if ports.is_empty() {
        return format!("no command of {name} listens on a port; :preview PORT opens one beforehand");
    }
    let one = |port: &Preview| match (port.is_open, port.is_listening) {
        (true, true) => format!("{} (open)", port.port),
        (true, false) => format!("{} (open, nothing listens)", port.port),
        (false, _) => port.port.to_string(),
    };
    let list: Vec<String> = ports.iter().map(one).collect();
    format!("{name}: {}; :preview PORT opens one", list.join(", "))
}

fn introduced(name: &str, target: &str, link: PeerLink) -> String {
    match link {
        PeerLink::Linked => format!("{name} and {target} are peers"),
        PeerLink::Pending => format!("peer request sent to {target}; it has to be accepted there"),
        PeerLink::Declined => format!("peer request declined by {target}"),
        PeerLink::Expired => format!("peer request to {target} expired; send it again"),
        PeerLink::OneSided => {
            format!("{name} and {target}: one-sided, no messages get through: add the other server again, or :unpeer")
        }
    }
}

fn failure(name: &str, act: &Act, error: &ClientError) -> String {
    match (act, error) {
        (Act::Introduce(target), ClientError::Api(error)) => not_introduced(target, error),
        (Act::Introduce(_) | Act::Unlink(_), ClientError::NoServer { .. }) => {
            format!("no answer came, so it may or may not have been done; trying again is safe ({error})")
        }
        (Act::Rewind(_), ClientError::Api(error)) if error.code == ErrorCode::HeadMoved => {
            format!("{name} has moved on since you looked, so nothing was rewound; :rewind looks again")
        }
        (Act::TakeBack { .. }, ClientError::Api(error)) if error.code == ErrorCode::AlreadyAnswered => {
            "too late: the model has already read it".to_owned()
        }
        (_, ClientError::Api(error)) => of_refusal(error),
        (_, error) => error.to_string(),
    }
}

/// Why two Pods did not become peers. Each cause has a sentence of its own that says what to do.
fn not_introduced(target: &str, error: &ApiError) -> String {
    let detail = detail(error);
    match error.code {
        ErrorCode::PodNotFound => match names(&error.candidates, false) {
            None => format!("no Pod is called \"{target}\"; :pods lists them all"),
            Some(names) => format!("no Pod is called \"{target}\"; did you mean {names}?"),
        },
        ErrorCode::AmbiguousName => match names(&error.candidates, true) {
            None => format!("several Pods are called \"{target}\"; write NAME@RUNTIME"),
            Some(names) => format!("several Pods are called \"{target}\": say which, {names}"),
        },
        ErrorCode::PeerSelf => "a Pod cannot be its own peer; choose another one".to_owned(),
        ErrorCode::PeerRefused => format!("refused, nothing was changed: {detail}"),
        ErrorCode::NotRestorable => format!("unreadable, nothing was changed: {detail}"),
        ErrorCode::RuntimeUnavailable => format!("unreachable, nothing was changed: {detail}"),
        ErrorCode::NotVisible => format!("not visible: {detail}"),
        ErrorCode::RuntimeNotFound => format!("no such runtime: {detail}"),
        _ => of_refusal(error),
    }
}

/// The server's own sentence, with the candidates that may have been meant.
pub(crate) fn of_refusal(error: &ApiError) -> String {
    let detail = detail(error);
    match names(&error.candidates, error.code == ErrorCode::AmbiguousName) {
        Some(names) if !error.candidates.iter().all(|known| error.detail.contains(known.name.as_str())) => {
            format!("{detail} ({names})")
        }
        _ => detail,
    }
}

/// The same wording as for client errors anywhere else.
pub(crate) fn of_error(error: &ClientError) -> String {
    match error {
        ClientError::Api(error) => of_refusal(error),
        error => error.to_string(),
    }
}

/// The refusal's detail, or its title if it has none.
fn detail(error: &ApiError) -> String {
    if error.detail.is_empty() { error.code.title().to_owned() } else { in_verbs(&error.detail) }
}

/// `bob, bobbin or rob`; with the runtime where the name alone is ambiguous.
fn names(candidates: &[Candidate], with_runtime: bool) -> Option<String> {
    let word = |candidate: &Candidate| match with_runtime {
        true => format!("{}@{}", candidate.name, candidate.pod.runtime_id),
        false => candidate.name.to_string(),
    };
    let mut words: Vec<String> = candidates.iter().take(CANDIDATES_MAX).map(word).collect();
    words.dedup();
    let last = words.pop()?;
    Some(if words.is_empty() { last } else { format!("{} or {last}", words.join(", ")) })
}

/// Parses a name, or returns why it is invalid.
pub(crate) fn name(text: &str) -> Result<PodName, String> {
    PodName::parse(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use protocol::PodRef;

    use super::*;

    fn refused(code: ErrorCode, detail: &str, candidates: &[(&str, &str)]) -> String {
        let candidates = candidates
            .iter()
            .map(|(name, pod)| Candidate { pod: pod.parse::<PodRef>().unwrap(), name: PodName::parse(name).unwrap() })
            .collect();
        let error = ClientError::Api(ApiError::new(code, detail).with_candidates(candidates));
        let notice = of_act("ada", &Act::Introduce("bbo".into()), &Err(error));
        assert!(notice.is_error);
        notice.text
    }

    #[test]
    fn each_failure_to_add_a_peer_has_its_own_sentence() {
        use ErrorCode as E;
        let sentences = [
            refused(E::PodNotFound, "no Pod is called \"bbo\"", &[("bob", "local/1"), ("rob", "local/2")]),
            refused(E::PodNotFound, "no Pod is called \"bbo\"", &[]),
            refused(E::AmbiguousName, "two", &[("bbo", "local/1"), ("bbo", "box/2")]),
            refused(E::PeerSelf, "no", &[]),
            refused(E::PeerRefused, "bbo accepts no peers", &[]),
            refused(E::NotRestorable, "bbo's record is damaged", &[]),
            refused(E::RuntimeUnavailable, "box does not answer", &[]),
            refused(E::NotVisible, "there is no such Pod for you", &[]),
        ];
        assert_eq!(
            sentences,
            [
                "no Pod is called \"bbo\"; did you mean bob or rob?",
                "no Pod is called \"bbo\"; :pods lists them all",
                "several Pods are called \"bbo\": say which, bbo@local or bbo@box",
                "a Pod cannot be its own peer; choose another one",
                "refused, nothing was changed: bbo accepts no peers",
                "unreadable, nothing was changed: bbo's record is damaged",
                "unreachable, nothing was changed: box does not answer",
                "not visible: there is no such Pod for you",
            ]
        );
    }

    #[test]
    fn a_link_a_request_and_an_unknown_end_read_differently() {
        let act = Act::Introduce("bob".into());
        let answer = |state| {
            let pod = |worker: &str| format!("local/{worker}").parse().unwrap();
            Answer::Peer(protocol::PeerAnswer { source: pod("1"), peer: pod("2"), state, request_id: None })
        };
        assert_eq!(of_act("ada", &act, &Ok(answer(PeerLink::Linked))).text, "ada and bob are peers");
        assert!(of_act("ada", &act, &Ok(answer(PeerLink::Pending))).text.starts_with("peer request sent to bob"));
        let lost = ClientError::NoServer { address: "http://x".into(), cause: "reset".into() };
        assert!(of_act("ada", &act, &Err(lost)).text.contains("may or may not have been done"));
    }

    #[test]
    fn candidates_are_added_where_the_sentence_does_not_name_them() {
        let pod: PodRef = "local/1".parse().unwrap();
        let name = PodName::parse("bob").unwrap();
        let error = |detail: &str| {
            let candidates = vec![Candidate { pod: pod.clone(), name: name.clone() }];
            of_refusal(&ApiError::new(ErrorCode::PodNotFound, detail).with_candidates(candidates))
        };
        assert_eq!(error("no Pod is called \"bbo\""), "no Pod is called \"bbo\" (bob)");
        assert_eq!(error("no bbo; did you mean \"bob\"?"), "no bbo; did you mean \"bob\"?");
        assert_eq!(of_refusal(&ApiError::new(ErrorCode::Busy, "")), "The Pod is busy");
    }
}
