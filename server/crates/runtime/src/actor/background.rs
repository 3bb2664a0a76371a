//! The commands that a Pod runs in the background, as its task sees them: the journal says how each ended.

use pod::{CommandEnd, Input, Pod};
use protocol::{ApiError, BackgroundCommand, ErrorCode, Event, PodName, TurnEvent, WorkerId};
use tools::bash::{Background, Stopper};

use super::{Actor, Actors, commands::Carrying};
use crate::{clock, command::answer_of};

impl Actor {
    /// Ends every background command, down to the last process. Returns false if something does not end.
    pub(super) async fn end_commands(&mut self) -> bool {
        self.actors.equipment.background.end_all(&self.state.worker_id).await
    }

    /// Returns how commands ended whose end is not recorded.
    pub(super) fn ended_commands(&self) -> Option<Input> {
        let ends = ends(&self.actors.equipment.background, &self.state.worker_id, &self.state.pod);
        (!ends.is_empty()).then_some(Input::CommandsEnded(ends))
    }

    /// Completes the record of a command's end with what only the command itself knows.
    pub(super) fn tell_end(&self, event: &mut Event) {
        let Event::Turn(TurnEvent::CommandEnded { call_id, detail, exit_code, output, .. }) = event else { return };
        let background = &self.actors.equipment.background;
        if output.is_none()
            && let Some(known) = background.known_end(&self.state.worker_id, call_id)
        {
            (*detail, *exit_code, *output) = (known.detail, known.exit_code, known.output);
        }
    }
}

fn ends(background: &Background, worker_id: &WorkerId, pod: &Pod) -> Vec<CommandEnd> {
    pod.background.iter().filter_map(|command| background.end_of(worker_id, &command.call_id)).collect()
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
        let extras = self.extras("stop_command", clock::now(), &told);
        if let Some(first) = self.commit(None, extras).await? {
            return Ok(first);
        }
        let Actor { actors, state, .. } = &*self.actor;
        // It is not waited for: the run goes on meanwhile.
        actors.equipment.background.stop(&state.worker_id, id, Stopper::Person);
        Ok(answer_of(&told))
    }
}

impl Actors {
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
