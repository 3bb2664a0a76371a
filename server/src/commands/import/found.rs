//! Finds the sessions of other coding agents in a home folder.

use std::{
    ffi::OsStr,
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
};

use etcetera::BaseStrategy as _;
use jiff::Timestamp;
use protocol::ImportFormat;
use serde::Serialize;
use serde_json::Value;

/// The most sessions that are listed.
const LISTED_MAX: usize = 50;
/// The most files that are looked at.
const FILES_MAX: usize = 20_000;
/// How deep below an agent's folder its sessions are.
const DEPTH_MAX: usize = 4;
/// How much of a file is read to see what it is about.
const HEAD_BYTES_MAX: u64 = 256 * 1024;

/// Where the agents keep their sessions.
#[derive(Debug)]
pub(super) struct Spots {
    claude: PathBuf,
    codex: PathBuf,
    opencode: PathBuf,
}

impl Spots {
    pub(super) fn of_user() -> Self {
        let home = etcetera::home_dir().unwrap_or_default();
        let data = etcetera::choose_base_strategy().map_or_else(|_| home.join(".local/share"), |of| of.data_dir());
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        Self {
            claude: set("CLAUDE_CONFIG_DIR").unwrap_or_else(|| home.join(".claude")).join("projects"),
            codex: set("CODEX_HOME").unwrap_or_else(|| home.join(".codex")).join("sessions"),
            opencode: data.join("opencode/storage/session"),
        }
    }
}

/// The session files of all agents, newest first.
#[derive(Debug)]
pub(super) struct Sessions(Vec<(Dated, ImportFormat)>);

/// One session in the list.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Listed {
    pub(super) agent: &'static str,
    pub(super) at: Timestamp,
    pub(super) folder: Option<String>,
    pub(super) words: String,
    /// The file, or for opencode the session's id.
    pub(super) source: String,
}

impl Sessions {
    pub(super) fn find(spots: &Spots) -> Self {
        let mut found = Vec::new();
        for (format, folder) in [
            (ImportFormat::Claude, &spots.claude),
            (ImportFormat::Codex, &spots.codex),
            (ImportFormat::Opencode, &spots.opencode),
        ] {
            let mut files = Vec::new();
            collect(folder, DEPTH_MAX, format, &mut files);
            found.extend(files.into_iter().map(|file| (file, format)));
        }
        found.sort_unstable_by(|(one, _), (other, _)| other.cmp(one));
        Self(found)
    }

    /// The newest ones that say something, and the number of files that were not looked at.
    pub(super) fn listed(&self) -> (Vec<Listed>, usize) {
        let mut listed = Vec::new();
        for (number, ((at, file), format)) in self.0.iter().enumerate() {
            if listed.len() == LISTED_MAX {
                return (listed, self.0.len() - number);
            }
            listed.extend(look_at(*at, file, *format));
        }
        (listed, 0)
    }

    /// The newest session of an agent that worked in this folder.
    pub(super) fn newest_in(&self, format: ImportFormat, folder: &Path) -> Option<PathBuf> {
        let here = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        let is_here = |named: &str| {
            let named = Path::new(named);
            named == folder || fs::canonicalize(named).is_ok_and(|named| named == here)
        };
        let mut files = self.0.iter().filter(|(_, of)| *of == format);
        let found = files.find(|((at, file), _)| {
            look_at(*at, file, format).and_then(|listed| listed.folder).is_some_and(|folder| is_here(&folder))
        });
        found.map(|((_, file), _)| file.clone())
    }
}

/// A file, and when it was last written.
type Dated = (Timestamp, PathBuf);

/// Whether a file of this name is a session. Those of subagents are parts of others.
fn is_one(format: ImportFormat, name: &str) -> bool {
    match format {
        ImportFormat::Claude => name.ends_with(".jsonl") && !name.starts_with("agent-"),
        ImportFormat::Codex => name.ends_with(".jsonl") && name.starts_with("rollout-"),
        ImportFormat::Opencode => name.ends_with(".json"),
        ImportFormat::Yoi => false,
    }
}

/// The files below a folder; symbolic links are not followed.
fn collect(folder: &Path, depth: usize, format: ImportFormat, files: &mut Vec<Dated>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if files.len() == FILES_MAX {
            return;
        }
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && depth > 0 {
            collect(&entry.path(), depth - 1, format, files);
        } else if kind.is_file() && entry.file_name().to_str().is_some_and(|name| is_one(format, name)) {
            let at = entry.metadata().ok().and_then(|meta| Timestamp::try_from(meta.modified().ok()?).ok());
            files.push((at.unwrap_or(Timestamp::UNIX_EPOCH), entry.path()));
        }
    }
}

/// `None` if nothing is said in it.
fn look_at(at: Timestamp, file: &Path, format: ImportFormat) -> Option<Listed> {
    let mut head = Vec::new();
    File::open(file).ok()?.take(HEAD_BYTES_MAX).read_to_end(&mut head).ok()?;
    let head = String::from_utf8_lossy(&head);
    if format == ImportFormat::Opencode {
        return opencode(at, &head, file.file_stem());
    }
    let glance = runtime::glance(&head).filter(|glance| glance.format == format)?;
    let source = file.to_string_lossy().into_owned();
    Some(Listed { agent: format.as_str(), at, folder: glance.folder, words: glance.words, source })
}

/// Its messages are elsewhere; `opencode export` puts them together.
fn opencode(at: Timestamp, head: &str, stem: Option<&OsStr>) -> Option<Listed> {
    let info: Value = serde_json::from_str(head).ok()?;
    let field = |name: &str| info.get(name).and_then(Value::as_str).map(str::to_owned);
    let words = field("title")?;
    let source = field("id").or_else(|| Some(stem?.to_str()?.to_owned()))?;
    Some(Listed { agent: ImportFormat::Opencode.as_str(), at, folder: field("directory"), words, source })
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    /// Writes a file that is some seconds old.
    fn write(path: &Path, text: &str, age_s: u64) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        let file = File::options().write(true).open(path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(age_s)).unwrap();
    }

    #[test]
    fn sessions_are_found_newest_first_and_by_folder() {
        let home = tempfile::tempdir().unwrap();
        let spots =
            Spots { claude: home.path().join("c"), codex: home.path().join("x"), opencode: home.path().join("o") };
        let here = home.path().join("repo");
        fs::create_dir(&here).unwrap();
        let claude = |folder: &str, words: &str| {
            let message = serde_json::json!({ "role": "user", "content": words });
            format!(
                "{}\n{{\"cut",
                serde_json::json!({ "type": "user", "cwd": folder, "uuid": "1", "message": message })
            )
        };
        write(&spots.claude.join("-repo/1.jsonl"), &claude(here.to_str().unwrap(), "old one"), 300);
        write(&spots.claude.join("-repo/2.jsonl"), &claude(here.to_str().unwrap(), "new one"), 200);
        write(&spots.claude.join("-else/3.jsonl"), &claude("/else", "elsewhere"), 100);
        write(&spots.claude.join("-repo/agent-4.jsonl"), &claude(here.to_str().unwrap(), "a subagent"), 50);
        write(&spots.claude.join("-repo/5.jsonl"), "nothing", 40);
        let codex = "{\"type\":\"session_meta\",\"payload\":{\"cwd\":\"/b\"}}\n{\"type\":\"response_item\",\"payload\":\
            {\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"from\\n codex\"}]}}";
        write(&spots.codex.join("2026/11/21/rollout-1.jsonl"), codex, 150);
        write(&spots.opencode.join("p/ses_1.json"), r#"{"id":"ses_1","title":"Fix it","directory":"/c"}"#, 10);
        let sessions = Sessions::find(&spots);
        let (listed, others) = sessions.listed();
        let words: Vec<_> = listed.iter().map(|session| (session.agent, session.words.as_str())).collect();
        assert_eq!(
            words,
            [
                ("opencode", "Fix it"),
                ("claude", "elsewhere"),
                ("codex", "from codex"),
                ("claude", "new one"),
                ("claude", "old one"),
            ]
        );
        assert_eq!((listed[0].source.as_str(), listed[2].folder.as_deref(), others), ("ses_1", Some("/b"), 0));
        assert_eq!(sessions.newest_in(ImportFormat::Claude, &here), Some(spots.claude.join("-repo/2.jsonl")));
        assert_eq!(sessions.newest_in(ImportFormat::Codex, &here), None);
    }
}
