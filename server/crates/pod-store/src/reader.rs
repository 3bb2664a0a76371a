//! Reads. Each takes a connection from a small pool; all of them are safe beside the writer.

use std::{fmt::Debug, future::ready, sync::Arc};

use futures_util::{
    StreamExt, TryStreamExt,
    future::BoxFuture,
    stream::{self, BoxStream},
};
use sqlx::{PgPool, Sqlite, SqlitePool, pool::PoolConnection, postgres::PgRow, sqlite::SqliteRow};

use crate::{
    StoreError,
    on_the_spot::{settled, waits_on_the_spot},
    outage::Health,
    statement::{Argument, Columns, Statement, Text},
};

/// What differs between databases besides their SQL: the meaning of their failures.
pub(crate) trait Engine: Debug + Send + Sync {
    /// Whether the open database is still the one at its place; if not, what has happened and what to do.
    fn find(&self) -> Result<(), String> {
        Ok(())
    }

    /// In a simulation: ends when a request has reached the database, or its answer this host.
    fn pass(&self) -> BoxFuture<'_, Result<(), sqlx::Error>> {
        Box::pin(ready(Ok(())))
    }

    /// The error for a failed read; `operation` completes "cannot …".
    fn read_failed(&self, operation: &'static str, error: sqlx::Error) -> StoreError;

    /// Adds the damaged file to an error.
    fn in_file(&self, error: StoreError) -> StoreError {
        error
    }
}

/// The connections that read.
#[derive(Debug, Clone)]
pub(crate) enum Readers {
    Sqlite(SqlitePool),
    Postgres(PgPool),
}

/// What a part of the store needs to read.
#[derive(Debug, Clone)]
pub(crate) struct Reader {
    pub(crate) readers: Readers,
    pub(crate) engine: Arc<dyn Engine>,
    pub(crate) health: Arc<Health>,
}

/// A query being built.
#[must_use]
pub(crate) struct Select<'r> {
    reader: &'r Reader,
    statement: Statement<&'r SqlitePool, &'r PgPool>,
}

impl Reader {
    pub(crate) fn select(&self, text: impl Into<Text>) -> Select<'_> {
        let text = text.into();
        let statement = match &self.readers {
            Readers::Sqlite(pool) => Statement::Sqlite(sqlx::query(text.sqlite), pool),
            Readers::Postgres(pool) => Statement::Postgres(sqlx::query(text.postgres), pool),
        };
        Select { reader: self, statement }
    }

    /// Counts a failed read and refines its error.
    fn told<T>(&self, read: Result<T, StoreError>) -> Result<T, StoreError> {
        let mut read = read;
        if let Err(StoreError::Unread(_)) = read
            && let Err(why) = self.engine.find()
        {
            read = Err(StoreError::Lost(why));
        }
        if matches!(
            read,
            Err(StoreError::Unread(_) | StoreError::Lost(_) | StoreError::Damaged(_) | StoreError::Database(_))
        ) {
            self.health.read_failed();
        }
        read.map_err(|error| self.engine.in_file(error))
    }

    pub(crate) async fn close(&self) {
        match &self.readers {
            Readers::Sqlite(pool) => settled(pool.close()).await,
            Readers::Postgres(pool) => pool.close().await,
        }
    }
}

impl<'r> Select<'r> {
    /// For arguments that one of the databases needs in a form of its own.
    pub(crate) fn is_postgres(&self) -> bool {
        matches!(self.statement, Statement::Postgres(..))
    }

    pub(crate) fn bind<'t>(self, value: impl Argument<'t>) -> Self {
        Self { statement: self.statement.bind(value), ..self }
    }

    /// All rows, each passed to `read`. `operation` completes "cannot …".
    pub(crate) async fn all<T: Columns, R>(
        self,
        operation: &'static str,
        read: impl FnMut(T) -> Result<R, StoreError>,
    ) -> Result<Vec<R>, StoreError> {
        let reader = self.reader;
        let rows = self.rows().collect().await.map_err(|error| reader.engine.read_failed(operation, error));
        reader.told(rows.and_then(|rows| rows.into_iter().map(read).collect()))
    }

    /// The first row, if there is one.
    pub(crate) async fn one<T: Columns, R>(
        self,
        operation: &'static str,
        read: impl FnOnce(T) -> Result<R, StoreError>,
    ) -> Result<Option<R>, StoreError> {
        let reader = self.reader;
        let row = match self.first().await {
            Ok(Some(Row::Sqlite(row))) => T::from_row(&row).map(Some),
            Ok(Some(Row::Postgres(row))) => T::from_row(&row).map(Some),
            Ok(None) => Ok(None),
            Err(error) => Err(error),
        };
        let row = row.map_err(|error| reader.engine.read_failed(operation, error));
        reader.told(row.and_then(|row| row.map(read).transpose()))
    }

    /// The single number of a single row.
    pub(crate) async fn count(self, operation: &'static str) -> Result<i64, StoreError> {
        Ok(self.one(operation, |(count,): (i64,)| Ok(count)).await?.unwrap_or_default())
    }

    // These two are not generic over `T`, and are boxed, so that the code that runs a statement is compiled once in
    // this crate and not again in each crate that awaits one (docs/decisions/0068-waiting-is-compiled-once.md).

    fn rows(self) -> Rows<'r> {
        match self.statement {
            Statement::Sqlite(query, pool) if waits_on_the_spot() => {
                let read = async move {
                    let mut connection = pool.acquire().await?;
                    let rows: Vec<_> = query.fetch(&mut *connection).collect().await;
                    give_back(connection).await;
                    Ok::<_, sqlx::Error>(stream::iter(rows))
                };
                Rows::Sqlite(stream::once(there_and_back(self.reader, read)).try_flatten().boxed())
            }
            Statement::Sqlite(query, pool) => Rows::Sqlite(query.fetch(pool)),
            Statement::Postgres(query, pool) => Rows::Postgres(query.fetch(pool)),
        }
    }

    fn first(self) -> BoxFuture<'r, Result<Option<Row>, sqlx::Error>> {
        match self.statement {
            Statement::Sqlite(query, pool) => {
                let reader = self.reader;
                let read = async move {
                    let mut connection = pool.acquire().await?;
                    let row = query.fetch_optional(&mut *connection).await;
                    give_back(connection).await;
                    Ok(row?.map(Row::Sqlite))
                };
                Box::pin(there_and_back(reader, read))
            }
            Statement::Postgres(query, pool) => {
                Box::pin(async move { Ok(query.fetch_optional(pool).await?.map(Row::Postgres)) })
            }
        }
    }
}

/// Reads at the database, which in a simulation may be elsewhere.
async fn there_and_back<T>(
    reader: &Reader,
    read: impl Future<Output = Result<T, sqlx::Error>>,
) -> Result<T, sqlx::Error> {
    if !waits_on_the_spot() {
        return read.await;
    }
    reader.engine.pass().await?;
    let read = settled(read).await;
    reader.engine.pass().await?;
    read
}

/// Dropped, a connection finds its way back to the pool in a task of its own; on the spot, it has to be back at once.
pub(crate) async fn give_back(mut connection: PoolConnection<Sqlite>) {
    if waits_on_the_spot() {
        connection.return_to_pool().await;
    }
}

/// A row of either database.
enum Row {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

/// The rows of either database, as a stream.
enum Rows<'r> {
    Sqlite(BoxStream<'r, Result<SqliteRow, sqlx::Error>>),
    Postgres(BoxStream<'r, Result<PgRow, sqlx::Error>>),
}

impl Rows<'_> {
    async fn collect<T: Columns>(self) -> Result<Vec<T>, sqlx::Error> {
        let mut read = Vec::new();
        match self {
            Self::Sqlite(mut rows) => {
                while let Some(row) = rows.try_next().await? {
                    read.push(T::from_row(&row)?);
                }
            }
            Self::Postgres(mut rows) => {
                while let Some(row) = rows.try_next().await? {
                    read.push(T::from_row(&row)?);
                }
            }
        }
        Ok(read)
    }
}
