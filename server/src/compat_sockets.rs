//! `--compat-sockets DIR`: a debug mode that also shows Pods of the older protocol.

use std::{path::PathBuf, sync::Arc};

use anyhow::Result;
use backend::{Backend, Entry, EntryKind};
use compat::CompatSockets;
use runtime::Host;

use crate::{config::BadConfig, options::ServeOptions};

/// The folder, if the mode is requested. A folder that does not exist is a configuration error.
pub(crate) fn folder(options: &ServeOptions) -> Result<Option<PathBuf>, BadConfig> {
    let Some(folder) = &options.compat_sockets else { return Ok(None) };
    let wrong = |why: &str| BadConfig(format!("--compat-sockets {}: {why}", folder.display()));
    let folder = std::path::absolute(folder).map_err(|error| wrong(&error.to_string()))?;
    match std::fs::metadata(&folder) {
        Ok(found) if found.is_dir() => Ok(Some(folder)),
        Ok(_) => Err(wrong("not a folder")),
        Err(error) => Err(wrong(&error.to_string())),
    }
}

/// Adds the runtime of the older Pods to the registry.
pub(crate) async fn add(backend: &Backend, host: Host, folder: Option<PathBuf>) -> Result<()> {
    let Some(folder) = folder else { return Ok(()) };
    tracing::warn!(
        folder = %folder.display(),
        "debug mode: --compat-sockets serves Pods of the older protocol as the runtime `compat`; nothing of them is stored"
    );
    let compat = CompatSockets::start(&folder, host).await?;
    backend.registry().insert(CompatSockets::runtime_id(), Entry::new(EntryKind::Compat, Arc::new(compat))).map_err(
        |_| {
            let sentence =
                "a server that was added is called \"compat\", which --compat-sockets needs; remove it first";
            BadConfig(sentence.to_owned()).into()
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(folder: Option<&str>) -> ServeOptions {
        ServeOptions { compat_sockets: folder.map(PathBuf::from), ..ServeOptions::default() }
    }

    #[test]
    fn the_mode_is_off_unless_a_folder_is_named_that_is_there() {
        assert_eq!(folder(&options(None)), Ok(None));
        let there = tempfile::tempdir().unwrap();
        assert_eq!(folder(&options(there.path().to_str())), Ok(Some(there.path().to_owned())));
        let sentence = folder(&options(Some("/no/such/folder"))).unwrap_err().to_string();
        assert!(sentence.starts_with("--compat-sockets /no/such/folder: "), "{sentence}");
    }
}
