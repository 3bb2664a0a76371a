//! The tools by which a model sees and leads other Pods. Whom it sees decides what it may do; what it does not see
//! does not exist for it.

mod arguments;
mod list;
mod output;
mod peer;
mod restore;
mod send;
mod sight;
mod spawn;
mod stop;

use std::sync::{Arc, Weak};

use pod::ToolOutcome;
use protocol::{ApiError, ErrorCode, PodName};
use tools::Tool;

pub(crate) use self::sight::visible;
use crate::{Origin, error, host::Inner};

/// All of them, acting through a host that is being made.
pub(crate) fn tools(inner: &Weak<Inner>) -> Vec<Arc<dyn Tool>> {
    let reach = || Reach(inner.clone());
    vec![
        Arc::new(list::ListPods(reach())),
        Arc::new(spawn::SpawnPod(reach())),
        Arc::new(send::SendToPod(reach())),
        Arc::new(output::ReadPodOutput(reach())),
        Arc::new(stop::StopPod(reach())),
        Arc::new(restore::RestorePod(reach())),
        Arc::new(peer::SendToPeerPod(reach())),
    ]
}

/// A tool's way to the host that it belongs to.
#[derive(Debug)]
struct Reach(Weak<Inner>);

impl Reach {
    fn inner(&self) -> Result<Arc<Inner>, ApiError> {
        self.0.upgrade().ok_or_else(error::stopping)
    }
}

/// How the audit names a Pod that acts.
fn origin_of(name: &PodName) -> Origin {
    Origin { by: format!("pod:{name}"), client: "pod".to_owned() }
}

/// A failure as a model is told it. A Pod that it does not see and one that is not there are the same to it.
fn failed(error: &ApiError) -> ToolOutcome {
    match error.code {
        ErrorCode::PodNotFound => ToolOutcome::failed("not_visible", sight::NOT_VISIBLE),
        code => ToolOutcome::failed(code.as_str(), error.detail.clone()),
    }
}

fn outcome(result: Result<ToolOutcome, ApiError>) -> ToolOutcome {
    result.unwrap_or_else(|error| failed(&error))
}
