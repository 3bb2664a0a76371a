//! How an event of the conversation changes a Pod.

use protocol::{Seen, Seq, ToolBy, Trigger, TurnEvent};

use super::{blocks, mail};
use crate::{
    Pod,
    decide::HOOK,
    state::{
        BACKGROUND_MAX, BackgroundCall, BlockKind, Failing, OpenCall, PeerLetter, ReadOutput, SEEN_FILES_MAX, SeenFile,
    },
};

pub(super) fn turn(pod: &mut Pod, seq: Seq, event: &TurnEvent) {
    if let Some(run) = pod.run.as_mut().filter(|_| tells_run(event)) {
        run.bare_since = None;
    }
    if let Some(session) = pod.session.as_mut().filter(|_| is_said(event)) {
        session.heard_to = session.asked_to;
    }
    let cut_answer = pod.cut_answer;
    if ends_answer(event) {
        pod.cut_answer = None;
    }
    note_answer(pod, event);
    match event {
        TurnEvent::TextChunk { block, text } => blocks::grow(pod, seq, block, BlockKind::Text, text),
        TurnEvent::ReasoningChunk { block, text } => blocks::grow(pod, seq, block, BlockKind::Reasoning, text),
        TurnEvent::ToolArgsChunk { block, text, name } => {
            // Every open call belongs to the current answer: the next one is requested only when all have results.
            let open = pod.open_blocks.iter().filter(|open| matches!(open.kind, BlockKind::ToolArgs(_)));
            let index = pod.calls.len() + open.count();
            blocks::grow(pod, seq, block, BlockKind::ToolArgs(index), text);
            if let (Some(name), Some(open)) = (name, pod.open_blocks.iter_mut().find(|open| open.id == *block)) {
                open.name = Some(name.clone());
            }
        }
        TurnEvent::ToolOutputChunk { block, text } => blocks::grow(pod, seq, block, BlockKind::ToolOutput, text),
        TurnEvent::MessageFinished { block, .. } | TurnEvent::ReasoningFinished { block, .. } => {
            said(pod, seq, block);
            blocks::close(pod, block);
        }
        TurnEvent::ToolCalled { .. } => called(pod, event),
        TurnEvent::ToolFinished { call_id, block, by, seen, is_error, code, .. } => {
            blocks::close(pod, block);
            if !is_error {
                note_background(pod, call_id, *by);
            }
            // A call that did not run says nothing about how it would have ended.
            let has_failed = *is_error && !matches!(code.as_deref(), Some("cancelled" | "interrupted" | "limit"));
            count_failure(pod, call_id, has_failed);
            finished(pod, call_id, *by);
            if let Some(seen) = seen {
                saw(pod, *by, seen);
            }
        }
        TurnEvent::CommandEnded { call_id, by, .. } => {
            pod.background.retain(|command| command.call_id != *call_id);
            if *by == ToolBy::Model {
                mail::noted(pod);
            }
        }
        TurnEvent::UserMessage { by, .. } => user_message(pod, seq, by),
        TurnEvent::PeerMessage { message_id, from, hops, .. } => {
            let (message_id, from) = (message_id.clone(), from.clone());
            mail::letter(pod, PeerLetter { message_id, from, hops: *hops, seq });
        }
        TurnEvent::ChildEvent { .. } => mail::came_in(pod, Trigger::Child),
        TurnEvent::Compacted { .. } => {
            forget_context(pod);
            if let Some(run) = &mut pod.run {
                // Taking the message back would undo the summary.
                run.input_seq = None;
                // The model is asked next.
                pod.unread_mail = None;
            }
        }
        TurnEvent::Rewound { to_seq } => {
            // An answer that is only text has read no file, so everything seen is still in the context.
            let seen = (cut_answer == Some(to_seq.next())).then(|| std::mem::take(&mut pod.seen_files));
            forget_context(pod);
            pod.seen_files.extend(seen.into_iter().flatten());
            pod.unread_messages.retain(|letter| letter.seq <= *to_seq);
            pod.resumable = false;
        }
    }
}

fn user_message(pod: &mut Pod, seq: Seq, by: &str) {
    if let Some(run) = &mut pod.run {
        run.hook_turns += u32::from(by == HOOK);
        // A later message is not taken back together with the one that began the run.
        run.input_seq = run.is_fresh.then_some(seq);
    }
}

/// Notes whether the conversation ends with an answer.
fn note_answer(pod: &mut Pod, event: &TurnEvent) {
    match event {
        TurnEvent::MessageFinished { text, .. } if !text.is_empty() => pod.is_answered = !pod.has_late_mail,
        TurnEvent::UserMessage { .. } | TurnEvent::Compacted { .. } => {
            (pod.is_answered, pod.has_late_mail) = (false, false);
        }
        TurnEvent::ToolCalled { by: ToolBy::Model, .. }
        | TurnEvent::ToolFinished { by: ToolBy::Model, .. }
        | TurnEvent::CommandEnded { by: ToolBy::Model, .. }
        | TurnEvent::PeerMessage { .. }
        | TurnEvent::ChildEvent { .. }
        | TurnEvent::Rewound { .. } => pod.is_answered = false,
        _ => (),
    }
}

/// Whether this event shows in the context that its run has begun.
fn tells_run(event: &TurnEvent) -> bool {
    matches!(
        event,
        TurnEvent::UserMessage { .. }
            | TurnEvent::MessageFinished { .. }
            | TurnEvent::ReasoningFinished { .. }
            | TurnEvent::ToolCalled { by: ToolBy::Model, .. }
            | TurnEvent::ToolFinished { by: ToolBy::Model, .. }
    )
}

/// Whether the event shows that the agent has begun to answer.
fn is_said(event: &TurnEvent) -> bool {
    matches!(
        event,
        TurnEvent::TextChunk { .. }
            | TurnEvent::ReasoningChunk { .. }
            | TurnEvent::ToolCalled { agent_call_id: Some(_), .. }
    )
}

/// Whether this event goes after the newest text of the model, so that removing that text would remove it too.
fn ends_answer(event: &TurnEvent) -> bool {
    match event {
        TurnEvent::ToolCalled { by, .. } | TurnEvent::ToolFinished { by, .. } => *by == ToolBy::Model,
        TurnEvent::CommandEnded { by, .. } => *by == ToolBy::Model,
        TurnEvent::UserMessage { .. }
        | TurnEvent::PeerMessage { .. }
        | TurnEvent::ChildEvent { .. }
        | TurnEvent::Compacted { .. }
        | TurnEvent::Rewound { .. } => true,
        TurnEvent::TextChunk { .. }
        | TurnEvent::ReasoningChunk { .. }
        | TurnEvent::ToolArgsChunk { .. }
        | TurnEvent::ToolOutputChunk { .. }
        | TurnEvent::MessageFinished { .. }
        | TurnEvent::ReasoningFinished { .. } => false,
    }
}

/// The model has said something. If mail came in meanwhile, the mail stands before the end of it in the journal, and a
/// rewind to its beginning would drop the mail.
fn said(pod: &mut Pod, seq: Seq, block: &str) {
    let first = pod.open_blocks.iter().find(|open| open.id == block).map_or(seq, |open| open.first_seq);
    pod.cut_answer = pod.cut_answer.or(Some(first)).filter(|_| pod.unread_mail.is_none());
}

fn called(pod: &mut Pod, event: &TurnEvent) {
    let TurnEvent::ToolCalled { call_id, block, name, arguments, by, agent_call_id } = event else { return };
    blocks::close(pod, block);
    let calls = match by {
        ToolBy::Model => &mut pod.calls,
        ToolBy::Operator | ToolBy::Agent => &mut pod.operator_calls,
    };
    calls.push(OpenCall {
        call_id: call_id.clone(),
        block: block.clone(),
        name: name.clone(),
        arguments: arguments.clone(),
        is_agents: *by == ToolBy::Agent,
        is_allowed: false,
        began_at: None,
        wrote_at: None,
        agent_call_id: agent_call_id.clone(),
        granted: None,
    });
}

/// Notes the command that a call of Bash has left running.
fn note_background(pod: &mut Pod, call_id: &str, by: ToolBy) {
    let call = pod.calls.iter().chain(&pod.operator_calls).find(|call| call.call_id == call_id);
    if let Some(call) = call.filter(|call| call.name == "Bash" && call.arguments["background"] == true) {
        let command = call.arguments["command"].as_str().unwrap_or_default().to_owned();
        pod.background.push(BackgroundCall { call_id: call_id.to_owned(), command, by });
        let too_many = pod.background.len().saturating_sub(BACKGROUND_MAX);
        pod.background.drain(..too_many);
    }
}

/// Counts the same call with the same arguments failing in consecutive answers: the model is going in circles.
fn count_failure(pod: &mut Pod, call_id: &str, has_failed: bool) {
    let Some(call) = pod.calls.iter().find(|call| call.call_id == call_id) else { return };
    let Some(run) = &mut pod.run else { return };
    let is_it = |failing: &Failing| failing.name == call.name && failing.arguments == call.arguments;
    let round = run.rounds;
    run.failing = match run.failing.take() {
        Some(failing) if is_it(&failing) && !has_failed => None,
        Some(failing) if is_it(&failing) && failing.round == round => Some(failing),
        Some(failing) if is_it(&failing) => Some(Failing { times: failing.times + 1, round, ..failing }),
        _ if has_failed => {
            let (name, arguments) = (call.name.clone(), call.arguments.clone());
            Some(Failing { name, arguments, times: 1, round })
        }
        other => other,
    };
}

fn finished(pod: &mut Pod, call_id: &str, by: ToolBy) {
    pod.calls.retain(|call| call.call_id != call_id);
    pod.operator_calls.retain(|call| call.call_id != call_id);
    // An agent is not asked again: its turn continues.
    if by == ToolBy::Model && pod.calls.is_empty() && pod.session.is_none() {
        // The model is asked next, with everything that has come in.
        (pod.unread_mail, pod.has_late_mail) = (None, false);
        if let Some(run) = &mut pod.run {
            run.rounds += 1;
            run.overflows = 0;
        }
    }
}

fn saw(pod: &mut Pod, by: ToolBy, seen: &Seen) {
    match seen {
        Seen::File { path, sha256 } => {
            pod.seen_files.retain(|file| file.by != by || file.path != *path);
            pod.seen_files.push(SeenFile { by, path: path.clone(), sha256: sha256.clone() });
            let too_many = pod.seen_files.len().saturating_sub(SEEN_FILES_MAX);
            pod.seen_files.drain(..too_many);
        }
        Seen::Output { pod: child, seq } => {
            pod.read_outputs.retain(|read| read.pod != *child);
            pod.read_outputs.push(ReadOutput { pod: child.clone(), seq: *seq });
        }
    }
}

/// The model no longer has the contents of files in its context, and the overflow no longer applies.
fn forget_context(pod: &mut Pod) {
    pod.seen_files.clear();
    (pod.fits, pod.suspicion) = (None, None);
}
