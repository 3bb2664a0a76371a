//! OpenAI's Responses API, as far as the library does not support it.
//!
//! The library sends the request and reads the text of the answer. It drops the id and the summary of encrypted
//! reasoning, requests the most detailed summaries, and reads neither refusals nor why an answer is incomplete. So
//! the request body is built here, and everything except the answer's text is read here.

mod events;
mod question;

pub(super) use self::{
    events::{AFTER_CALLS, End, Read, notices, read, whole},
    question::body,
};
