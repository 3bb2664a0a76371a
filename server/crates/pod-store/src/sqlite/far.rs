//! What is known of other stores.

crate::far_sql::far_sql!(super::reader::Sqlite, sqlx::SqliteConnection);
