//! Ways out to the network that running commands want: those that wait for an answer, and those that have one.

use std::collections::HashMap;

use pod::{HostPort, Input};
use tokio::sync::oneshot;
use tools::proxy::Wish;

/// Hosts that one command asks for at once. A program that tries every port of a machine does not fill somebody's inbox.
const ASKED_MAX: usize = 16;

/// By the call and the host. What was answered holds until the call ends.
#[derive(Debug, Default)]
pub(super) struct Ways(HashMap<(String, String, u16), Way>);

#[derive(Debug)]
enum Way {
    /// Connections that wait for one answer.
    Asked(Vec<oneshot::Sender<bool>>),
    Settled(bool),
}

impl Ways {
    /// What there is to decide on; nothing when it has been, or is being asked.
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

    /// The call is over.
    pub(super) fn forget(&mut self, call_id: &str) {
        self.0.retain(|(call, _, _), _| call != call_id);
    }
}
