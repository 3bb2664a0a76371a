//! Network access that running commands ask for: pending and decided.

use std::collections::HashMap;

use pod::{HostPort, Input};
use tokio::sync::oneshot;
use tools::proxy::Wish;

/// The most hosts that one command may ask for at once, so that a program that scans ports does not flood the
/// approvals.
const ASKED_MAX: usize = 16;

/// By call and host. A decision holds until the call ends.
#[derive(Debug, Default)]
pub(super) struct Ways(HashMap<(String, String, u16), Way>);

#[derive(Debug)]
enum Way {
    /// Connections that wait for the same decision.
    Asked(Vec<oneshot::Sender<bool>>),
    Settled(bool),
}

impl Ways {
    /// The input to decide on; `None` if that host is already decided or pending.
    pub(super) fn wished(&mut self, wish: Wish) -> Option<Input> {
        let Wish { call_id, to: HostPort { host, port }, answer } = wish;
        let asked = self.asked(&call_id);
        match self.0.get_mut(&(call_id.clone(), host.clone(), port)) {
            Some(Way::Asked(waiting)) => {
                waiting.push(answer);
                None
            }
            Some(Way::Settled(is_allowed)) => {
                // The connection may have gone away; likewise below.
                let _ = answer.send(*is_allowed);
                None
            }
            None if asked >= ASKED_MAX => {
                let _ = answer.send(false);
                None
            }
            None => {
                self.0.insert((call_id.clone(), host.clone(), port), Way::Asked(vec![answer]));
                Some(Input::WayOut { call_id, host, port })
            }
        }
    }

    fn asked(&self, call_id: &str) -> usize {
        let is_its =
            |((call, _, _), way): &(&(String, String, u16), &Way)| call == call_id && matches!(way, Way::Asked(_));
        self.0.iter().filter(is_its).count()
    }

    pub(super) fn settle(&mut self, call_id: String, to: HostPort, is_allowed: bool) {
        let settled = self.0.insert((call_id, to.host, to.port), Way::Settled(is_allowed));
        if let Some(Way::Asked(waiting)) = settled {
            for answer in waiting {
                let _ = answer.send(is_allowed);
            }
        }
    }

    /// Forgets a call that has ended.
    pub(super) fn forget(&mut self, call_id: &str) {
        self.0.retain(|(call, _, _), _| call != call_id);
    }
}
