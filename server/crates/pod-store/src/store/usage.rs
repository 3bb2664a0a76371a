//! What was used.

use crate::{Store, StoreError, UsageRows};

impl Store {
    /// What was used, by whom and when.
    pub async fn usage(&self) -> Result<UsageRows, StoreError> {
        self.read(self.engine().usage()).await
    }
}
