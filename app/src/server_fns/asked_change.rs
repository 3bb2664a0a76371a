use leptos::prelude::*;
use protocol::{Approval, PodRef};

use crate::{UiError, codec::Json};

/// An open question, with what it would do to its file as it is now. None when it is open no more.
#[server(prefix = "/fn", endpoint = "asked_change", input = Json, output = Json)]
pub async fn asked_change(pod: PodRef, id: String) -> Result<Option<Approval>, UiError> {
    let (backend, _) = super::door::caller()?;
    let page = super::door::answer(
        backend.read(protocol::operations::Approvals { pod: pod.clone(), all: false, page: Default::default() }).await,
    )?;
    Ok(page.items.into_iter().find(|approval| approval.id == id))
}
