//! Prompts and resources of the open Pod's MCP servers, and your own commands.

use std::time::Duration;

use client::{Client, ClientError};
use commands::Prompt;
use protocol::{
    McpResource, PodRef, Segment,
    operation::{Loose, Page},
    operations,
};
use tokio::time::timeout;

use crate::model::Whose;

/// How long files wait for resources: a server may have to be started for it, and is there for the next letter.
const WAIT_MAX: Duration = Duration::from_secs(1);

/// The resources whose name or address contains `begun`, as far as they are known in time.
pub(super) async fn resources(client: &Client, pod: &PodRef, begun: &str) -> Vec<McpResource> {
    let asked = operations::Resources { pod: pod.clone(), q: Loose(Some(begun.to_owned())), page: Page::default() };
    let listed = timeout(WAIT_MAX, client.read(&asked)).await;
    listed.ok().and_then(Result::ok).map(|listed| listed.items).unwrap_or_default()
}

/// Your commands, or the prompts of the Pod's servers.
pub(super) async fn prompts(client: &Client, pod: &PodRef, whose: Whose) -> Result<Vec<Prompt>, ClientError> {
    let (pod, page) = (pod.clone(), Page::default());
    match whose {
        Whose::Yours => {
            let listed = client.read(&operations::OwnCommands { pod, page }).await?;
            Ok(listed.items.iter().map(Prompt::of_own).collect())
        }
        Whose::Servers => {
            let listed = client.read(&operations::Prompts { pod, page }).await?;
            Ok(listed.items.iter().map(Prompt::of_server).collect())
        }
    }
}

/// Reads a resource and uploads it. Returns the message segment that refers to it.
pub(super) async fn attach(client: &Client, pod: &PodRef, resource: McpResource) -> Result<Segment, ClientError> {
    let McpResource { server, uri, name, .. } = resource;
    let asked = operations::ResourceContent { pod: pod.clone(), server: Loose(Some(server)), uri: Loose(Some(uri)) };
    let content = client.read(&asked).await?;
    let Some(text) = content.text else {
        return Err(ClientError::Invalid(format!("{name} is not text; attach it in the browser")));
    };
    let kept = client.keep_blob(&content.media_type, text.into_bytes().into()).await?;
    Ok(Segment::kept(&kept, name))
}
