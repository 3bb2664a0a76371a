//! The commands that a Pod runs in the background, as its task sees them: the journal says how each ended.

use pod::{CommandEnd, Input, Pod};
use protocol::{ApiError, BackgroundCommand, CommandState, ErrorCode, PodName, PodState, WorkerId};
use serde_json::json;
use tools::bash::{Background, Stopper};

use super::{Actor, Actors, commands::Carrying, state::State};
use crate::{
    about, clock,
    command::{answer_of, read_answer},
};

impl Actor {
    /// Ends every background command, down to the last process. What does not end in time is recorded when it does.
    pub(super) async fn end_commands(&mut self) {
        if !self.actors.equipment.background.end_all(&self.state.worker_id).await {
            tracing::warn!(pod = %self.state.name, "a background command of a stopped Pod is still running");
        }
    }

    /// Ends commands that the journal does not know: their calls were ended before it had the result.
    pub(super) fn end_unknown_commands(&self) {
        let State { worker_id, pod, name, .. } = &self.state;
        let background = &self.actors.equipment.background;
        for id in unknown(background.running(worker_id), pod) {
            tracing::info!(id, pod = %name, "a background command ends, because its call was ended");
            background.stop(worker_id, &id, Stopper::Pod);
        }
    }

    /// A stopped Pod keeps no output in memory once its journal says how its commands ended.
    pub(super) fn forget_commands(&self) {
        if self.state.pod.state == PodState::Stopped && self.state.pod.background.is_empty() {
            self.actors.equipment.background.forget_ended(&self.state.worker_id);
        }
    }

    /// Returns how commands ended whose end is not recorded.
    pub(super) fn ended_commands(&self) -> Option<Input> {
        let ends = ends(&self.actors.equipment.background, &self.state.worker_id, &self.state.pod);
        (!ends.is_empty()).then_some(Input::CommandsEnded(ends))
    }
}

fn ends(background: &Background, worker_id: &WorkerId, pod: &Pod) -> Vec<CommandEnd> {
    pod.background.iter().filter_map(|command| background.end_of(worker_id, &command.call_id)).collect()
}

/// Those of the running commands that no open call and no record accounts for.
fn unknown(running: Vec<String>, pod: &Pod) -> Vec<String> {
    let is_known = |id: &String| {
        let mut calls = pod.calls.iter().chain(&pod.operator_calls);
        calls.any(|call| call.call_id == *id) || pod.background.iter().any(|command| command.call_id == *id)
    };
    running.into_iter().filter(|id| !is_known(id)).collect()
}

/// Finds no such command.
pub(crate) fn no_such_command(name: &PodName, id: &str) -> ApiError {
    let sentence = format!(
        "pod \"{name}\" has no background command \"{id}\"; commands end with yoi, and old ended ones are forgotten"
    );
    ApiError::new(ErrorCode::NotFound, sentence)
}

impl Carrying<'_> {
    /// Ends a background command for a person.
    pub(super) async fn stop_command(&mut self, id: &str) -> Result<String, ApiError> {
        let Actor { actors, state, .. } = &*self.actor;
        let background = &actors.equipment.background;
        let told = background.list(&state.worker_id).into_iter().find(|command| command.id == id);
        let told: BackgroundCommand = told.ok_or_else(|| no_such_command(&state.name, id))?;
        let about = about::about_call("BashStop", &json!({ "id": id }));
        let extras = self.extras("stop_command", clock::now(), &told).about(about);
        if let Some(first) = self.commit(None, extras).await? {
            return Ok(first);
        }
        let Actor { actors, state, .. } = &*self.actor;
        // It is waited for outside this task: the run continues meanwhile.
        actors.equipment.background.stop(&state.worker_id, id, Stopper::Person);
        Ok(answer_of(&told))
    }
}

impl Actors {
    /// The answer to a stop once the command has ended, the first time and each time that it is repeated.
    pub(super) async fn stopped_command(&self, worker_id: &WorkerId, id: &str, told: &str) -> Result<String, ApiError> {
        if let Some(command) = self.equipment.background.stopped(worker_id, id).await {
            return Ok(answer_of(&command));
        }
        // Whatever is no longer known has ended.
        let told: BackgroundCommand = read_answer(told)?;
        Ok(answer_of(&BackgroundCommand { state: CommandState::Exited, ..told }))
    }

    /// Tells each Pod whose background command has ended, so that its journal says so.
    pub(crate) async fn tell_ended_commands(self: std::sync::Arc<Self>) {
        let Some(mut ended) = self.equipment.background.ended_pods() else { return };
        loop {
            tokio::select! {
                () = self.stopping.cancelled() => return,
                pod = ended.recv() => match pod {
                    Some(pod) => self.wake(&pod),
                    None => return,
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use pod::BackgroundCall;
    use protocol::ToolBy;

    use super::*;

    #[test]
    fn a_command_whose_call_was_ended_before_its_result_came_is_unknown() {
        let mut pod = Pod::default();
        let id = |number: u32| format!("call-b{number}");
        assert_eq!(unknown(vec![id(1), id(2)], &pod), [id(1), id(2)]);
        let known = BackgroundCall { call_id: id(1), command: "npm run dev".to_owned(), by: ToolBy::Model };
        pod.background.push(known);
        assert_eq!(unknown(vec![id(1), id(2)], &pod), [id(2)]);
    }
}
