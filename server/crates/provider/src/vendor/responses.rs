//! OpenAI's Responses API, as far as the library does not say or read it.
//!
//! The library carries the question there and reads the words of the answer. It drops the id and the summary of a sealed thought,
//! asks for the most talkative summaries, and knows neither why an answer is incomplete nor a refusal. So the body of a question
//! is written here, and all but the words of an answer is read here.

mod events;
mod question;

pub(super) use self::{
    events::{AFTER_CALLS, End, Read, notices, read, whole},
    question::body,
};
