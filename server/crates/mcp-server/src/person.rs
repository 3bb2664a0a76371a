//! The tools for a user's client. Each combines a few of the server's operations, with the rights of the user's
//! token.

mod approvals;
mod introducing;
mod pods;
mod reading;
mod talking;
mod waiting;

use std::future::Future;

use backend::{Backend, Origin};
use protocol::{ApiError, CommandId};
use rmcp::{
    RoleServer,
    model::{CallToolResult, JsonObject, Tool, ToolAnnotations},
    service::RequestContext,
};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};

use crate::{answer, arguments};

/// A tool, with what clients are told before they call it.
trait PersonTool {
    const NAME: &'static str;
    const TITLE: &'static str;
    const DESCRIPTION: &'static str;
    const HINTS: Hints;
    type Arguments: JsonSchema + Serialize + DeserializeOwned + Send;
    type Answer: JsonSchema + Serialize;

    fn act(call: &Call<'_>, arguments: Self::Arguments) -> impl Future<Output = Result<Self::Answer, ApiError>> + Send;
}

/// The tool's effect.
#[derive(Clone, Copy)]
enum Hints {
    Reads,
    /// Adds something and removes nothing.
    Adds,
    /// May change anything.
    Acts,
}

impl Hints {
    fn annotations(self, title: &str) -> ToolAnnotations {
        let (reads, destroys, open) = match self {
            Self::Reads => (true, false, false),
            Self::Adds => (false, false, false),
            Self::Acts => (false, true, true),
        };
        // Only reading is idempotent: a new request acts again, although a repeated one is carried out only once.
        ToolAnnotations::from_raw(Some(title.to_owned()), Some(reads), Some(destroys), Some(reads), Some(open))
    }
}

/// One call of a tool.
pub(crate) struct Call<'a> {
    pub(crate) backend: &'a Backend,
    pub(crate) origin: Origin,
    pub(crate) key: CommandId,
    pub(crate) context: &'a RequestContext<RoleServer>,
}

macro_rules! tools {
    ($($tool:ty,)*) => {
        /// All tools, as listed to clients.
        pub(crate) fn listed() -> Vec<Tool> {
            vec![$(described::<$tool>(),)*]
        }

        /// Calls a tool by its name; `None` if there is no such tool.
        pub(crate) async fn call(name: &str, call: &Call<'_>, arguments: JsonObject) -> Option<CallToolResult> {
            match name {
                $(<$tool>::NAME => Some(Box::pin(called::<$tool>(call, arguments)).await),)*
                _ => None,
            }
        }
    };
}

tools! {
    pods::ListPods,
    reading::ReadTranscript,
    pods::CreatePod,
    talking::Send,
    waiting::Wait,
    introducing::Introduce,
    approvals::ListApprovals,
    approvals::Approve,
}

fn described<T: PersonTool>() -> Tool {
    Tool::new(T::NAME, T::DESCRIPTION, arguments::schema::<T::Arguments>())
        .with_title(T::TITLE)
        .with_raw_output_schema(arguments::schema::<T::Answer>())
        .with_annotations(T::HINTS.annotations(T::TITLE))
}

async fn called<T: PersonTool>(call: &Call<'_>, said: JsonObject) -> CallToolResult {
    let acting = async { T::act(call, arguments::read(T::NAME, said)?).await };
    match acting.await {
        Ok(done) => answer::done(&done),
        Err(error) => answer::failed(&error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_have_the_names_that_clients_rely_on_and_say_what_they_take_and_give() {
        let tools = listed();
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
        assert_eq!(
            names,
            ["list_pods", "read_transcript", "create_pod", "send", "wait", "introduce", "list_approvals", "approve"]
        );
        for tool in &tools {
            for schema in [&tool.input_schema, tool.output_schema.as_ref().unwrap()] {
                assert_eq!(schema.get("type").and_then(|kind| kind.as_str()), Some("object"), "{}", tool.name);
            }
            assert_eq!(tool.input_schema["additionalProperties"], false, "{}", tool.name);
        }
        let reads = |tool: &&Tool| tool.annotations.as_ref().unwrap().read_only_hint == Some(true);
        let reading: Vec<&str> = tools.iter().filter(reads).map(|tool| tool.name.as_ref()).collect();
        assert_eq!(reading, ["list_pods", "read_transcript", "wait", "list_approvals"]);
    }
}
