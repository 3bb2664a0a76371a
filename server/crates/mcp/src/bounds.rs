//! How much of a server is taken, and how long it is waited for.

use std::time::Duration;

/// Of one message of a server: a line, an event, an answer.
pub(crate) const MESSAGE_BYTES_MAX: usize = 8 << 20;
/// Tools of one server.
pub(crate) const TOOLS_MAX: usize = 100;
/// Tools of all servers of one Pod: vendors take some 128, and ours are among them.
pub(crate) const TOOLS_OF_POD_MAX: usize = 110;
/// Pages of one list.
pub(crate) const PAGES_MAX: usize = 16;
/// Of the schema of one tool, and of all that one server has.
pub(crate) const SCHEMA_BYTES_MAX: usize = 16 << 10;
pub(crate) const SCHEMAS_BYTES_MAX: usize = 256 << 10;
/// Of what a tool says of itself.
pub(crate) const DESCRIPTION_CHARS_MAX: usize = 2_000;
/// Of an error, in one line.
pub(crate) const DETAIL_CHARS_MAX: usize = 300;
/// Of a question's sentence.
pub(crate) const MESSAGE_CHARS_MAX: usize = 2_000;
/// Of a question's form, and fields in it.
pub(crate) const FORM_BYTES_MAX: usize = 16 << 10;
pub(crate) const FIELDS_MAX: usize = 32;
/// Of a result, what a model gets.
pub(crate) const CONTENT_CHARS_MAX: usize = 30_000;
/// Of a picture in a result, as base64.
pub(crate) const PICTURE_BYTES_MAX: usize = 7 << 20;
/// Of what one call tells meanwhile.
pub(crate) const PROGRESS_BYTES_MAX: usize = 64 << 10;
/// Of what a server writes on its standard error, the newest.
pub(crate) const LOG_BYTES_MAX: usize = 64 << 10;
/// Messages that are taken at once, and then each second.
pub(crate) const BURST: u32 = 200;
pub(crate) const EACH_SECOND: u32 = 100;
/// Questions of one call.
pub(crate) const QUESTIONS_MAX: usize = 16;
/// Rounds of one call in which the server asks for more.
pub(crate) const ROUNDS_MAX: usize = 16;

/// For a server to start and to tell its tools.
pub(crate) const START_MAX: Duration = Duration::from_secs(40);
/// A model's question waits so long for servers that begin; then they are left out of it.
pub(crate) const SETTLE_MAX: Duration = Duration::from_secs(20);
/// A call waits so long for its server.
pub(crate) const READY_MAX: Duration = Duration::from_secs(30);
/// A call may say nothing for so long …
pub(crate) const CALL_SILENCE_MAX: Duration = Duration::from_secs(300);
/// … and takes so long at most, questions to people left out.
pub(crate) const CALL_MAX: Duration = Duration::from_secs(3_600);
/// For lists and what is read of them.
pub(crate) const LIST_MAX: Duration = Duration::from_secs(20);
/// Before the first new attempt, and at most.
pub(crate) const BACKOFF_FIRST: Duration = Duration::from_secs(1);
pub(crate) const BACKOFF_MAX: Duration = Duration::from_secs(300);
/// Changed lists are read again no oftener.
pub(crate) const RELIST_EVERY: Duration = Duration::from_secs(2);
