//! The steps of a commit.

/// One step of a batch on its way to the disk, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Step {
    Begin,
    Fence,
    Command,
    Pods,
    Relations,
    Peers,
    Records,
    Folds,
    Usage,
    Inbox,
    Mail,
    Messages,
    Far,
    Search,
    Audit,
    Commit,
    /// Committed, but nobody has been told yet.
    Answer,
}

impl Step {
    /// All steps, in order.
    pub const ALL: [Self; 17] = [
        Self::Begin,
        Self::Fence,
        Self::Command,
        Self::Pods,
        Self::Relations,
        Self::Peers,
        Self::Records,
        Self::Folds,
        Self::Usage,
        Self::Inbox,
        Self::Mail,
        Self::Messages,
        Self::Far,
        Self::Search,
        Self::Audit,
        Self::Commit,
        Self::Answer,
    ];
}
