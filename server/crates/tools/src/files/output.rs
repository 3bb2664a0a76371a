//! Long output of earlier calls, read under the name `output:CALL_ID`. Its real location is never revealed.

use std::{fs::File, io::Read as _};

use rustix::{
    fs::{CWD, FileType, Mode, OFlags, fstat, openat},
    io::Errno,
};

use super::{beneath::open_beneath, failure::Failure, work::Work};

/// No tool keeps more for one call.
const OUTPUT_BYTES_MAX: u64 = 64 * 1024 * 1024;

const PREFIX: &str = "output:";

/// The call whose output is meant, if `path` is of that kind.
pub(super) fn call_id(path: &str) -> Option<&str> {
    path.strip_prefix(PREFIX)
}

/// The stored output of a call, at most [`OUTPUT_BYTES_MAX`] of it. Invalid UTF-8 is replaced.
pub(super) fn read(work: &Work, call_id: &str) -> Result<String, Failure> {
    let is_id = !call_id.is_empty() && call_id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if !is_id {
        return Err(Failure::InvalidInput(
            "path: after `output:` comes the id of a call, of letters, digits and `-`, as its result gave it"
                .to_owned(),
        ));
    }
    let failed = |errno| match errno {
        Errno::NOENT | Errno::LOOP | Errno::NOTDIR | Errno::ISDIR => {
            Failure::NotFound(format!("{PREFIX}{call_id} (kept output of a call)"))
        }
        errno => Failure::Io(format!("{PREFIX}{call_id} was not read: {errno}")),
    };
    let folder = openat(CWD, &work.outputs, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
    let file = open_beneath(folder.map_err(failed)?, call_id, OFlags::RDONLY | OFlags::NONBLOCK).map_err(failed)?;
    if !FileType::from_raw_mode(fstat(&file).map_err(failed)?.st_mode).is_file() {
        return Err(failed(Errno::NOENT));
    }
    let mut bytes = Vec::new();
    File::from(file)
        .take(OUTPUT_BYTES_MAX)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::Io(format!("{PREFIX}{call_id} was not read: {error}")))?;
    Ok(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}
