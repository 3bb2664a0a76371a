//! Makes a Pod with the history in a file of this machine.

use client::{Client, ClientError};
use protocol::{CommandId, ErrorCode, ImportCommand, PodRef};

use crate::model::Importing;

/// Reads the file, and imports it. The Pod is stopped.
pub(super) async fn import(client: &Client, id: &CommandId, importing: Importing) -> Result<PodRef, ClientError> {
    let Importing { name, path, cwd } = importing;
    let unread = |why: String| ClientError::Invalid(format!("{path} cannot be read: {why}"));
    let file = path.clone();
    // Up to 64 MiB of it, perhaps from a slow disk.
    let read = tokio::task::spawn_blocking(move || std::fs::read_to_string(file)).await;
    let text = read.map_err(|error| unread(error.to_string()))?.map_err(|error| unread(error.to_string()))?;
    let shared = cwd.is_none().then(|| client.shared_folder()).flatten();
    let is_guessed = shared.is_some();
    let command = ImportCommand { cwd: cwd.or(shared), ..ImportCommand::of(name, text) };
    match client.import(id, &command).await {
        // Through a tunnel the server is another machine, which may not have that folder.
        Err(ClientError::Api(refusal)) if is_guessed && refusal.code == ErrorCode::InvalidInput => {
            let command = ImportCommand { cwd: None, ..command };
            Ok(client.import(&CommandId::random(), &command).await?.pod)
        }
        made => Ok(made?.pod),
    }
}
