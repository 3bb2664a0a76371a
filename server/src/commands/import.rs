//! A Pod with a history from a file: another Pod's export, or a session of another coding agent.

mod found;

use std::{fs, io, path::Path};

use anyhow::{Context, Result, bail};
use jiff::Timestamp;
use protocol::{CommandId, ImportCommand, ImportFormat, PodName};

use self::found::{Sessions, Spots};
use super::{Caller, ago, name_of, new::absolute};
use crate::{cli::ImportOptions, config::BadConfig, output};

/// Creates a stopped Pod with the history in a file, or lists the files that could be imported.
pub(super) async fn import(caller: &Caller, options: ImportOptions) -> Result<()> {
    let Source { text, name, cwd } = match (options.list, options.last) {
        (true, _) => return list(caller),
        (false, Some(agent)) => last(&agent)?,
        (false, None) => named(&options.what)?,
    };
    let given = options.name.or(name);
    let name = given.or_else(|| runtime::glance(&text).map(|glance| glance.name())).unwrap_or_default();
    let name = PodName::parse(&name).map_err(|error| BadConfig(format!("{error}; name the new Pod with --name")))?;
    let cwd = options.cwd.as_deref().map(|cwd| absolute("--cwd", cwd)).transpose()?.or(cwd);
    let format = options.format.as_deref().and_then(ImportFormat::parse);
    let command = ImportCommand { format, cwd, ..ImportCommand::of(name, text) };
    let summary = caller.client.import(&CommandId::random(), &command).await?;
    let name = name_of(&summary.name, &summary.pod);
    match caller.config.json {
        true => output::json(&summary),
        false => output::line(&format!("{name} imported; `yoi restore {name}` starts it")),
    }
}

/// What is imported, and what is known of it besides its text.
struct Source {
    text: String,
    name: Option<String>,
    cwd: Option<String>,
}

/// The file that is named, and the Pod's name before it or, if its text gives none, the file's own.
fn named(what: &[String]) -> Result<Source> {
    let (name, file) = match what {
        [file] => (None, Path::new(file)),
        [name, file] => (Some(name.clone()), Path::new(file)),
        _ => {
            bail!(BadConfig("name a file to import; `yoi import --list` shows the sessions of other agents".to_owned()))
        }
    };
    let text = match file.as_os_str() == "-" {
        true => io::read_to_string(io::stdin()).context("standard input is not text")?,
        false => fs::read_to_string(file).with_context(|| format!("{} cannot be read", file.display()))?,
    };
    let stem = || file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let has_words = runtime::glance(&text).is_some_and(|glance| !glance.name().is_empty());
    Ok(Source { text, name: name.or_else(|| stem().filter(|_| !has_words)), cwd: None })
}

/// The newest session of an agent in this folder.
fn last(agent: &str) -> Result<Source> {
    let here = std::env::current_dir().context("the current directory is gone")?;
    let format = ImportFormat::parse(agent).unwrap_or(ImportFormat::Claude);
    let sessions = Sessions::find(&Spots::of_user());
    let Some(file) = sessions.newest_in(format, &here) else {
        bail!("no session of {} is in {}; `yoi import --list` shows all", format.title(), here.display());
    };
    let text = fs::read_to_string(&file).with_context(|| format!("{} cannot be read", file.display()))?;
    Ok(Source { text, name: None, cwd: Some(absolute("the current directory", &here)?) })
}

fn list(caller: &Caller) -> Result<()> {
    let sessions = Sessions::find(&Spots::of_user());
    let (listed, others) = sessions.listed();
    if caller.config.json {
        return output::json(&serde_json::json!({ "items": listed }));
    }
    if listed.is_empty() {
        output::note("there are no sessions of Claude Code, Codex or opencode in your home folder");
        return Ok(());
    }
    let now = Timestamp::now();
    output::headed(
        ["AGENT", "USED", "FOLDER", "FIRST WORDS", "FILE"],
        listed.iter().map(|session| {
            let folder = session.folder.clone().unwrap_or_default();
            let words: String = session.words.chars().take(60).collect();
            [session.agent.to_owned(), ago(session.at, now), folder, words, session.source.clone()]
        }),
    )?;
    if others > 0 {
        output::note(&format!("{others} older ones are not shown"));
    }
    output::note("`yoi import FILE` imports one; of opencode: `opencode export SESSION | yoi import -`");
    Ok(())
}
