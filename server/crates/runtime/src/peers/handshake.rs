//! The state machine for two Pods that may become peers: what follows when one side acts or hears from the other. It
//! decides from one side's view and without a store, so that pairs within one store and pairs across two follow the
//! same rules. Its steps are carried out by `link`, `requests` and `unlink` for the former, and by `far` for the
//! latter.

use protocol::{ControlEvent, PeerLabel, PeerPolicy, RequestDecision};

/// What two Pods are to each other, as one side has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    Strangers,
    /// Strangers, and this side has no room for another peer.
    Full,
    /// This side has asked, and the other has not answered.
    Asking,
    /// The other side has asked, and this one has not answered.
    Asked,
    Linked,
}

/// An event about the two Pods. "Here" is this side, "there" the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum News {
    /// Here: make them peers; the other side is asked.
    Introduce,
    /// Here: make them peers; this side's Pod is asked.
    Invite,
    /// Here: the answer to the other side's request.
    Accept,
    Decline,
    /// Here: end the pair or the open request.
    End,
    /// There: the other side asks this Pod.
    Proposed(PeerPolicy, Which),
    /// There: the other side asks its own Pod first; its answer follows.
    Invited(PeerPolicy),
    /// There: a person was asked.
    Waits,
    Accepted,
    /// There: it is not possible.
    Refused,
    Declined,
    Withdrawn,
    Unlinked,
}

impl News {
    pub(super) fn of(decision: RequestDecision) -> Self {
        match decision {
            RequestDecision::Accept => Self::Accept,
            RequestDecision::Decline => Self::Decline,
        }
    }
}

/// How a proposal relates to the one that this side already has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    /// It is the same one.
    Same,
    /// It is later than this side's, which takes precedence.
    Later,
    /// It is earlier than this side's, and takes precedence.
    Earlier,
}

/// What to do on this side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing changes.
    Stay,
    /// Ask the other side, which decides.
    Propose,
    /// Ask a person here, and tell the other side that it waits.
    Ask,
    /// Wait for a person on the other side.
    Wait,
    /// Make them peers, and tell the other side.
    Link,
    /// They are peers on the other side; make them peers here as well.
    Linked,
    /// They are peers here, but the other side has no record of it: tell it again.
    LinkAgain,
    /// They were peers here, but the other side has no record of it: wait for a person there again.
    WaitAgain,
    End(Ending),
    Refuse(Refusal),
}

/// How it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// By the side that had asked.
    Withdrawn,
    /// By the side that was asked.
    Declined,
    Unlinked,
}

impl Ending {
    /// The note to record, also if nobody gave a reason.
    pub(super) fn note(self, said: Option<&str>) -> Option<String> {
        said.or((self == Self::Withdrawn).then_some("withdrawn")).map(str::to_owned)
    }

    /// The event for the journal. The end of a pair names no request.
    pub(super) fn event(
        self,
        peer: PeerLabel,
        by: String,
        request_id: Option<String>,
        note: Option<String>,
    ) -> ControlEvent {
        match self {
            Self::Unlinked => ControlEvent::PeerUnlinked { peer, by, request_id: None, note },
            Self::Withdrawn | Self::Declined => ControlEvent::PeerDeclined { peer, by, request_id, note },
        }
    }
}

/// Why it is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    Full,
    /// This Pod accepts no peers.
    Closed,
    /// This Pod accepts no peers without a person here being asked, and nobody was.
    Unasked,
    /// Each side asked its own people on the other's behalf.
    Crossed,
    /// The asking side cannot answer its own request.
    OwnRequest,
    NothingAsked,
}

/// What follows from the news, given what the two Pods are to each other.
pub(super) fn decide(standing: Standing, news: News) -> Step {
    use Standing::{Asked, Asking, Full, Linked, Strangers};
    match (news, standing) {
        (News::Introduce | News::Invite | News::Proposed(..) | News::Invited(_), Full) => Step::Refuse(Refusal::Full),

        (News::Introduce, Strangers) => Step::Propose,
        // Both sides want it, which answers the request.
        (News::Introduce, Asked) => Step::Link,
        (News::Invite, Strangers) => Step::Ask,
        (News::Introduce | News::Invite, _) => Step::Stay,

        (News::Accept, Asked) => Step::Link,
        (News::Decline, Asked) => Step::End(Ending::Declined),
        (News::Accept | News::Decline, Asking) => Step::Refuse(Refusal::OwnRequest),
        (News::Accept | News::Decline, _) => Step::Refuse(Refusal::NothingAsked),

        (News::End, Asking) => Step::End(Ending::Withdrawn),
        (News::End, Asked) => Step::End(Ending::Declined),
        (News::End, Strangers | Full) => Step::Stay,

        (News::Proposed(_, Which::Same), Asking | Asked | Linked) => Step::Stay,
        // Both sides have proposed it. The earlier proposal wins, and is answered by the side that did not make it.
        (News::Proposed(_, Which::Later), Asking) => Step::Stay,
        (News::Proposed(_, Which::Earlier), Asking) => Step::Link,
        // The other side has lost its half, or proposed this before it heard that they are peers.
        (News::Proposed(..), Linked) => Step::LinkAgain,
        (News::Proposed(policy, _), Strangers | Asked) => by_policy(policy),

        // This side has proposed it itself, and that will be answered or has been.
        (News::Invited(_), Asking) => Step::Stay,
        // Each side would wait for the other side's people.
        (News::Invited(_), Asked) => Step::Refuse(Refusal::Crossed),
        // The other side has lost its half, or asked before it heard that they are peers. This Pod has agreed once,
        // whatever its policy is now.
        (News::Invited(_), Linked) => Step::WaitAgain,
        (News::Invited(PeerPolicy::Open), Strangers) => Step::Wait,
        // Otherwise a server could create peers that nobody here was asked about.
        (News::Invited(_), Strangers) => Step::Refuse(Refusal::Unasked),

        (News::Waits, Asking) => Step::Wait,
        (News::Accepted, Asking) => Step::Linked,
        (News::Declined, Asking) => Step::End(Ending::Declined),
        // This side may have asked its own people on the other's behalf.
        (News::Refused, Asking | Asked) => Step::End(Ending::Declined),
        (News::Withdrawn, Asking | Asked) => Step::End(Ending::Withdrawn),
        (News::End | News::Refused | News::Declined | News::Withdrawn | News::Unlinked, Linked) => {
            Step::End(Ending::Unlinked)
        }
        // What does not fit changes nothing.
        (News::Waits | News::Accepted | News::Refused | News::Declined | News::Withdrawn | News::Unlinked, _) => {
            Step::Stay
        }
    }
}

fn by_policy(policy: PeerPolicy) -> Step {
    match policy {
        PeerPolicy::Open => Step::Link,
        PeerPolicy::Ask => Step::Ask,
        PeerPolicy::Closed => Step::Refuse(Refusal::Closed),
    }
}

#[cfg(test)]
mod tests {
    use Ending::{Declined, Unlinked, Withdrawn};
    use PeerPolicy::{Ask as AsksFirst, Closed, Open};
    use Standing::{Asked, Asking, Full, Linked, Strangers};
    use Step::{Ask, End, Link, LinkAgain, Propose, Refuse, Stay, Wait, WaitAgain};

    use super::*;

    const STANDINGS: [Standing; 5] = [Strangers, Full, Asking, Asked, Linked];

    /// The step for each event, for each standing in the order above.
    fn table() -> Vec<(News, [Step; 5])> {
        let full = Refuse(Refusal::Full);
        let no_room = |rest: [Step; 4]| [rest[0], full, rest[1], rest[2], rest[3]];
        let (own, nothing) = (Refuse(Refusal::OwnRequest), Refuse(Refusal::NothingAsked));
        let (closed, unasked, crossed) = (Refuse(Refusal::Closed), Refuse(Refusal::Unasked), Refuse(Refusal::Crossed));
        let proposed = |policy, which| News::Proposed(policy, which);
        vec![
            (News::Introduce, no_room([Propose, Stay, Link, Stay])),
            (News::Invite, no_room([Ask, Stay, Stay, Stay])),
            (News::Accept, [nothing, nothing, own, Link, nothing]),
            (News::Decline, [nothing, nothing, own, End(Declined), nothing]),
            (News::End, [Stay, Stay, End(Withdrawn), End(Declined), End(Unlinked)]),
            (proposed(Open, Which::Earlier), no_room([Link, Link, Link, LinkAgain])),
            (proposed(Open, Which::Later), no_room([Link, Stay, Link, LinkAgain])),
            (proposed(Open, Which::Same), no_room([Link, Stay, Stay, Stay])),
            (proposed(AsksFirst, Which::Earlier), no_room([Ask, Link, Ask, LinkAgain])),
            (proposed(AsksFirst, Which::Later), no_room([Ask, Stay, Ask, LinkAgain])),
            (proposed(Closed, Which::Later), no_room([closed, Stay, closed, LinkAgain])),
            (News::Invited(Open), no_room([Wait, Stay, crossed, WaitAgain])),
            (News::Invited(AsksFirst), no_room([unasked, Stay, crossed, WaitAgain])),
            (News::Invited(Closed), no_room([unasked, Stay, crossed, WaitAgain])),
            (News::Waits, [Stay, Stay, Wait, Stay, Stay]),
            (News::Accepted, [Stay, Stay, Step::Linked, Stay, Stay]),
            (News::Refused, [Stay, Stay, End(Declined), End(Declined), End(Unlinked)]),
            (News::Declined, [Stay, Stay, End(Declined), Stay, End(Unlinked)]),
            (News::Withdrawn, [Stay, Stay, End(Withdrawn), End(Withdrawn), End(Unlinked)]),
            (News::Unlinked, [Stay, Stay, Stay, Stay, End(Unlinked)]),
        ]
    }

    #[test]
    fn what_follows_from_what_is_said_is_what_the_table_says() {
        for (news, steps) in table() {
            for (standing, step) in STANDINGS.into_iter().zip(steps) {
                assert_eq!(decide(standing, news), step, "{news:?} to {standing:?}");
            }
        }
    }

    #[test]
    fn two_that_propose_each_other_at_once_come_to_one_link() {
        let here = decide(Asking, News::Proposed(Closed, Which::Later));
        let there = decide(Asking, News::Proposed(Closed, Which::Earlier));
        assert_eq!((here, there), (Stay, Link));
        assert_eq!(decide(Asking, News::Accepted), Step::Linked, "and the one that stayed is told");
    }

    #[test]
    fn what_either_side_ends_is_over_on_both() {
        let told = |ending| match ending {
            Withdrawn => News::Withdrawn,
            Declined => News::Declined,
            Unlinked => News::Unlinked,
        };
        for (here, there) in [(Asking, Asked), (Asked, Asking), (Linked, Linked)] {
            let End(ending) = decide(here, News::End) else { panic!("{here:?} can be ended") };
            assert_eq!(decide(there, told(ending)), End(ending));
        }
    }
}
