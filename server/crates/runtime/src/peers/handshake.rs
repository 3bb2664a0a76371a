//! What becomes of two Pods when something is said of them: by somebody on this side, or by the other side. It is decided from
//! what one side has, and without a store, so that pairs of one store and pairs of two go the same way. What is decided is
//! carried out by `link`, `requests` and `unlink` for the ones, and by `far` for the others.

use protocol::{ControlEvent, PeerLabel, PeerPolicy, RequestDecision};

/// What two Pods are to each other, as one side has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    Strangers,
    /// Strangers, and this side has no room for one more.
    Full,
    /// This side has asked, and the other one has not answered.
    Asking,
    /// The other side has asked, and this one has not answered.
    Asked,
    Linked,
}

/// What is said of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum News {
    /// Here: this Pod is to know the other one, which is asked.
    Introduce,
    /// Here: the other Pod is to know this one, which is asked.
    Invite,
    /// Here: yes, or no, to what the other side asked.
    Accept,
    Decline,
    /// Here: whatever they are to each other is over.
    End,
    /// There: the other Pod is to know this one.
    Proposed(PeerPolicy, Which),
    /// There: this Pod is to know the other one, which was asked. What is said next is what came of it.
    Invited(PeerPolicy),
    /// There: somebody was asked.
    Waits,
    Accepted,
    /// There: it cannot be.
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

/// Which introduction is proposed, seen from the one that stands here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    /// That one.
    Same,
    /// One that gives way to it where each side has proposed one.
    Later,
    /// One that it gives way to.
    Earlier,
}

/// What follows here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// All is as it was.
    Stay,
    /// The other side is asked, and decides.
    Propose,
    /// Somebody here is asked, and the other side is told that it waits.
    Ask,
    /// It is waited for somebody on the other side.
    Wait,
    /// They are linked, and the other side is told.
    Link,
    /// They are linked there, and so they are here.
    Linked,
    /// They were linked, and the other side, which does not have it, is told once more.
    LinkAgain,
    /// They were linked, which the other side does not have: it is waited for somebody there, once more.
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
    /// What is noted of it, also where nobody said why.
    pub(super) fn note(self, said: Option<&str>) -> Option<String> {
        said.or((self == Self::Withdrawn).then_some("withdrawn")).map(str::to_owned)
    }

    /// What a journal says of it. A link that ends was no request any more.
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

/// Why something does not happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    Full,
    /// This Pod takes no introductions.
    Closed,
    /// This Pod takes none without somebody here being asked, and nobody was.
    Unasked,
    /// Each side asked its own people for the other one's sake.
    Crossed,
    /// Who asked does not answer.
    OwnRequest,
    NothingAsked,
}

/// What follows from the news for two Pods that stand so to each other.
pub(super) fn decide(standing: Standing, news: News) -> Step {
    use Standing::{Asked, Asking, Full, Linked, Strangers};
    match (news, standing) {
        (News::Introduce | News::Invite | News::Proposed(..) | News::Invited(_), Full) => Step::Refuse(Refusal::Full),

        (News::Introduce, Strangers) => Step::Propose,
        // That both want it is the answer.
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
        // Each side has proposed it. Both go on with the earlier one: it is answered there, or here.
        (News::Proposed(_, Which::Later), Asking) => Step::Stay,
        (News::Proposed(_, Which::Earlier), Asking) => Step::Link,
        // The other side has lost its half, or proposed this before it heard of the link.
        (News::Proposed(..), Linked) => Step::LinkAgain,
        (News::Proposed(policy, _), Strangers | Asked) => by_policy(policy),

        // This side has proposed it by itself: that is answered, or was.
        (News::Invited(_), Asking) => Step::Stay,
        // Each would wait for what the other side's people say.
        (News::Invited(_), Asked) => Step::Refuse(Refusal::Crossed),
        // The other side has lost its half, or asked before it heard of the link. This Pod has agreed once, whatever its policy.
        (News::Invited(_), Linked) => Step::WaitAgain,
        (News::Invited(PeerPolicy::Open), Strangers) => Step::Wait,
        // Else a server could make links that nobody here was asked for.
        (News::Invited(_), Strangers) => Step::Refuse(Refusal::Unasked),

        (News::Waits, Asking) => Step::Wait,
        (News::Accepted, Asking) => Step::Linked,
        (News::Declined, Asking) => Step::End(Ending::Declined),
        // This side may have asked its own people, for the other side's sake.
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

    /// What follows from each news, for each standing in the order above.
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
