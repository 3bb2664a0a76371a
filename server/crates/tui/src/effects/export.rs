//! Writes a whole transcript as a Markdown file into the working directory.

use std::{
    fs::{File, OpenOptions},
    io::{ErrorKind, Write},
};

use client::{Client, ClientError};
use protocol::PodRef;

/// The maximum number of files with one base name.
const FILES_MAX: u32 = 99;

/// Exports and returns the file's name. Never overwrites an existing file; removes an incomplete one.
pub(super) async fn export(client: &Client, pod: &PodRef, name: &str) -> Result<String, ClientError> {
    let mut download = client.export(pod, "markdown").await?;
    let (path, mut file) = create(name).map_err(|error| unwritten(&error))?;
    let written = async {
        while let Some(piece) = download.chunk().await? {
            file.write_all(piece.as_ref()).map_err(|error| unwritten(&error))?;
        }
        Ok(())
    };
    match written.await {
        Ok(()) => Ok(path),
        Err(error) => {
            let _ = std::fs::remove_file(&path);
            Err(error)
        }
    }
}

fn unwritten(error: &std::io::Error) -> ClientError {
    ClientError::Invalid(format!("cannot write the transcript here: {error}"))
}

/// Creates `ada.md`, or `ada-2.md` if that exists.
fn create(name: &str) -> std::io::Result<(String, File)> {
    for number in 1..=FILES_MAX {
        let path = if number == 1 { format!("{name}.md") } else { format!("{name}-{number}.md") };
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(std::io::Error::other(format!("there are already {FILES_MAX} files of that name")))
}
