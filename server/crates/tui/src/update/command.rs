//! Enter in the line that began with a colon.

use commands::{Command, Page};
use protocol::{
    Access, ApprovalCommand, CommandId, ControlVerb, Decision, InputCommand, PodRef, RewindCommand, ScopeRule, Segment,
    Seq,
};
use transcript::BlockKind;

use super::{close, queue, sheets};
use crate::{
    model::{Act, Confirm, Effect, Model, Spawn},
    sentences,
    wrap::fit,
};

/// So much of the message that a rewind goes back to is quoted.
const QUOTE_COLUMNS: usize = 30;

pub(super) fn run(model: &mut Model, line: &str) -> Vec<Effect> {
    match commands::parse(line, model.here()) {
        Ok(command) => obey(model, command),
        Err(sentence) => {
            model.complain(sentence);
            Vec::new()
        }
    }
}

fn obey(model: &mut Model, command: Command) -> Vec<Effect> {
    match command {
        Command::Quit => model.has_quit = true,
        Command::New(name) => return vec![Effect::Create { command_id: CommandId::random(), name }],
        Command::Open(target) => return vec![Effect::Resolve(target)],
        Command::Go(page) => return go(model, page),
        Command::Help(topic) => sheets::open_help(model, topic),
        Command::Walls => return sheets::open_walls(model),
        Command::Search(words) if words.is_empty() => model.complain(":search needs words after it"),
        Command::Search(words) => return sheets::search(model, words),
        Command::Peer(target) if target.is_empty() => model.complain(":peer needs a name after it"),
        command => return of_pod(model, command),
    }
    Vec::new()
}

/// Commands that `parse` lets through only with a Pod.
fn of_pod(model: &mut Model, command: Command) -> Vec<Effect> {
    let Some(open) = &model.open else {
        model.complain(commands::NOT_ATTACHED);
        return Vec::new();
    };
    let pod = open.pod.clone();
    match command {
        Command::Control(ControlVerb::Compact) => {
            model.tell("checking what would be compacted");
            vec![Effect::Preview(pod)]
        }
        Command::Control(verb) => vec![Effect::act(pod, Act::Control(verb))],
        Command::Peer(target) => vec![Effect::act(pod, Act::Introduce(target))],
        Command::Unpeer(target) => vec![Effect::act(pod, Act::Unlink(target))],
        Command::Rename(name) => checked(model, sentences::name(&name).map(|name| Effect::act(pod, Act::Rename(name)))),
        Command::Network(policy) => vec![Effect::act(pod, Act::Network(policy))],
        Command::Preview(act) => vec![Effect::act(pod, Act::Preview(act))],
        Command::Delete(name) => delete(model, name),
        Command::Answer(said) => answer(model, said),
        Command::Rewind => rewind(model),
        Command::Spawn(text) => spawn(model, &text),
        Command::Send(text) => say(pod, text, false),
        Command::Steer(text) => say(pod, text, true),
        Command::Queue => {
            sheets::open_queue(model);
            Vec::new()
        }
        Command::TakeBack => queue::take_back_newest(model),
        Command::Held(decision) => queue::decide_oldest(model, decision),
        Command::Export => {
            let name = model.name_of(&pod);
            vec![Effect::act(pod, Act::Export(name))]
        }
        _ => Vec::new(),
    }
}

fn say(pod: PodRef, text: String, steer: bool) -> Vec<Effect> {
    let input = InputCommand { segments: vec![Segment::text(text)], queue: true, steer };
    vec![Effect::act(pod, Act::Say(input))]
}

fn checked(model: &mut Model, effect: Result<Effect, String>) -> Vec<Effect> {
    match effect {
        Ok(effect) => vec![effect],
        Err(sentence) => {
            model.complain(sentence);
            Vec::new()
        }
    }
}

fn go(model: &mut Model, page: Page) -> Vec<Effect> {
    match page {
        Page::Pods => {
            model.sheet = None;
            close(model)
        }
        Page::Approvals => sheets::open_inbox(model),
        // `parse` gives the others to the browser alone.
        page => {
            model.complain(format!("{} are only in the browser", page.title()));
            Vec::new()
        }
    }
}

fn delete(model: &mut Model, name: String) -> Vec<Effect> {
    let Some(open) = &model.open else { return Vec::new() };
    let own = model.name_of(&open.pod);
    let pod = open.pod.clone();
    if own != name {
        model.complain(format!("this Pod is {own}; `:delete {own}` asks whether to delete it"));
        return Vec::new();
    }
    let question =
        format!("delete {own} with its whole transcript? This cannot be undone. y confirms, any other key cancels");
    model.confirm = Some(Confirm { question, effect: Effect::act(pod, Act::Delete(name)) });
    Vec::new()
}

/// Answers the oldest open question of the open Pod.
pub(super) fn answer(model: &mut Model, said: commands::Answer) -> Vec<Effect> {
    let asked = model.open.as_ref().and_then(|open| {
        let question = open.transcript.open_questions().next()?;
        let BlockKind::Approval { approval_id, .. } = &question.kind else { return None };
        Some((open.pod.clone(), approval_id.clone()))
    });
    match asked {
        Some((pod, approval)) => vec![Effect::act(pod, Act::Answer { approval, command: said_as(said) })],
        None => {
            model.complain("it has no pending approval");
            Vec::new()
        }
    }
}

pub(super) fn said_as(said: commands::Answer) -> ApprovalCommand {
    let (decision, remember, reason) = match said {
        commands::Answer::Once => (Decision::Allow, false, None),
        commands::Answer::Always => (Decision::Allow, true, None),
        commands::Answer::Deny(reason) => (Decision::Deny, false, Some(reason).filter(|reason| !reason.is_empty())),
    };
    ApprovalCommand { decision, remember, reason }
}

/// Back to before the newest message that the model still has. Done after a `y`, and only on the head of now.
fn rewind(model: &mut Model) -> Vec<Effect> {
    let Some(open) = &model.open else { return Vec::new() };
    let rewinds = open.transcript.rewinds();
    let newest = open.transcript.blocks().iter().rev().find_map(|block| match &block.kind {
        BlockKind::Person { segments, .. } if !block.is_rewound(rewinds) => Some((block.seq, segments.clone())),
        BlockKind::Peer { text, .. } if !block.is_rewound(rewinds) => Some((block.seq, vec![Segment::text(text)])),
        _ => None,
    });
    let Some((seq, segments)) = newest else {
        model.complain("no loaded message to rewind to");
        return Vec::new();
    };
    let words = Segment::join(&segments);
    let command = RewindCommand { to_seq: Seq(seq.0 - 1), expected_head: open.transcript.head() };
    let question = format!("rewind to before \"{}\"? y confirms, any other key cancels", fit(&words, QUOTE_COLUMNS));
    let effect = Effect::act(open.pod.clone(), Act::Rewind(command));
    model.confirm = Some(Confirm { question, effect });
    Vec::new()
}

/// `NAME [read=PATH]… [write=PATH]… TASK…`. Without a path the child may read what lies in its parent's folder.
fn spawn(model: &mut Model, text: &str) -> Vec<Effect> {
    let Some(open) = &model.open else { return Vec::new() };
    let mut words = text.split_whitespace();
    let name = words.next().unwrap_or_default();
    let (mut scope, mut task) = (Vec::new(), Vec::new());
    for word in words {
        match word.split_once('=').filter(|_| task.is_empty()) {
            Some(("read", path)) => scope.push(rule(path, Access::Read)),
            Some(("write", path)) => scope.push(rule(path, Access::Write)),
            _ => task.push(word),
        }
    }
    if scope.is_empty()
        && let Some(summary) = model.summary_of(&open.pod)
    {
        scope.push(rule(&summary.cwd, Access::Read));
    }
    let (pod, task) = (open.pod.clone(), task.join(" "));
    checked(
        model,
        match sentences::name(name) {
            Ok(name) if !task.is_empty() => {
                Ok(Effect::act(pod, Act::Spawn(Spawn { name: name.to_string(), task, scope })))
            }
            Ok(_) => Err(":spawn also needs a task: `:spawn NAME [read=PATH] [write=PATH] TASK`".to_owned()),
            Err(sentence) => Err(format!("{sentence}; `:spawn NAME [read=PATH] [write=PATH] TASK`")),
        },
    )
}

fn rule(path: &str, access: Access) -> ScopeRule {
    ScopeRule { path: path.to_owned(), access, recursive: true }
}
