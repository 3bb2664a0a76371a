//! One SQL text for both databases, and its arguments.
//!
//! Arguments are numbered (`$1`), which both databases understand.

use sqlx::{
    Decode, Encode, FromRow, Postgres, Row, Sqlite, Type,
    postgres::{PgArguments, PgRow},
    query::Query,
    sqlite::{SqliteArguments, SqliteRow},
};

/// An SQL text, with a variant for each database where one text will not do for both.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text {
    pub(crate) sqlite: &'static str,
    pub(crate) postgres: &'static str,
}

impl From<&'static str> for Text {
    fn from(both: &'static str) -> Self {
        Self { sqlite: both, postgres: both }
    }
}

/// A text with its arguments, and where it will run: `S` is a handle to SQLite, `P` one to PostgreSQL.
pub(crate) enum Statement<S, P> {
    Sqlite(Query<'static, Sqlite, SqliteArguments>, S),
    Postgres(Query<'static, Postgres, PgArguments>, P),
}

impl<S, P> Statement<S, P> {
    pub(crate) fn bind<'t>(self, value: impl Argument<'t>) -> Self {
        match self {
            Self::Sqlite(query, connection) => Self::Sqlite(query.bind(value), connection),
            Self::Postgres(query, connection) => Self::Postgres(query.bind(value), connection),
        }
    }
}

/// A value that both databases accept.
pub(crate) trait Argument<'t>:
    Encode<'t, Sqlite> + Type<Sqlite> + Encode<'t, Postgres> + Type<Postgres>
{
}

impl<'t, T: Encode<'t, Sqlite> + Type<Sqlite> + Encode<'t, Postgres> + Type<Postgres>> Argument<'t> for T {}

/// A value that both databases return.
pub(crate) trait Column:
    for<'r> Decode<'r, Sqlite> + Type<Sqlite> + for<'r> Decode<'r, Postgres> + Type<Postgres>
{
}

impl<T: for<'r> Decode<'r, Sqlite> + Type<Sqlite> + for<'r> Decode<'r, Postgres> + Type<Postgres>> Column for T {}

/// A row of either database.
pub(crate) trait Line: Row {
    fn at<T: Column>(&self, index: usize) -> Result<T, sqlx::Error>;
}

impl Line for SqliteRow {
    fn at<T: Column>(&self, index: usize) -> Result<T, sqlx::Error> {
        self.try_get(index)
    }
}

impl Line for PgRow {
    fn at<T: Column>(&self, index: usize) -> Result<T, sqlx::Error> {
        self.try_get(index)
    }
}

/// A type that can be read from a row of either database.
pub(crate) trait Columns: for<'r> FromRow<'r, SqliteRow> + for<'r> FromRow<'r, PgRow> + Send + Unpin {}

impl<T: for<'r> FromRow<'r, SqliteRow> + for<'r> FromRow<'r, PgRow> + Send + Unpin> Columns for T {}
