use leptos::prelude::*;
use protocol::{CommandId, PermissionRule, PodRef};

use crate::{UiError, codec::Json};

/// Takes a rule from a Pod; the rules that are left.
#[server(prefix = "/fn", endpoint = "forget_rule", input = Json, output = Json)]
pub async fn forget_rule(
    pod: PodRef,
    command_id: CommandId,
    rule: PermissionRule,
) -> Result<Vec<PermissionRule>, UiError> {
    let (backend, origin) = super::door::caller()?;
    let done = backend.forget_rule(&origin, command_id, &pod, &rule).await;
    super::door::answer(done.map(|detail| detail.permissions))
}
