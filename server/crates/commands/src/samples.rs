//! Pods for tests.

use protocol::{PodName, PodRef, PodState, PodSummary, Relations, RuntimeId, Seq, Usage, WorkerId};

/// A Pod with this name, which is also its id, that has done nothing yet.
pub fn pod(name: &str, state: PodState) -> PodSummary {
    PodSummary {
        pod: PodRef::new(RuntimeId::local(), WorkerId::parse(name).expect("a name that is an id too")),
        name: PodName::parse(name).expect("a good name"),
        state,
        state_reason: None,
        provider: "rehearsal".into(),
        agent: None,
        model: "rehearsal".into(),
        cwd: "/srv/work".into(),
        created_at: protocol::Timestamp::UNIX_EPOCH,
        updated_at: protocol::Timestamp::UNIX_EPOCH,
        head_seq: Seq(1),
        activity: None,
        needs_you: false,
        nothing_to_retry: false,
        unread: 0,
        queued_count: 0,
        relations: Relations::default(),
        usage: Usage::default(),
        budget: None,
        git: None,
    }
}
