//! The identity of a file, independent of its name.

use std::path::Path;

use rustix::{
    fd::AsFd,
    fs::{FileType, fstat},
    io,
};
use serde::{Deserialize, Serialize};

use super::super::carve::open;

/// Unique among the existing files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(in super::super) struct Identity {
    device: u64,
    number: u64,
    pub(super) is_folder: bool,
}

impl Identity {
    pub(super) fn of(file: impl AsFd) -> io::Result<Self> {
        let stat = fstat(file)?;
        let is_folder = FileType::from_raw_mode(stat.st_mode).is_dir();
        Ok(Self { device: stat.st_dev, number: stat.st_ino, is_folder })
    }

    /// What is at `path`, if no part of it is a link.
    pub(super) fn at(path: &Path) -> io::Result<Self> {
        Self::of(open(path)?)
    }
}
