//! Says why a server cannot be reached, in our own words instead of the library's.

use std::error::Error;

use rmcp::{
    service::ClientInitializeError,
    transport::{DynamicTransportError, streamable_http_client::StreamableHttpError},
};

/// Explains why a connection could not be established.
pub(crate) fn of_greeting(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::TransportError { error, .. } => of_transport(error),
        // Uses the answer to the older handshake: a server that does not know the newer one refuses that first.
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => of_greeting(fallback),
        ClientInitializeError::JsonRpcError(error) => format!("it refused: {}", error.message),
        other => whole(other),
    }
}

/// Explains why something could not be sent, or got no answer.
pub(crate) fn of_transport(error: &DynamicTransportError) -> String {
    match error.error.downcast_ref() {
        Some(StreamableHttpError::<reqwest::Error>::Client(error)) => {
            format!("it cannot be reached: {}", innermost(error))
        }
        _ => whole(&*error.error),
    }
}

/// Returns the root cause: the errors around it only name addresses and layers.
fn innermost(error: &dyn Error) -> String {
    let mut error = error;
    while let Some(cause) = error.source() {
        error = cause;
    }
    error.to_string()
}

/// Joins the error and all its causes.
fn whole(error: &dyn Error) -> String {
    let mut words = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        words = format!("{words}: {cause}");
        source = cause.source();
    }
    words
}
