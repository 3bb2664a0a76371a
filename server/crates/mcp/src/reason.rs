//! Says why a server cannot be reached, in our own words instead of the library's.

use std::error::Error;

use rmcp::{
    ServiceError,
    service::ClientInitializeError,
    transport::{
        DynamicTransportError,
        auth::AuthError,
        streamable_http_client::{AuthRequiredError, InsufficientScopeError, StreamableHttpError},
    },
};

/// A server's demand for a login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Demand {
    /// The demand as the server put it.
    pub(crate) challenge: Option<String>,
    /// The scopes that the request lacked.
    pub(crate) more: Option<String>,
}

/// Returns the demand for a login because of which a connection could not be established.
pub(crate) fn demand_at_greeting(error: &ClientInitializeError) -> Option<Demand> {
    match error {
        ClientInitializeError::TransportError { error, .. } => demand(&*error.error),
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => demand_at_greeting(fallback),
        _ => None,
    }
}

/// Returns the demand for a login because of which a request was not answered.
pub(crate) fn demand_at_request(error: &ServiceError) -> Option<Demand> {
    match error {
        ServiceError::TransportSend(error) => demand(&*error.error),
        _ => None,
    }
}

fn demand(error: &(dyn Error + 'static)) -> Option<Demand> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(required) = error.downcast_ref::<AuthRequiredError>() {
            return Some(Demand { challenge: Some(required.www_authenticate_header.clone()), more: None });
        }
        if let Some(lacking) = error.downcast_ref::<InsufficientScopeError>() {
            let challenge = lacking.www_authenticate_header.clone();
            let is_about_scopes = lacking.required_scope.is_some() || challenge.contains("insufficient_scope");
            let more = lacking.required_scope.clone().unwrap_or_default();
            return is_about_scopes.then_some(Demand { challenge: Some(challenge), more: Some(more) });
        }
        if matches!(error.downcast_ref(), Some(AuthError::AuthorizationRequired)) {
            return Some(Demand { challenge: None, more: None });
        }
        cause = error.source();
    }
    // A refusal without the header that says how to log in.
    whole(error).contains("HTTP 401").then_some(Demand { challenge: None, more: None })
}

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
pub(crate) fn whole(error: &dyn Error) -> String {
    let mut words = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        words = format!("{words}: {cause}");
        source = cause.source();
    }
    words
}
