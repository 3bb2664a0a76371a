//! How much is accepted from a server, and how long it is waited for.

use std::time::Duration;

/// The size of one message from a server: a line, an event, an answer.
pub(crate) const MESSAGE_BYTES_MAX: usize = 8 << 20;
/// The number of tools of one server.
pub(crate) const TOOLS_MAX: usize = 100;
/// The number of tools of all servers of one Pod: vendors accept about 128, and our own tools are among them.
pub(crate) const TOOLS_OF_POD_MAX: usize = 110;
/// The number of pages in one list.
pub(crate) const PAGES_MAX: usize = 16;
/// The size of one tool's schema, and of all schemas of one server.
pub(crate) const SCHEMA_BYTES_MAX: usize = 16 << 10;
pub(crate) const SCHEMAS_BYTES_MAX: usize = 256 << 10;
/// The length of a tool's description.
pub(crate) const DESCRIPTION_CHARS_MAX: usize = 2_000;
/// The length of an error, on one line.
pub(crate) const DETAIL_CHARS_MAX: usize = 300;
/// The length of a question's sentence.
pub(crate) const MESSAGE_CHARS_MAX: usize = 2_000;
/// The size of a question's form, and the number of its fields.
pub(crate) const FORM_BYTES_MAX: usize = 16 << 10;
pub(crate) const FIELDS_MAX: usize = 32;
/// How much of a result a model gets.
pub(crate) const CONTENT_CHARS_MAX: usize = 30_000;
/// The size of a picture in a result, as base64.
pub(crate) const PICTURE_BYTES_MAX: usize = 7 << 20;
/// The size of all progress that one call reports.
pub(crate) const PROGRESS_BYTES_MAX: usize = 64 << 10;
/// How much of a server's standard error is kept: the newest part.
pub(crate) const LOG_BYTES_MAX: usize = 64 << 10;
/// The number of messages that are accepted at once, and then per second.
pub(crate) const BURST: u32 = 200;
pub(crate) const EACH_SECOND: u32 = 100;
/// The number of questions in one call.
pub(crate) const QUESTIONS_MAX: usize = 16;
/// The number of rounds in one call in which the server asks for more input.
pub(crate) const ROUNDS_MAX: usize = 16;

/// The number of prompts, and of resources, of one server.
pub(crate) const SHELF_MAX: usize = 1_000;
/// The length of a resource's address, and of its name.
pub(crate) const URI_CHARS_MAX: usize = 2_000;
pub(crate) const NAME_CHARS_MAX: usize = 200;
/// For how many variables a server is asked at once, how many values of one are taken, and how long one may take.
pub(crate) const ASKED_MAX: usize = 4;
pub(crate) const VALUES_MAX: usize = 100;
pub(crate) const COMPLETE_MAX: Duration = Duration::from_secs(5);
/// How long a list of them counts …
pub(crate) const SHELF_FRESH: Duration = Duration::from_secs(60);
/// … and how long a person waits for a server that has to be started for it.
pub(crate) const VISIT_MAX: Duration = Duration::from_secs(10);
/// How long a server may take to start and to list its tools.
pub(crate) const START_MAX: Duration = Duration::from_secs(40);
/// How long a model call waits for servers that are starting; after that it does without them.
pub(crate) const SETTLE_MAX: Duration = Duration::from_secs(20);
/// How long a tool call waits for its server.
pub(crate) const READY_MAX: Duration = Duration::from_secs(30);
/// How long a call may report nothing …
pub(crate) const CALL_SILENCE_MAX: Duration = Duration::from_secs(300);
/// … and how long it may take in total, not counting questions to people.
pub(crate) const CALL_MAX: Duration = Duration::from_secs(3_600);
/// How long lists may take, and whatever is read for them.
pub(crate) const LIST_MAX: Duration = Duration::from_secs(20);
/// The wait before the first new attempt, and the longest wait.
pub(crate) const BACKOFF_FIRST: Duration = Duration::from_secs(1);
pub(crate) const BACKOFF_MAX: Duration = Duration::from_secs(300);
/// The least time between two readings of lists that have changed.
pub(crate) const RELIST_EVERY: Duration = Duration::from_secs(2);
