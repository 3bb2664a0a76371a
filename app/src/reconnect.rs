//! What to say about the connection, and after a gap. Pure: the socket itself is in `stream`.

use protocol::Seq;

use crate::format::counted;

/// Whether this page is connected to the server. Unrelated to the state of any Pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Link {
    /// As rendered by the server; no script has run yet, and with scripts off none will.
    #[default]
    AsLoaded,
    Connecting,
    Live,
    Reconnecting {
        attempt: u32,
    },
    /// The browser reports that there is no network.
    Offline,
}

impl Link {
    pub(crate) fn words(self) -> String {
        match self {
            Self::AsLoaded => "as loaded".to_owned(),
            Self::Connecting => "connecting…".to_owned(),
            Self::Live => "live".to_owned(),
            Self::Reconnecting { attempt } => format!("reconnecting… (attempt {attempt})"),
            Self::Offline => "offline".to_owned(),
        }
    }

    /// What happens next, and what you can do meanwhile.
    pub(crate) fn next(self) -> &'static str {
        match self {
            Self::AsLoaded => "No live updates; reload the page to see what is new",
            Self::Connecting => "Connecting to the server",
            Self::Live => "Live: this page updates as things happen",
            Self::Reconnecting { .. } => "The server does not answer. Retrying; what you type is kept",
            Self::Offline => "This device is offline. The page resumes when it is back; what you type is kept",
        }
    }

    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::AsLoaded | Self::Connecting => "link link-pending",
            Self::Live => "link link-live",
            Self::Reconnecting { .. } => "link link-broken",
            Self::Offline => "link link-offline",
        }
    }
}

/// Notices when a connection that was lost is back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Outage {
    is_on: bool,
}

impl Outage {
    /// Takes the connection's state. Returns true if it was lost and is back.
    pub(crate) fn is_over(&mut self, link: Link) -> bool {
        let was_on = self.is_on;
        match link {
            Link::Live => self.is_on = false,
            Link::Reconnecting { .. } | Link::Offline => self.is_on = true,
            Link::AsLoaded | Link::Connecting => (),
        }
        was_on && !self.is_on
    }
}

/// What was missed while the connection was down, until it has been made up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Gap {
    open: bool,
    events: u64,
    from_snapshot: bool,
    /// The Pod's head in the first list after the gap; the page has caught up once it is there.
    head: Option<Seq>,
}

impl Gap {
    /// The connection was lost.
    pub(crate) fn begin(&mut self) {
        *self = Self { open: true, events: self.events, ..Self::default() };
    }

    /// This many records arrived.
    pub(crate) fn records(&mut self, count: usize) {
        if self.open {
            self.events += count as u64;
        }
    }

    /// A snapshot arrived in place of records: after a long gap, a lag or a stale cursor.
    pub(crate) fn snapshot(&mut self) {
        *self = Self { open: true, from_snapshot: true, ..Self::default() };
    }

    /// A list arrived, with the head of the Pod on screen; `None` if none is, and then `events` is what the list
    /// itself has missed.
    pub(crate) fn list(&mut self, head: Option<Seq>, events: u64) {
        if !self.open {
            return;
        }
        if head.is_none() {
            self.events += events;
        }
        self.head = Some(head.unwrap_or_default());
    }

    /// The sentence to show once, when the gap is over. `applied` is the newest seq on the screen.
    pub(crate) fn settle(&mut self, applied: Seq) -> Option<String> {
        let over = self.open && (self.from_snapshot || self.head.is_some_and(|head| applied >= head));
        if !over {
            return None;
        }
        let gap = std::mem::take(self);
        Some(match gap.from_snapshot {
            true => "reloaded from a snapshot".to_owned(),
            false => format!("caught up: {}", counted(gap.events, "event")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_is_over_when_a_lost_connection_is_live_again() {
        let over = |links: &[Link]| {
            let mut outage = Outage::default();
            links.iter().map(|link| outage.is_over(*link)).collect::<Vec<_>>()
        };
        let lost = Link::Reconnecting { attempt: 1 };
        assert_eq!(over(&[Link::AsLoaded, Link::Connecting, Link::Live]), [false; 3], "nothing was lost");
        assert_eq!(
            over(&[Link::Live, lost, Link::Offline, Link::Live, Link::Live]),
            [false, false, false, true, false]
        );
        assert_eq!(over(&[lost, Link::Connecting, Link::Live]), [false, false, true], "lost before anyone looked");
    }

    #[test]
    fn a_gap_is_over_when_the_screen_has_come_as_far_as_the_list() {
        let mut gap = Gap::default();
        gap.begin();
        gap.list(Some(Seq(40)), 99);
        gap.records(30);
        assert_eq!(gap.settle(Seq(36)), None);
        gap.records(4);
        assert_eq!(gap.settle(Seq(40)), Some("caught up: 34 events".to_owned()));
        assert_eq!(gap.settle(Seq(40)), None);
    }

    #[test]
    fn records_may_come_before_the_list() {
        let mut gap = Gap::default();
        gap.begin();
        gap.records(1);
        assert_eq!(gap.settle(Seq(7)), None);
        gap.list(Some(Seq(7)), 0);
        assert_eq!(gap.settle(Seq(7)), Some("caught up: 1 event".to_owned()));
    }

    #[test]
    fn without_a_pod_the_list_counts() {
        let mut gap = Gap::default();
        gap.begin();
        gap.list(None, 12);
        assert_eq!(gap.settle(Seq(0)), Some("caught up: 12 events".to_owned()));
    }

    #[test]
    fn a_snapshot_is_said_as_such_even_without_a_lost_connection() {
        let mut gap = Gap::default();
        gap.snapshot();
        assert_eq!(gap.settle(Seq(3)), Some("reloaded from a snapshot".to_owned()));
    }

    #[test]
    fn nothing_is_said_when_nothing_was_missed() {
        let mut gap = Gap::default();
        gap.records(3);
        gap.list(Some(Seq(3)), 3);
        assert_eq!(gap.settle(Seq(3)), None);
    }

    #[test]
    fn two_gaps_in_a_row_are_told_as_one() {
        let mut gap = Gap::default();
        gap.begin();
        gap.records(5);
        gap.begin();
        gap.list(Some(Seq(9)), 0);
        gap.records(4);
        assert_eq!(gap.settle(Seq(9)), Some("caught up: 9 events".to_owned()));
    }
}
