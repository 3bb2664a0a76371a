//! Limits on how much of an answer is read. A provider is untrusted: its output is counted before the library parses
//! it, and the library's output is counted again.
//!
//! Each limit is far beyond what a model says in one answer, yet low enough that a hundred Pods with a runaway
//! provider fit into a small machine.

use std::{fmt, time::Duration};

/// A whole answer on the wire, decompressed. 128,000 tokens of 250 bytes each are half of it.
pub(super) const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;
/// One event, or one line where a line is an event. Some servers send a long answer in a single one.
pub(super) const EVENT_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Events in one answer. Models send about a token per event, and never this many.
pub(super) const EVENTS_MAX: usize = 512 * 1024;
/// An unstreamed answer, or a list of models.
pub(super) const WHOLE_BYTES_MAX: usize = 8 * 1024 * 1024;
/// The body of a refusal: 500 characters of it are shown, anything beyond this is not read.
pub(super) const REFUSAL_BYTES_MAX: usize = 64 * 1024;
/// The text of an answer, including reasoning: it becomes records, which are kept for ever.
pub(super) const SAID_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Calls in one answer.
pub(super) const CALLS_MAX: usize = 128;
/// The arguments of one call. Even the longest file that a model can write in one answer is shorter.
pub(super) const ARGUMENTS_BYTES_MAX: usize = 1024 * 1024;
/// A call's name, and its id.
pub(super) const NAME_BYTES_MAX: usize = 512;
/// The models in a provider's list.
pub(super) const MODELS_MAX: usize = 2_000;
/// The total duration of an answer, however slowly it arrives. Between two events `TimeLimits::silence` applies.
pub(super) const ANSWER_TIME_MAX: Duration = Duration::from_secs(2 * 60 * 60);
/// Larger chunks are parsed off the runtime's shared threads.
pub(super) const AT_ONCE_BYTES_MAX: usize = 64 * 1024;

/// A limit that a provider exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TooMuch {
    Answer,
    Event,
    Events,
    Whole,
    Said,
    Calls,
    Arguments,
    Name,
    Models,
    Time,
}

impl fmt::Display for TooMuch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answer => write!(formatter, "an answer of more than {} MiB", ANSWER_BYTES_MAX >> 20),
            Self::Event => write!(formatter, "more than {} MiB in one piece of an answer", EVENT_BYTES_MAX >> 20),
            Self::Events => write!(formatter, "an answer in more than {EVENTS_MAX} pieces"),
            Self::Whole => write!(formatter, "more than {} MiB where one whole answer was due", WHOLE_BYTES_MAX >> 20),
            Self::Said => write!(formatter, "an answer that says more than {} MiB", SAID_BYTES_MAX >> 20),
            Self::Calls => write!(formatter, "more than {CALLS_MAX} calls in one answer"),
            Self::Arguments => {
                write!(formatter, "a call with more than {} MiB of arguments", ARGUMENTS_BYTES_MAX >> 20)
            }
            Self::Name => write!(formatter, "a call whose name or id has more than {NAME_BYTES_MAX} bytes"),
            Self::Models => write!(formatter, "a list of more than {MODELS_MAX} models"),
            Self::Time => write!(formatter, "an answer that took more than {} minutes", ANSWER_TIME_MAX.as_secs() / 60),
        }
    }
}
