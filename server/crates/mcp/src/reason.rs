//! Why a server is not reached, in words of its own and without the library's.

use std::error::Error;

use rmcp::{
    service::ClientInitializeError,
    transport::{DynamicTransportError, streamable_http_client::StreamableHttpError},
};

/// Of a connection that did not come to stand.
pub(crate) fn of_greeting(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::TransportError { error, .. } => of_transport(error),
        // What it said to the older greeting: whoever does not know the newer one says so first.
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => of_greeting(fallback),
        ClientInitializeError::JsonRpcError(error) => format!("it refused: {}", error.message),
        other => whole(other),
    }
}

/// Of something that could not be sent, or got no answer.
pub(crate) fn of_transport(error: &DynamicTransportError) -> String {
    match error.error.downcast_ref() {
        Some(StreamableHttpError::<reqwest::Error>::Client(error)) => {
            format!("it cannot be reached: {}", innermost(error))
        }
        _ => whole(&*error.error),
    }
}

/// The first cause: what stands before it names addresses and layers.
fn innermost(error: &dyn Error) -> String {
    let mut error = error;
    while let Some(cause) = error.source() {
        error = cause;
    }
    error.to_string()
}

/// With all causes.
fn whole(error: &dyn Error) -> String {
    let mut words = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        words = format!("{words}: {cause}");
        source = cause.source();
    }
    words
}
