//! The operator's token: created once, kept in the data folder.

use std::{
    fmt::Write,
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use secrecy::{ExposeSecret, SecretString};

use crate::data_dir::{DataDir, write_private};

const FILE: &str = "token";
const HEADER_FILE: &str = "token.header";

/// The token of this server: the given one, or the folder's, which is created at the first start.
pub(crate) fn of_server(given: Option<SecretString>, data: &DataDir) -> Result<SecretString> {
    match given {
        Some(token) => Ok(token),
        None => match read(data.path())? {
            Some(token) => Ok(token),
            None => make(data.path()),
        },
    }
}

/// The token in the folder, if there is one.
///
/// # Errors
/// The file cannot be read, or is empty.
pub(crate) fn read(data: &Path) -> Result<Option<SecretString>> {
    let path = data.join(FILE);
    match fs::read_to_string(&path) {
        Ok(text) if text.trim().is_empty() => {
            bail!("{} is empty; remove it, and the next start makes a new token", path.display())
        }
        Ok(text) => Ok(Some(SecretString::from(text.trim()))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("the token {} cannot be read", path.display())),
    }
}

/// Creates a token: 256 random bits as 64 hex digits.
fn make(data: &Path) -> Result<SecretString> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes).context("the system gave no random numbers for a token")?;
    let token = bytes.iter().fold(String::with_capacity(64), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a String cannot fail");
        text
    });
    write_private(&data.join(FILE), &format!("{token}\n"))?;
    Ok(SecretString::from(token))
}

/// Writes the header with the token, for programs that read it from a file, so that it is not visible among a program's
/// arguments.
///
/// # Errors
/// The folder cannot be written to.
pub(crate) fn write_header(data: &Path, token: &SecretString) -> Result<PathBuf> {
    let path = std::path::absolute(data.join(HEADER_FILE)).context("the current directory is gone")?;
    write_private(&path, &format!("Authorization: Bearer {}\n", token.expose_secret()))?;
    Ok(path)
}

/// The address that logs a browser in.
pub(crate) fn login_url(base_url: &str, token: &SecretString) -> String {
    let mut url = format!("{base_url}/?token=");
    for byte in token.expose_secret().bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => url.push(char::from(byte)),
            other => write!(url, "%{other:02X}").expect("writing to a String cannot fail"),
        }
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_made_once_and_a_given_one_leaves_no_file() {
        let root = tempfile::tempdir().unwrap();
        let data = DataDir::hold(root.path()).unwrap();
        let given = of_server(Some(SecretString::from("mine")), &data).unwrap();
        assert_eq!((given.expose_secret(), read(root.path()).unwrap().is_none()), ("mine", true));
        let first = of_server(None, &data).unwrap();
        assert!(
            first.expose_secret().len() == 64 && first.expose_secret().bytes().all(|byte| byte.is_ascii_hexdigit())
        );
        assert_eq!(of_server(None, &data).unwrap().expose_secret(), first.expose_secret());
        fs::write(root.path().join(FILE), "\n").unwrap();
        assert!(of_server(None, &data).unwrap_err().to_string().contains("empty"));
    }

    #[test]
    fn any_token_survives_the_address_bar() {
        let url = login_url("http://127.0.0.1:1", &SecretString::from("a+b&c=d"));
        assert_eq!(url, "http://127.0.0.1:1/?token=a%2Bb%26c%3Dd");
    }
}
