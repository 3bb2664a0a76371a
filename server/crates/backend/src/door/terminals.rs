//! Terminals: whether one may be opened for a Pod, opening it, and the audit of both its ends.

use std::path::Path;

use protocol::{ApiError, ErrorCode, PodRef, RuntimeId, TerminalPlace, TerminalSize};
use runtime::Origin;

use super::Backend;
use crate::{Shell, TerminalSeat};

const OPENED: &str = "terminal_open";
const ENDED: &str = "terminal_end";

/// Opens terminals: shells of whoever runs this server, in the folders of Pods. Only a person may ask for one, never
/// the agent of a Pod.
#[derive(Debug, Clone, Copy)]
pub struct Terminals<'a> {
    pub(super) backend: &'a Backend,
}

impl Terminals<'_> {
    /// Which shell a terminal for this Pod would run, and where.
    ///
    /// # Errors
    /// `terminal_off`; `pod_not_found`; `invalid_input` for a Pod of another runtime; `not_found` if its folder is not
    /// on this machine.
    pub async fn place(self, pod: &PodRef) -> Result<TerminalPlace, ApiError> {
        let shell = self.backend.terminals.options()?.shell_name();
        let folder = self.backend.pod(pod).await?.summary.cwd;
        if pod.runtime_id != RuntimeId::local() {
            let sentence = format!("{pod} is in another runtime; open the terminal in the console of that server");
            return Err(ApiError::invalid(sentence));
        }
        if !Path::new(&folder).is_dir() {
            let sentence = format!("the Pod's folder {folder} is not on this machine; create it, or open another Pod");
            return Err(ApiError::new(ErrorCode::NotFound, sentence));
        }
        Ok(TerminalPlace { shell, folder })
    }

    /// Reserves a terminal for this Pod. A refusal is in the audit.
    ///
    /// # Errors
    /// As [`Terminals::place`]; `rate_limited`: too many are open.
    pub async fn reserve(self, origin: &Origin, pod: &PodRef) -> Result<TerminalSeat, ApiError> {
        let place = self.place(pod).await;
        let seat = place.and_then(|place| self.backend.terminals.seat(pod.clone(), place));
        if seat.is_err() {
            self.backend.audit().ended(origin, OPENED, pod.to_string(), None, &seat).await;
        }
        seat
    }

    /// Starts the shell. Whoever opens it says when it has ended, by [`Terminals::note_end`].
    ///
    /// # Errors
    /// `internal`: it cannot be started.
    pub async fn open(self, origin: &Origin, seat: TerminalSeat, size: TerminalSize) -> Result<Shell, ApiError> {
        let target = seat.pod().to_string();
        let opened = seat.open(size);
        self.backend.audit().ended(origin, OPENED, target, None, &opened).await;
        opened
    }

    /// Writes into the audit that a terminal has ended.
    pub async fn note_end(self, origin: &Origin, pod: &PodRef) {
        self.backend.audit().ended(origin, ENDED, pod.to_string(), None, &Ok::<_, ApiError>(())).await;
    }
}
