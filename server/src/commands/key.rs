use std::io::{BufRead, IsTerminal, Read, stdin};

use anyhow::{Context, Result, bail};
use protocol::{GiveKey, operations};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use secrecy::{ExposeSecret, SecretString};

use super::Caller;
use crate::{
    cli::{KeyVerb, SetKeyOptions},
    output,
};

/// A key is a line of text; no more than this is read.
const KEY_BYTES_MAX: u64 = 16 * 1024;
/// The shell's exit code for a program ended by Ctrl-C.
const INTERRUPTED: i32 = 130;

/// Gives a provider its key, or has the key forgotten.
pub(super) async fn key(caller: &Caller, verb: KeyVerb) -> Result<()> {
    match verb {
        KeyVerb::Set(options) => set(caller, options).await,
        KeyVerb::Forget { provider } => forget(caller, provider).await,
    }
}

async fn set(caller: &Caller, options: SetKeyOptions) -> Result<()> {
    let SetKeyOptions { provider: name, kind, base_url } = options;
    // Never as an argument: those appear in the process list and in the shell's history.
    let key = read_key(&name).await?;
    let key = key.expose_secret().trim().to_owned();
    if key.is_empty() {
        bail!("no key came on standard input");
    }
    let provider = caller.client.read(&operations::SetKey { name, body: GiveKey { kind, base_url, key } }).await?;
    match caller.config.json {
        true => output::json(&provider),
        false => output::line(&format!("{} works: {} models; its key is kept", provider.name, provider.models.len())),
    }
}

async fn forget(caller: &Caller, name: String) -> Result<()> {
    caller.client.read(&operations::ForgetKey { name: name.clone() }).await?;
    match caller.config.json {
        true => output::json(&serde_json::json!({ "forgotten": name })),
        false => output::line(&format!("the key of {name} is forgotten")),
    }
}

/// Reads a line without echoing it, or reads standard input.
async fn read_key(name: &str) -> Result<SecretString> {
    let mut text = String::new();
    if !stdin().is_terminal() {
        stdin().take(KEY_BYTES_MAX).read_to_string(&mut text).context("standard input is not text")?;
        return Ok(SecretString::from(text));
    }
    let unseen = Unseen::begin().context("this terminal cannot hide what is typed; give the key on standard input")?;
    eprint!("Key of {name} (not shown): ");
    let typing = tokio::task::spawn_blocking(move || {
        let read = stdin().lock().take(KEY_BYTES_MAX).read_line(&mut text);
        read.map(|_| SecretString::from(text))
    });
    let typed = tokio::select! {
        typed = typing => typed,
        _ = tokio::signal::ctrl_c() => {
            drop(unseen);
            eprintln!();
            // There is no other way to end the thread that reads.
            std::process::exit(INTERRUPTED);
        }
    };
    drop(unseen);
    eprintln!();
    typed.context("the terminal could not be read")?.context("what was typed is not text")
}

/// Turns off the terminal's echo until it is dropped.
struct Unseen {
    before: Termios,
}

impl Unseen {
    fn begin() -> Result<Self> {
        let before = tcgetattr(stdin())?;
        let mut unseen = before.clone();
        unseen.local_modes.remove(LocalModes::ECHO);
        tcsetattr(stdin(), OptionalActions::Flush, &unseen)?;
        Ok(Self { before })
    }
}

impl Drop for Unseen {
    fn drop(&mut self) {
        // If the terminal is gone, there is nothing left to do.
        let _ = tcsetattr(stdin(), OptionalActions::Now, &self.before);
    }
}
