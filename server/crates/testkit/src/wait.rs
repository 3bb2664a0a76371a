//! How tests wait: for a condition, and never for ever.

use std::time::Duration;

/// The longest that any wait in a test lasts before it fails. Generous: machines that run tests are busy.
pub const WAIT_MAX: Duration = Duration::from_secs(60);

/// Asks again and again until there is an answer.
///
/// # Panics
/// When there is none within [`WAIT_MAX`]; `what` says what was waited for.
pub async fn until<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let looking = async {
        loop {
            if let Some(found) = look().await {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(WAIT_MAX, looking).await.unwrap_or_else(|_| panic!("it never came to this: {what}"))
}
