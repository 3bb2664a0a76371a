//! Arguments of tools: their schemas, and parsing.

use std::sync::Arc;

use protocol::{ApiError, misread};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

/// The JSON Schema of a tool's arguments or result.
pub(crate) fn schema<T: JsonSchema>() -> Arc<JsonObject> {
    object(schemars::schema_for!(T).to_value())
}

/// A schema is always an object.
pub(crate) fn object(schema: Value) -> Arc<JsonObject> {
    match schema {
        Value::Object(fields) => Arc::new(fields),
        _ => Arc::default(),
    }
}

/// Parses arguments; an error names the place and what was expected.
pub(crate) fn read<T: DeserializeOwned + Serialize>(tool: &str, arguments: JsonObject) -> Result<T, ApiError> {
    let wrong =
        |why: String| ApiError::invalid(format!("the arguments of {tool} do not fit: {why}; see its inputSchema"));
    let said = Value::Object(arguments);
    let read: T = serde_path_to_error::deserialize(&said).map_err(|error| {
        let path = error.path().to_string();
        match path == "." || error.inner().to_string().contains(&format!("`{path}`")) {
            true => wrong(error.inner().to_string()),
            false => wrong(format!("`{path}`: {}", error.inner())),
        }
    })?;
    match misread(&said, &read) {
        Some(place) => Err(wrong(format!("`{place}` has to be an object, not an array"))),
        None => Ok(read),
    }
}
