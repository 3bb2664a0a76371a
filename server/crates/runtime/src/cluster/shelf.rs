//! What the MCP servers of a Pod offer beside tools, on the host that has the Pod's files.

use mcp::{Given, ShelfFailed, Stand, Visit};
use protocol::{ApiError, ErrorCode, WorkerId};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use tokio::sync::mpsc;

use super::{Call, Cluster};
use crate::{actor::place, view};

/// What a person wants to know of a Pod's servers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum ShelfAsked {
    Prompts,
    Resources { begun: String },
    Arguments { name: String, arguments: Map<String, Value> },
    Words { name: String, words: String },
    Content { server: String, uri: String },
}

impl Cluster {
    /// Asks the Pod's servers, which are started for it if they have to be.
    pub(crate) async fn shelf<T: DeserializeOwned>(
        &self,
        worker_id: &WorkerId,
        asked: ShelfAsked,
    ) -> Result<T, ApiError> {
        let row = self.existing_row(worker_id).await?;
        let call = || Call::Shelf { worker_id: worker_id.clone(), asked: asked.clone() };
        if let Some(answer) = self.there(worker_id, call).await? {
            return Ok(answer);
        }
        let opened = view::open(&row).map_err(|reason| ApiError::new(ErrorCode::NotRestorable, reason))?;
        let scope = place::scope(&self.actors, row.key, &opened.spec).await?;
        // Nobody is asked for the network here.
        let (wishes, _) = mpsc::channel(1);
        let stand = Stand { cwd: opened.spec.cwd.clone().into(), scope, network: opened.spec.network_now(), wishes };
        let visit = Visit {
            servers: &self.actors.equipment.servers,
            worker_id,
            named: opened.spec.mcp.as_deref(),
            stand: &stand,
        };
        let answer = answered(visit, asked).await?;
        serde_json::from_value(answer).map_err(|error| ApiError::new(ErrorCode::Internal, error.to_string()))
    }
}

async fn answered(visit: Visit<'_>, asked: ShelfAsked) -> Result<Value, ApiError> {
    let answer = match asked {
        ShelfAsked::Prompts => serde_json::to_value(visit.prompts().await),
        ShelfAsked::Resources { begun } => serde_json::to_value(visit.resources(&begun).await),
        ShelfAsked::Arguments { name, arguments } => {
            serde_json::to_value(visit.prompt(&name, Given::Arguments(arguments)).await.map_err(refused)?)
        }
        ShelfAsked::Words { name, words } => {
            serde_json::to_value(visit.prompt(&name, Given::Words(words)).await.map_err(refused)?)
        }
        ShelfAsked::Content { server, uri } => {
            serde_json::to_value(visit.resource(&server, &uri).await.map_err(refused)?)
        }
    };
    answer.map_err(|error| ApiError::new(ErrorCode::Internal, error.to_string()))
}

fn refused(failed: ShelfFailed) -> ApiError {
    let code = match failed {
        ShelfFailed::Missing(_) => ErrorCode::NotFound,
        ShelfFailed::Arguments(..) => ErrorCode::InvalidInput,
        ShelfFailed::Away(..) => ErrorCode::RuntimeUnavailable,
        ShelfFailed::Refused(..) => ErrorCode::ProviderError,
    };
    ApiError::new(code, failed.to_string())
}
