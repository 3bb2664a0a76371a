//! The operations and checks that Schemathesis leaves out, each with its reason.

/// Operations by their id in the document.
pub(crate) const OPERATIONS: &[(&str, &str)] =
    &[("events", "a WebSocket, or a stream of events that does not end"), ("terminal", "a WebSocket")];

/// Operations that are left out only where the Pod exists, because they would end what the others work on. With ids
/// that are made up they run.
pub(crate) const WITH_A_POD: &[(&str, &str)] = &[("stop", "all that follows would find a stopped Pod")];

/// One check of one operation, by their names.
pub(crate) const CHECKS: &[(&str, &str, &str)] = &[(
    "keep_blob",
    "negative_data_rejection",
    "every sequence of bytes is a body: the kind of a blob is read from its bytes, not from its content type",
)];

/// The statuses that may answer a request that fits the document, 2xx and 3xx aside. The document does not say every
/// rule: a cursor belongs to its list, a name may be taken, a message is not blank.
pub(crate) const REFUSALS: &[u16] = &[400, 403, 404, 409, 410, 413, 422, 429, 502, 503];
