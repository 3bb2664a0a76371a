//! The helper: this program again, started with one hidden word, an ordinary process without threads of its own or an
//! async runtime. Which of its parts a process is, is said here.

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

/// The first argument of the keeper, and of a room's first process where another program has built the room.
pub(super) const KEEPER: &str = "__shell";
pub(super) const FIRST: &str = "__shell-first";
/// This very program, also when its file was replaced while it ran.
pub(super) const OWN_PROGRAM: &str = "/proc/self/exe";
/// Bytes of an order; a command line of the kernel is far shorter.
const ORDER_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Runs the helper if that is what this process was started as; else none. Goes first in `main`, before threads and
/// before the command line is read.
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

/// The descriptors of the channel, of the command's output and, of one that is talked to, of that are its arguments, and its order
/// comes on its input.
fn be_first(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let mut descriptors = arguments.filter_map(|number| kernel::inherited(number.to_str()?.parse().ok()?).ok());
    let (Some(channel), Some(output)) = (descriptors.next(), descriptors.next()) else {
        return ExitCode::FAILURE;
    };
    let streams = Streams { output, talk: descriptors.next() };
    match read_line(&mut io::stdin().lock()) {
        Ok(inside) => first::be_first(&inside, &Channel::of(channel), streams),
        // The keeper hears of the end.
        Err(_) => ExitCode::FAILURE,
    }
}

/// One line of JSON.
pub(super) fn read_line<T: DeserializeOwned>(input: &mut impl BufRead) -> io::Result<T> {
    let mut line = String::new();
    input.by_ref().take(ORDER_BYTES_MAX).read_line(&mut line)?;
    Ok(serde_json::from_str(&line)?)
}
