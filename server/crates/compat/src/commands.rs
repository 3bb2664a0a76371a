//! Commands, as far as an older Pod can carry them out.

use std::sync::Arc;

use jiff::Timestamp;
use protocol::{
    ApiError, CommandId, ControlVerb, ErrorCode, INPUT_BYTES_MAX, InputCommand, PeerAnswer, PeerLink, PodName,
    PodState, Receipt, Segment, Seq,
};
use runtime::Introduced;
use serde_json::Value;

use crate::{
    ask::{Answered, Ask},
    folder::Folder,
    listed::Listed,
    once::Failure,
    pod::Pod,
    translate::Sent,
    values,
};

/// The maximum number of files offered at once.
const FILES_MAX: usize = 100;
/// The longest path offered, in bytes.
const PATH_BYTES_MAX: usize = 4_096;

fn receipt(command_id: CommandId, seq: Seq) -> Receipt {
    Receipt { command_id, accepted_at: Timestamp::now(), seq, report: Vec::new() }
}

/// Sends an input. Older Pods have no queue, so an input during a run is refused, whatever its options.
pub(crate) async fn input(
    pod: Arc<Pod>,
    command_id: CommandId,
    by: String,
    input: InputCommand,
) -> Result<Receipt, Failure> {
    check(&input)?;
    let sent = Sent { segments: input.segments.clone(), command_id: command_id.clone(), by };
    match pod.ask(Ask::Run(input.segments), Some(sent)).await? {
        Answered::Yes(_, seq) => Ok(receipt(command_id, seq)),
        Answered::No { code, .. } if code == "already_running" => {
            let way_out = match input.queue || input.steer {
                true => ", and older Pods keep no queue; send it when the run has ended",
                false => "; wait, or pause it first",
            };
            Err(ApiError::new(ErrorCode::Busy, format!("pod \"{}\" is running{way_out}", pod.name)).into())
        }
        Answered::No { code, message } => Err(refused(&pod, &code, &message).into()),
    }
}

/// Checks that the input has content, of known kinds and limited size.
fn check(input: &InputCommand) -> Result<(), ApiError> {
    if input.steer {
        return Err(ApiError::invalid("an older Pod accepts nothing during a run; send it when the run has ended"));
    }
    if input.segments.iter().any(|segment| matches!(segment, Segment::Unknown(_))) {
        return Err(ApiError::invalid("a segment is of type text, paste or file_ref"));
    }
    if input.segments.iter().any(|segment| segment.blob().is_some()) {
        return Err(ApiError::invalid(
            "an older Pod accepts no pictures or files; name a file that it can read instead",
        ));
    }
    let is_blank = |segment: &Segment| match segment {
        Segment::FileRef { path } => path.trim().is_empty(),
        other => other.as_text().trim().is_empty(),
    };
    if input.segments.iter().all(is_blank) {
        return Err(ApiError::invalid("the message is empty; write something"));
    }
    let bytes = Segment::bytes(&input.segments);
    match bytes > INPUT_BYTES_MAX {
        true => Err(ApiError::input_too_large(bytes)),
        false => Ok(()),
    }
}

/// Pause, resume, cancel, stop, compact.
pub(crate) async fn control(pod: Arc<Pod>, command_id: CommandId, verb: ControlVerb) -> Result<Receipt, Failure> {
    let head = pod.journal.position().head;
    let ask = match verb {
        ControlVerb::Stop if pod.state() == PodState::Stopped => return Ok(receipt(command_id, head)),
        ControlVerb::Stop => Ask::Shutdown,
        ControlVerb::Pause => Ask::Pause,
        ControlVerb::Resume => Ask::Resume,
        ControlVerb::Cancel => Ask::Cancel,
        ControlVerb::Compact => Ask::Compact,
        ControlVerb::Restore => return Err(ApiError::invalid("restore is a command of its own").into()),
        ControlVerb::Retry => return Err(ApiError::invalid("older Pods cannot ask their model again").into()),
    };
    let (_, seq) = answer(&pod, ask).await?;
    Ok(receipt(command_id, seq))
}

/// Asks any live Pod to restore this one.
pub(crate) async fn restore(folder: Arc<Folder>, pod: Arc<Pod>, command_id: CommandId) -> Result<Receipt, Failure> {
    let head = pod.journal.position().head;
    if pod.is_reached() {
        return Ok(receipt(command_id, head));
    }
    let Some(helper) = folder.pods().into_iter().find(|other| other.is_reached()) else {
        let sentence = format!(
            "an older Pod is restored by another one, and none is reachable; start pod \"{}\" by hand",
            pod.name
        );
        return Err(ApiError::new(ErrorCode::RuntimeUnavailable, sentence).into());
    };
    match helper.ask(Ask::RestorePod(pod.name.to_string()), None).await? {
        Answered::Yes(..) => {
            folder.look().await;
            pod.poke.notify_one();
            Ok(receipt(command_id, head))
        }
        Answered::No { message, .. } => {
            let sentence = format!("pod \"{}\" cannot be restored: {}", pod.name, pod.scrub.said(&message));
            Err(ApiError::new(ErrorCode::NotRestorable, sentence).into())
        }
    }
}

/// Makes two Pods peers.
pub(crate) async fn introduce(pod: Arc<Pod>, peer: Arc<Pod>) -> Result<Introduced, Failure> {
    if pod.name == peer.name {
        let sentence = format!("pod \"{}\" cannot be its own peer", pod.name);
        return Err(ApiError::new(ErrorCode::PeerSelf, sentence).into());
    }
    match pod.ask(Ask::RegisterPeer(peer.name.to_string()), None).await? {
        Answered::Yes(..) => {
            let stood = !pod.add_peer(&peer.name);
            peer.add_peer(&pod.name);
            let (source, peer) = (pod.pod_ref(), peer.pod_ref());
            let answer = PeerAnswer { source, peer, state: PeerLink::Linked, request_id: None };
            Ok(Introduced { answer, stood })
        }
        Answered::No { message, .. } => {
            let sentence = format!("pod \"{}\" refused to be a peer: {}", pod.name, pod.scrub.said(&message));
            Err(ApiError::new(ErrorCode::PeerRefused, sentence).into())
        }
    }
}

/// The Pods that this one knows.
pub(crate) async fn listed(pod: &Pod) -> Result<Listed, ApiError> {
    let (data, _) = answer(pod, Ask::ListPods).await?;
    Ok(Listed::read(&data, &pod.scrub))
}

/// Paths that begin with `begun`; folders end in a slash.
pub(crate) async fn files(pod: &Pod, begun: &str) -> Result<Vec<String>, ApiError> {
    let (data, _) = answer(pod, Ask::Files(begun.to_owned())).await?;
    let path = |entry: &Value| {
        let value = values::text(entry, "value");
        let slash = if values::is_true(entry, "is_dir") && !value.ends_with('/') { "/" } else { "" };
        format!("{value}{slash}")
    };
    let found =
        values::list(&data, "entries").iter().map(path).filter(|path| (2..=PATH_BYTES_MAX).contains(&path.len()));
    Ok(found.take(FILES_MAX).collect())
}

/// Asks the Pod; returns its data and the journal's head, or its refusal with our codes.
async fn answer(pod: &Pod, ask: Ask) -> Result<(Value, Seq), Failure> {
    match pod.ask(ask, None).await? {
        Answered::Yes(data, seq) => Ok((data, seq)),
        Answered::No { code, message } => Err(refused(pod, &code, &message).into()),
    }
}

/// Converts an older Pod's refusal to our codes.
fn refused(pod: &Pod, code: &str, message: &str) -> ApiError {
    let name: &PodName = &pod.name;
    let why = pod.scrub.said(message);
    let (code, sentence) = match code {
        "already_running" => (ErrorCode::Busy, format!("pod \"{name}\" is running; pause or cancel it first")),
        "not_running" => (ErrorCode::NotRunning, format!("pod \"{name}\" is not running")),
        "not_paused" => (ErrorCode::NotPaused, format!("pod \"{name}\" is not paused")),
        "compact_failed" => (ErrorCode::ProviderError, format!("pod \"{name}\" could not compact its context: {why}")),
        _ => (ErrorCode::InvalidInput, format!("pod \"{name}\" does not take this: {why}")),
    };
    ApiError::new(code, sentence)
}
