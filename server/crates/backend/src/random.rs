//! Random secrets.

use protocol::{ApiError, ErrorCode};

/// `BYTES` random bytes as hex digits.
///
/// # Errors
/// `internal`: the system gives no random numbers.
pub(crate) fn random_hex<const BYTES: usize>() -> Result<String, ApiError> {
    let mut bytes = [0_u8; BYTES];
    getrandom::fill(&mut bytes)
        .map_err(|error| ApiError::new(ErrorCode::Internal, format!("the system gave no random numbers: {error}")))?;
    Ok(hex(&bytes))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
