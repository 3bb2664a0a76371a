//! How an older Pod handles requests.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::time::sleep;

use super::{Asked, OlderPod, Shared, line_of, words};

/// In place of an event: closes all connections.
pub(super) const HANG_UP: &str = "hang up";
/// The time between `shutdown` and the end.
const LAST_WORDS: Duration = Duration::from_millis(20);

/// Handles one line; what it returns goes to this client alone, everything else to all clients.
pub(super) fn take(pod: &Arc<Shared>, line: &str) -> Option<String> {
    let request: Value = match serde_json::from_str(line) {
        Ok(request) => request,
        Err(error) => return Some(refused(&format!("invalid method: {error}"))),
    };
    let params = &request["params"];
    match request["method"].as_str().unwrap_or_default() {
        "run" => return run(pod, &params["input"]),
        "pause" => pause(pod),
        "resume" => resume(pod),
        "cancel" => cancel(pod),
        "compact" => {
            pod.tell("compact_start", Value::Null);
            pod.tell("compact_done", Value::Null);
            let summary = json!({ "kind": "message", "role": "system",
                "content": [{ "kind": "text", "text": "what was said before" }] });
            let entry = json!({ "kind": "segment_start", "ts": 1_700_000_000_000_i64, "session_id": "s", "config": {},
                "history": [summary] });
            pod.state().entries = vec![entry.clone()];
            pod.tell("segment_rotated", json!({ "entry": entry }));
        }
        "list_pods" => pod.tell("pods_listed", json!({ "pods": listed(pod) })),
        "register_peer" => return register_peer(pod, params["name"].as_str().unwrap_or_default()),
        "restore_pod" => return restore(pod, params["name"].as_str().unwrap_or_default()),
        "list_completions" => {
            let prefix = params["prefix"].as_str().unwrap_or_default();
            let entries = json!([{ "value": format!("{prefix}.rs"), "is_dir": false },
                { "value": format!("{prefix}-folder"), "is_dir": true }]);
            pod.tell("completions", json!({ "kind": params["kind"], "entries": entries }));
        }
        "shutdown" => shut_down(pod),
        other => return Some(refused(&format!("invalid method: unknown variant `{other}`"))),
    }
    None
}

fn refused(message: &str) -> String {
    line_of("error", json!({ "code": "invalid_request", "message": message }))
}

fn run(pod: &Arc<Shared>, input: &Value) -> Option<String> {
    let (is_first, was_interrupted) = {
        let mut state = pod.state();
        if state.status == "running" {
            let busy = json!({ "code": "already_running", "message": "Pod is already executing a turn" });
            return Some(line_of("error", busy));
        }
        state.status = "running".to_owned();
        state.asked = Asked::Nothing;
        state.runs += 1;
        (state.runs == 1 && state.entries.is_empty(), std::mem::take(&mut state.was_interrupted))
    };
    pod.tell_status();
    if is_first {
        let entry = json!({ "kind": "segment_start", "ts": 1_700_000_000_000_i64, "session_id": "s", "config": {},
            "history": [] });
        pod.state().entries.push(entry.clone());
        pod.tell("segment_rotated", json!({ "entry": entry }));
    }
    if was_interrupted {
        let item = json!({ "kind": "interrupt", "body": "[The turn before was interrupted.]" });
        pod.log(json!({ "kind": "system_item", "item": item }));
        pod.tell("system_item", json!({ "item": item }));
    }
    let words = words::of_input(input);
    pod.log(json!({ "kind": "invoke", "trigger": "user_send" }));
    pod.log(json!({ "kind": "user_input", "segments": input }));
    if !words.starts_with("bare") {
        pod.tell("invoke_start", json!({ "kind": "user_send" }));
        pod.tell("user_message", json!({ "segments": input }));
    }
    pod.tell("turn_start", json!({ "turn": 0 }));
    tokio::spawn(words::obey(pod.clone(), words));
    None
}

fn pause(pod: &Shared) {
    let status = pod.state().status.clone();
    match status.as_str() {
        "running" => pod.state().asked = Asked::Pause,
        "paused" => pod.tell_status(),
        _ => pod.tell_error("not_running", "Pod is not running"),
    }
}

fn resume(pod: &Arc<Shared>) {
    if pod.state().status != "paused" {
        return pod.tell_error("not_paused", "Pod is not paused");
    }
    {
        let mut state = pod.state();
        state.status = "running".to_owned();
        state.asked = Asked::Nothing;
    }
    pod.tell_status();
    pod.tell("turn_start", json!({ "turn": 0 }));
    tokio::spawn(words::obey(pod.clone(), "stream 1000".to_owned()));
}

fn cancel(pod: &Shared) {
    let status = pod.state().status.clone();
    match status.as_str() {
        "running" => pod.state().asked = Asked::Cancel,
        "paused" => {
            pod.state().status = "idle".to_owned();
            pod.tell_error("internal", "Cancelled");
            pod.tell_status();
        }
        _ => pod.tell_error("not_running", "Pod is not running"),
    }
}

fn listed(pod: &Shared) -> Vec<Value> {
    let one = |name: &str, visibility: &str| {
        let socket = pod.folder.join(name).join("sock");
        json!({
            "pod_name": name, "visibility": visibility, "state": "readable",
            "live": { "reachable": socket.exists(), "socket_path": socket, "status": "idle" },
            "restore": { "possible": !socket.exists(), "reason": format!("{} is there", socket.display()) },
            "spawned_children": { "count": 0, "reachable": 0, "unreachable": 0 }
        })
    };
    let peers = pod.state().peers.clone();
    let mut all = vec![one(&pod.name, "self_pod")];
    all.extend(peers.iter().map(|peer| one(peer, "peer")));
    all
}

fn register_peer(pod: &Shared, name: &str) -> Option<String> {
    if name == pod.name {
        return Some(refused(&format!("pod `{name}` cannot be registered as a peer of itself")));
    }
    if !pod.folder.join(name).exists() {
        let socket = pod.folder.join(name).join("sock");
        return Some(refused(&format!("pod `{name}` does not exist: nothing at {}", socket.display())));
    }
    let peers = &mut pod.state().peers;
    if !peers.iter().any(|peer| peer == name) {
        peers.push(name.to_owned());
    }
    pod.tell("peer_registered", json!({ "result": { "source": pod.name, "peer": name } }));
    None
}

fn restore(pod: &Shared, name: &str) -> Option<String> {
    let home = pod.folder.join(name);
    if !home.exists() || home.join("sock").exists() {
        return Some(refused(&format!("pod `{name}` cannot be restored")));
    }
    let restored = OlderPod::start(&pod.folder, name);
    pod.state().restored.push(restored);
    pod.tell("pod_restored", json!({ "result": { "name": name, "socket_path": home.join("sock") } }));
    None
}

fn shut_down(pod: &Arc<Shared>) {
    pod.tell("shutdown", Value::Null);
    let pod = pod.clone();
    tokio::spawn(async move {
        sleep(LAST_WORDS).await;
        pod.state().is_shut_down = true;
        pod.events.send(HANG_UP.to_owned()).ok();
    });
}

impl Shared {
    pub(super) fn log(&self, mut entry: Value) {
        entry["ts"] = json!(1_700_000_000_000_i64);
        self.state().entries.push(entry);
    }
}
