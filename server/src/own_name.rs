//! The console's own name: `NAME.localhost`, where NAME is random and stays with the data folder.
//!
//! Browsers send a cookie to every port of its host. At `127.0.0.1` any server on this machine would get the console's
//! cookie; at a name that only the console has, none does.

use std::{fs, io::ErrorKind, path::Path};

use anyhow::{Context, Result, bail};

use crate::data_dir::write_private;

const FILE: &str = "console-name";
/// Browsers resolve names with this suffix to this machine, without a lookup.
const DOMAIN: &str = "localhost";
const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
/// 50 random bits: a page cannot guess the name.
const RANDOM_LETTERS: usize = 10;
/// The longest DNS label.
const LABEL_MAX: usize = 63;

/// The console name of this folder, created on first use.
///
/// # Errors
/// The file cannot be read or written, or contains no name.
pub(crate) fn of_folder(data: &Path) -> Result<String> {
    let path = data.join(FILE);
    match fs::read_to_string(&path) {
        Ok(text) if is_label(text.trim()) => Ok(format!("{}.{DOMAIN}", text.trim())),
        Ok(_) => bail!("{} holds no name; remove it, and the next start makes a new one", path.display()),
        Err(error) if error.kind() == ErrorKind::NotFound => make(&path),
        Err(error) => Err(error).with_context(|| format!("the console's name {} cannot be read", path.display())),
    }
}

fn make(path: &Path) -> Result<String> {
    let mut bytes = [0_u8; RANDOM_LETTERS];
    getrandom::fill(&mut bytes).context("the system gave no random numbers for the console's name")?;
    let letters: String = bytes.iter().map(|byte| char::from(LETTERS[usize::from(byte % 32)])).collect();
    let label = format!("yoi-{letters}");
    write_private(path, &format!("{label}\n"))?;
    Ok(format!("{label}.{DOMAIN}"))
}

fn is_label(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=LABEL_MAX).contains(&text.len()) && text.bytes().all(fits) && !text.starts_with('-') && !text.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_keeps_its_name_and_each_has_another() {
        let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let name = of_folder(one.path()).unwrap();
        assert!(name.starts_with("yoi-") && name.ends_with(".localhost") && name.len() == 24, "{name}");
        assert_eq!(of_folder(one.path()).unwrap(), name);
        assert_ne!(of_folder(two.path()).unwrap(), name);
        for bad in ["", "\n", "A", "a.b", "-a", "a b", &"a".repeat(64)] {
            fs::write(one.path().join(FILE), bad).unwrap();
            assert!(of_folder(one.path()).unwrap_err().to_string().contains("holds no name"), "{bad:?}");
        }
    }
}
