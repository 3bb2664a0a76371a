use leptos::prelude::*;
use protocol::SessionView;

use crate::{UiError, codec::Json};

/// Ends a login, or all but the one that asks; those that are left.
#[server(prefix = "/fn", endpoint = "sign_out", input = Json, output = Json)]
pub async fn sign_out(id: Option<String>) -> Result<Vec<SessionView>, UiError> {
    let (backend, origin) = super::door::caller()?;
    let this = super::door::login();
    super::door::answer(match &id {
        Some(id) => backend.session_end(&origin, id).await,
        None => backend.sessions_end_others(&origin, this.as_ref()).await,
    })?;
    super::door::answer(backend.sessions(this.as_ref()).await)
}
