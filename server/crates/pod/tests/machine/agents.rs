//! A Pod in which an agent answers: its turn takes the place of a model's answer.

use pod::{AGENT_WAY, AgentPiece, Effect, Input, PodSpec, Refusal, Stop, ToolOutcome, decide};
use protocol::{AgentOption, PodState};
use serde_json::json;

use crate::journal::{Journal, allow, answered, ask, ended, resume, submit, text};

fn spec() -> PodSpec {
    serde_json::from_value(json!({
        "provider": "acp", "model": "", "agent": "codex", "cwd": "/", "scope": [], "wake_on_peer": true,
        "permissions": [{ "tool": "search", "decision": "allow" }]
    }))
    .unwrap()
}

trait WithAgent {
    fn does(&mut self, input: Input) -> Result<Vec<Effect>, Refusal>;

    fn tells(&mut self, piece: AgentPiece) -> Vec<Effect>;
}

impl WithAgent for Journal {
    fn does(&mut self, input: Input) -> Result<Vec<Effect>, Refusal> {
        let decision = decide(&self.pod, &spec(), input)?;
        Ok(self.write(decision))
    }

    fn tells(&mut self, piece: AgentPiece) -> Vec<Effect> {
        self.does(Input::Agent(piece)).unwrap()
    }
}

fn started(resumed: bool) -> AgentPiece {
    let (agent, session_id) = ("codex".to_owned(), "s1".to_owned());
    AgentPiece::Started { agent, title: None, version: None, session_id, resumed }
}

/// Returns a Pod whose agent was sent a message.
fn prompted() -> Journal {
    let mut journal = Journal::default();
    assert_eq!(journal.does(submit()).unwrap(), [Effect::CallModel]);
    assert_eq!(journal.tells(started(false)), []);
    let to_seq = journal.pod.head;
    assert_eq!(journal.tells(AgentPiece::Ready { to_seq }), [Effect::Prompt], "it is sent once that is committed");
    journal
}

/// Returns the last record that the agent has begun to answer.
fn heard(journal: &Journal) -> bool {
    let session = journal.pod.session.clone().unwrap();
    session.heard_to == session.asked_to
}

fn asks(tool: &str) -> AgentPiece {
    let option = |id: &str, kind: &str| AgentOption { id: id.to_owned(), name: id.to_owned(), kind: kind.to_owned() };
    AgentPiece::Asked {
        ask: "1".to_owned(),
        id: "t1".to_owned(),
        tool: tool.to_owned(),
        arguments: json!({}),
        options: vec![option("yes", "allow_once"), option("no", "reject_once")],
    }
}

fn calls(tool: &str) -> AgentPiece {
    AgentPiece::Called { id: "t1".to_owned(), name: tool.to_owned(), arguments: json!({}) }
}

fn chosen(option: Option<&str>) -> Effect {
    Effect::AnswerAgent { ask: "1".to_owned(), option: option.map(str::to_owned) }
}

#[test]
fn an_agent_in_a_sandbox_asks_for_the_network_in_its_turn_and_only_then() {
    let way = || Input::WayOut { call_id: AGENT_WAY.into(), host: "a.example".into(), port: 443 };
    let let_out =
        |is_allowed| Effect::LetOut { call_id: AGENT_WAY.into(), host: "a.example".into(), port: 443, is_allowed };
    let mut journal = Journal::default();
    assert_eq!(journal.does(way()).unwrap(), [], "at rest nobody is asked");
    assert!(journal.pod.approvals.is_empty());
    // It may want its model before it has said anything.
    journal.does(submit()).unwrap();
    assert_eq!(journal.does(way()).unwrap(), []);
    let asked = journal.pod.approvals[0].clone();
    assert_eq!(
        (journal.pod.state, asked.tool.as_str(), asked.asker()),
        (PodState::Waiting, "Network", Some(AGENT_WAY))
    );
    assert_eq!(asked.arguments, json!({ "host": "a.example", "port": 443, "command": "codex" }));
    assert_eq!(journal.does(allow(&asked.id)).unwrap(), [let_out(true)]);
    assert_eq!(journal.pod.state, PodState::Running);

    // A restart and the end of the turn withdraw the question.
    journal.does(way()).unwrap();
    let mut restarted = journal.clone();
    restarted.crash();
    assert_eq!((restarted.pod.state, restarted.pod.approvals.len()), (PodState::Paused, 0));
    journal.tells(started(false));
    journal.tells(AgentPiece::Ended(Stop::EndTurn));
    assert_eq!((journal.pod.state, journal.pod.approvals.len()), (PodState::Idle, 0));
}

#[test]
fn a_question_of_an_agent_waits_in_its_turn_and_a_rule_answers_by_itself() {
    let mut journal = prompted();
    journal.tells(calls("execute"));
    assert_eq!(journal.tells(asks("execute")), []);
    assert_eq!((journal.pod.state, journal.pod.approvals[0].options.len()), (PodState::Waiting, 2));
    journal.does(text("while it waits")).unwrap();
    let id = journal.pod.approvals[0].id.clone();
    let Input::Answer { id, decision, by, reason, .. } = allow(&id) else { unreachable!() };
    let answer = Input::Answer { id, decision, by, reason, content: None, option: Some("yes".to_owned()) };
    assert_eq!(journal.does(answer).unwrap(), [chosen(Some("yes"))]);
    assert_eq!(journal.pod.state, PodState::Running);
    assert_eq!(journal.last("approval_answered")["option"], "yes");
    journal.tells(AgentPiece::Finished { id: "t1".to_owned(), outcome: ToolOutcome::done("done") });
    journal.tells(calls("search"));
    assert_eq!(journal.tells(asks("search")), [chosen(Some("yes"))]);
    journal.tells(AgentPiece::Ended(Stop::EndTurn));
    assert_eq!((journal.pod.state, journal.pod.calls.len()), (PodState::Idle, 0));
}

#[test]
fn what_was_sent_and_not_answered_is_sent_again_after_a_crash_and_what_was_begun_is_not() {
    let mut journal = prompted();
    assert!(!heard(&journal));
    journal.crash();
    assert_eq!((journal.pod.state, heard(&journal)), (PodState::Paused, false));
    assert_eq!(journal.does(resume()).unwrap(), [Effect::CallModel]);

    let mut journal = prompted();
    journal.does(text("I be")).unwrap();
    journal.crash();
    assert_eq!((journal.pod.state, heard(&journal)), (PodState::Paused, true));
}

#[test]
fn an_agent_that_is_lost_pauses_its_pod_and_its_questions_are_void() {
    let mut journal = prompted();
    journal.tells(calls("execute"));
    journal.tells(asks("execute"));
    journal.tells(AgentPiece::Lost("it was killed".to_owned()));
    assert_eq!((journal.pod.state, journal.pod.state_reason.as_deref()), (PodState::Paused, Some("it was killed")));
    assert!(journal.pod.approvals.is_empty() && journal.pod.calls.is_empty());
    assert_eq!(journal.last("run_finished")["outcome"], "interrupted");
    assert_eq!(journal.does(resume()).unwrap(), [Effect::CallModel]);
    journal.tells(started(true));
    assert_eq!(journal.pod.session.unwrap().id, "s1");
}

#[test]
fn what_an_agent_wants_of_yoi_goes_by_the_rules_and_what_comes_of_it_goes_back() {
    let wants = |name: &str| AgentPiece::Wants { id: "yoi-1".to_owned(), name: name.to_owned(), arguments: json!({}) };
    let mut journal = prompted();
    let effects = journal.tells(wants("Read"));
    assert!(matches!(&effects[..], [Effect::RunTool { name, .. }] if name == "Read"), "{effects:?}");
    let call_id = journal.last_call();
    let effects = journal.does(ended(&call_id, "seen")).unwrap();
    assert!(matches!(&effects[..], [Effect::Reply { id, outcome }] if id == "yoi-1" && outcome.summary == "seen"));
    assert_eq!(journal.pod.state, PodState::Running, "its turn goes on");

    let mut journal = prompted();
    assert_eq!(journal.tells(wants("Write")), []);
    let id = journal.pod.approvals[0].id.clone();
    let effects = journal.does(answered(&id, protocol::Decision::Deny)).unwrap();
    assert!(
        matches!(&effects[..], [Effect::Reply { id, outcome }] if id == "yoi-1" && outcome.is_error),
        "{effects:?}"
    );
}

#[test]
fn a_plan_and_a_mode_are_in_no_context_and_the_context_is_the_agents_own() {
    let mut journal = prompted();
    journal.does(text("hi")).unwrap();
    journal.tells(AgentPiece::Ended(Stop::EndTurn));
    let before = journal.said();
    journal.does(ask("more")).unwrap();
    let entries = json!([{ "content": "look", "priority": "high", "status": "pending" }]);
    for piece in [AgentPiece::Plan(entries.clone()), AgentPiece::Mode("code".to_owned())] {
        journal.tells(piece.clone());
        let head = journal.pod.head;
        journal.tells(piece);
        assert_eq!(journal.pod.head, head, "what is said twice is recorded once");
    }
    journal.tells(AgentPiece::Ended(Stop::EndTurn));
    assert_eq!(journal.said(), [before, vec!["user: more".to_owned()]].concat());
    assert_eq!(journal.pod.session.as_ref().unwrap().plan, entries);
    let retry = Input::Retry { command_id: protocol::CommandId::parse("again").unwrap(), is_unanswered: true };
    for refused in [Input::Compact, retry] {
        assert_eq!(journal.does(refused).unwrap_err(), Refusal::OwnContext);
    }
}
