//! Handles Enter in a line that began with a colon.

use commands::{
    Command, Page,
    said::{NO_APPROVAL, not_its_name},
};
use protocol::{
    Access, ApprovalCommand, CommandId, CommitCommand, ControlVerb, CreatePod, Decision, InputCommand, PodRef,
    RewindCommand, ScopeRule, Segment, Seq, WorktreeCommand,
};
use transcript::BlockKind;

use super::{choices, close, jobs, queue, sheets};
use crate::{
    form, making,
    model::{Act, Confirm, Effect, Model, Spawn},
    sentences,
    view::FIRST_NAME,
    wrap::fit,
};

/// How much of the message that a rewind goes back to is quoted.
const QUOTE_COLUMNS: usize = 30;
const SPAWN: &str = ":spawn NAME [read=PATH] [write=PATH] TASK";

pub(super) fn run(model: &mut Model, line: &str) {
    if let Some((pod, name, words)) = prompt_in(model, line) {
        model.tell(format!("asking for {name}"));
        return model.start(Effect::MakePrompt { pod, name, words });
    }
    match commands::parse(line, model.here()) {
        Ok(command) => obey(model, command),
        Err(sentence) => match (commands::own_word(line), model.open.as_ref().map(|open| open.pod.clone())) {
            (Some((name, arguments)), Some(pod)) => model.act(pod, Act::Own { name, arguments }),
            _ => model.complain(sentence),
        },
    }
}

/// A line that names a prompt of one of the open Pod's MCP servers, `:SERVER__prompt`, and what follows.
fn prompt_in(model: &Model, line: &str) -> Option<(PodRef, String, String)> {
    let line = line.trim().trim_start_matches(':');
    let (name, words) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let pod = model.open.as_ref()?.pod.clone();
    name.contains("__").then(|| (pod, name.to_owned(), words.trim().to_owned()))
}

fn obey(model: &mut Model, command: Command) {
    match command {
        Command::Quit => model.has_quit = true,
        Command::New(text) => make(model, &text),
        Command::Import(text) => import(model, &text),
        Command::Open(target) => model.start(Effect::Resolve(target)),
        Command::Go(page) => go(model, page),
        Command::Help(topic) => sheets::open_help(model, topic),
        Command::Walls => sheets::open_walls(model),
        Command::Providers => choices::open_providers(model),
        Command::Key { provider, base_url } => choices::ask_key(model, provider, base_url),
        Command::Servers => sheets::open_servers(model),
        Command::Search(words) if words.is_empty() => model.complain(":search needs words after it"),
        Command::Search(words) => sheets::search(model, words),
        Command::Peer(target) if target.is_empty() => model.complain(":peer needs a name after it"),
        command => match model.open.as_ref().map(|open| open.pod.clone()) {
            Some(pod) => of_pod(model, pod, command),
            None => model.complain(commands::NOT_ATTACHED),
        },
    }
}

fn make(model: &mut Model, text: &str) {
    let started_in = model.choices.as_ref().and_then(|choices| choices.folder.as_deref());
    match making::read(text, started_in) {
        Ok(wanted) => create(model, wanted),
        Err(sentence) => model.complain(sentence),
    }
}

/// Makes a Pod with the history in a file.
fn import(model: &mut Model, text: &str) {
    let started_in = model.choices.as_ref().and_then(|choices| choices.folder.as_deref());
    match making::read_import(text, started_in) {
        Ok(importing) => {
            model.tell(format!("importing {}", importing.path));
            model.start(Effect::Import { command_id: CommandId::random(), importing });
        }
        Err(sentence) => model.complain(sentence),
    }
}

/// Makes the very first Pod, with the default model.
pub(super) fn begin(model: &mut Model) {
    if let Ok(name) = sentences::name(FIRST_NAME) {
        create(model, CreatePod::named(name));
    }
}

fn create(model: &mut Model, create: CreatePod) {
    model.start(Effect::Create { command_id: CommandId::random(), create: Box::new(create) });
}

/// Commands that `parse` accepts only with a Pod.
fn of_pod(model: &mut Model, pod: PodRef, command: Command) {
    let act = match command {
        Command::Control(ControlVerb::Compact) => {
            model.tell("checking what would be compacted");
            return model.start(Effect::Preview(pod));
        }
        Command::Fork(name) => return fork(model, pod, &name),
        Command::Delete(name) => return delete(model, pod, name),
        Command::Answer(said) => return answer(model, said),
        Command::Choose(id) => return choose(model, &id),
        Command::Fill(text) => return fill(model, &text),
        Command::Agent => return sheets::open_agent(model),
        Command::Changes(since) => return sheets::open_changes(model, pod, since),
        Command::Rewind => return rewind(model),
        Command::Queue => return sheets::open_queue(model),
        Command::Jobs => return jobs::open(model, pod),
        Command::Attach(path) => {
            model.tell(format!("attaching {path}"));
            // The facts about the model are needed to warn before a picture is sent that it cannot see.
            choices::load(model);
            return model.start(Effect::Attach { pod, path });
        }
        Command::TakeBack => return queue::take_back_newest(model),
        Command::Held(decision) => return queue::decide_oldest(model, decision),
        Command::Control(ControlVerb::Cancel) => return queue::stop_run(model),
        Command::Control(verb) => Ok(Act::Control(verb)),
        Command::Peer(target) => Ok(Act::Introduce(target)),
        Command::Unpeer(target) => Ok(Act::Unlink(target)),
        Command::Rename(name) => sentences::name(&name).map(Act::Rename),
        Command::Commit(message) => Ok(Act::Commit(CommitCommand { message, paths: None })),
        Command::Worktree(verb) => Ok(Act::Worktree(WorktreeCommand { verb, into: None, force: false })),
        Command::Network(policy) => Ok(Act::Network(policy)),
        Command::Model(Some((model, provider))) => Ok(Act::Model(model, provider)),
        Command::Mode(mode) => Ok(Act::Mode(mode)),
        Command::Think(level) => Ok(Act::Think(level)),
        Command::Budget(budget) => Ok(Act::Budget(budget)),
        Command::AutoResume(is_on) => Ok(Act::AutoResume(is_on)),
        Command::Preview(act) => Ok(Act::Preview(act)),
        Command::Spawn(text) => spawn(model, &pod, &text),
        Command::Send(text) => Ok(say(text, false)),
        Command::Steer(text) => Ok(say(text, true)),
        Command::Export => Ok(Act::Export(model.name_of(&pod))),
        _ => return,
    };
    match act {
        Ok(act) => model.act(pod, act),
        Err(sentence) => model.complain(sentence),
    }
}

/// Forks the Pod. The new Pod opens once it exists.
fn fork(model: &mut Model, pod: PodRef, name: &str) {
    match sentences::name(name) {
        Ok(name) => model.start(Effect::Fork { command_id: CommandId::random(), pod, name }),
        Err(sentence) => model.complain(sentence),
    }
}

fn say(text: String, steer: bool) -> Act {
    Act::Say(InputCommand { segments: vec![Segment::text(text)], queue: true, steer })
}

fn go(model: &mut Model, page: Page) {
    match page {
        Page::Pods => {
            model.sheet = None;
            close(model);
        }
        Page::Approvals => sheets::open_inbox(model),
        // `parse` accepts the others only in the browser.
        page => model.complain(format!("{} are only in the browser", page.title())),
    }
}

fn delete(model: &mut Model, pod: PodRef, name: String) {
    let own = model.name_of(&pod);
    if own != name {
        return model.complain(not_its_name(&own));
    }
    let question =
        format!("delete {own} with its whole transcript? This cannot be undone. y confirms, any other key cancels");
    model.confirm = Some(Confirm { question, effect: Effect::act(pod, Act::Delete(name)) });
}

/// Answers the oldest open approval of the open Pod.
pub(super) fn answer(model: &mut Model, said: commands::Answer) {
    let asked = model.open.as_ref().and_then(|open| {
        let question = open.transcript.open_questions().next()?;
        let BlockKind::Approval { approval_id, .. } = &question.kind else { return None };
        Some((open.pod.clone(), approval_id.clone()))
    });
    match asked {
        Some((pod, approval)) => model.act(pod, Act::Answer { approval, command: Box::new(said.into()) }),
        None => model.complain(NO_APPROVAL),
    }
}

/// Answers the oldest open question with one of the agent's own options.
fn choose(model: &mut Model, id: &str) {
    let question = model.open.as_ref().and_then(|open| {
        let question = open.transcript.open_questions().next()?;
        let BlockKind::Approval { approval_id, options, .. } = &question.kind else { return None };
        Some((open.pod.clone(), approval_id.clone(), options.clone()))
    });
    let Some((pod, approval, options)) = question else { return model.complain(NO_APPROVAL) };
    let Some(option) = options.iter().find(|option| option.id == id) else {
        let ids: Vec<_> = options.iter().map(|option| option.id.as_str()).collect();
        return model.complain(match ids.is_empty() {
            true => "this question has no options of its own; :allow or :deny".to_owned(),
            false => format!("it has no option \"{id}\"; there are {}", ids.join(", ")),
        });
    };
    let command = Box::new(ApprovalCommand::option(option));
    model.act(pod, Act::Answer { approval, command });
}

/// Answers the oldest open question, which is a form.
fn fill(model: &mut Model, text: &str) {
    let question = model.open.as_ref().and_then(|open| {
        let question = open.transcript.open_questions().next()?;
        let BlockKind::Approval { approval_id, arguments, .. } = &question.kind else { return None };
        // A question that a server asks in the middle of a call, and not a call with an argument of this name.
        let schema = arguments.get("schema").filter(|_| approval_id.contains(".ask"));
        Some((open.pod.clone(), approval_id.clone(), schema.cloned()))
    });
    let Some((pod, approval, schema)) = question else { return model.complain(NO_APPROVAL) };
    let Some(schema) = schema else { return model.complain("this question has no form; :allow or :deny") };
    match form::content(&schema, text) {
        Ok(content) => {
            let command = ApprovalCommand { content: Some(content), ..ApprovalCommand::once(Decision::Allow) };
            model.act(pod, Act::Answer { approval, command: Box::new(command) });
        }
        Err(sentence) => model.complain(sentence),
    }
}

/// Rewinds to before the newest message that is still in the context. Needs `y`, and the head as it is now.
fn rewind(model: &mut Model) {
    let Some(open) = &model.open else { return };
    let rewinds = open.transcript.rewinds();
    let newest = open.transcript.blocks().iter().rev().find_map(|block| match &block.kind {
        BlockKind::Person { segments, .. } if !block.is_rewound(rewinds) => Some((block.seq, segments.clone())),
        BlockKind::Peer { text, .. } if !block.is_rewound(rewinds) => Some((block.seq, vec![Segment::text(text)])),
        _ => None,
    });
    let Some((seq, segments)) = newest else { return model.complain("no loaded message to rewind to") };
    let words = Segment::join(&segments);
    let command = RewindCommand::context(Seq(seq.0 - 1), open.transcript.head());
    let question = format!("rewind to before \"{}\"? y confirms, any other key cancels", fit(&words, QUOTE_COLUMNS));
    let effect = Effect::act(open.pod.clone(), Act::Rewind(command));
    model.confirm = Some(Confirm { question, effect });
}

/// Parses `NAME [read=PATH]… [write=PATH]… TASK…`. Without a path the child may read its parent's folder.
fn spawn(model: &Model, pod: &PodRef, text: &str) -> Result<Act, String> {
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
        && let Some(summary) = model.summary_of(pod)
    {
        scope.push(rule(&summary.cwd, Access::Read));
    }
    let name = sentences::name(name).map_err(|sentence| format!("{sentence}; `{SPAWN}`"))?;
    if task.is_empty() {
        return Err(format!(":spawn also needs a task: `{SPAWN}`"));
    }
    Ok(Act::Spawn(Spawn { name: name.to_string(), task: task.join(" "), scope }))
}

fn rule(path: &str, access: Access) -> ScopeRule {
    ScopeRule { path: path.to_owned(), access, recursive: true }
}
