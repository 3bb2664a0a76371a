//! The helper: this program, started again with a hidden argument as an ordinary process without threads of its own or
//! an async runtime. Decides which part of the helper a process is.

use std::{
    ffi::OsString,
    io::{self, BufRead, Read},
    process::ExitCode,
};

use serde::de::DeserializeOwned;

use super::{
    channel::Channel,
    first::{self, Streams},
    keeper, kernel,
};

/// The first argument of the keeper, and that of the first process if another program builds the sandbox.
pub(super) const KEEPER: &str = "__shell";
pub(super) const FIRST: &str = "__shell-first";
/// This very program, even if its file has been replaced since.
pub(super) const OWN_PROGRAM: &str = "/proc/self/exe";
/// The most bytes of an order; the kernel's limit for a command line is far lower.
const ORDER_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Runs the helper if this process was started as one; otherwise returns `None`. Call this first in `main`, before any
/// threads are started and before the command line is parsed.
///
/// `arguments` are those of the process without its name.
pub fn helper_main(arguments: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let mut arguments = arguments.into_iter();
    match arguments.next()?.to_str()? {
        KEEPER => Some(keeper::keep()),
        FIRST => Some(be_first(arguments)),
        _ => None,
    }
}

/// Runs the first process in the sandbox. The arguments are the descriptors of the channel, of the command's output
/// and, for a served program, of its stream; the order arrives on standard input.
fn be_first(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let mut descriptors = arguments.filter_map(|number| kernel::inherited(number.to_str()?.parse().ok()?).ok());
    let (Some(channel), Some(output)) = (descriptors.next(), descriptors.next()) else {
        return ExitCode::FAILURE;
    };
    let streams = Streams { output, talk: descriptors.next() };
    match read_line(&mut io::stdin().lock()) {
        Ok(inside) => first::be_first(&inside, &Channel::of(channel), streams),
        // The keeper notices the end.
        Err(_) => ExitCode::FAILURE,
    }
}

/// Reads one line of JSON.
pub(super) fn read_line<T: DeserializeOwned>(input: &mut impl BufRead) -> io::Result<T> {
    let mut line = String::new();
    input.by_ref().take(ORDER_BYTES_MAX).read_line(&mut line)?;
    Ok(serde_json::from_str(&line)?)
}
