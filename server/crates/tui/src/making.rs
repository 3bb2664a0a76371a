//! Parses the line that makes a Pod, `NAME [profile=…] [folder=…] [model=…] …`, and completes its words.

mod offers;

use std::path::Path;

use protocol::{Access, CreatePod, RuntimeId, ScopeRule};

use self::offers::Said;
pub(crate) use self::offers::{OFFERED_MAX, offers, standing};
use crate::{
    model::{FolderWord, Importing},
    sentences,
};

/// The settings of a new Pod, in the order in which they are offered.
const SETTINGS: [&str; 10] =
    ["profile", "folder", "agent", "model", "provider", "thinking", "read", "write", "deny", "runtime"];

/// Splits a line into words. `\ ` is a space within a word.
pub(crate) fn words(text: &str) -> Vec<String> {
    let (mut words, mut word, mut is_escaped) = (Vec::new(), String::new(), false);
    for char in text.chars() {
        match char {
            '\\' if !is_escaped => {
                is_escaped = true;
                continue;
            }
            char if char.is_whitespace() && !is_escaped => words.extend(Some(std::mem::take(&mut word))),
            char => {
                if is_escaped && char != ' ' && char != '\\' {
                    word.push('\\');
                }
                word.push(char);
            }
        }
        is_escaped = false;
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace(' ', "\\ ")
}

/// Parses the line. A relative path starts at the folder where the console was started.
pub(crate) fn read(text: &str, started_in: Option<&str>) -> Result<CreatePod, String> {
    let mut words = words(text).into_iter();
    let name = words.next().unwrap_or_default();
    let mut create = CreatePod::named(sentences::name(&name)?);
    let (mut folder, mut scope) = (None, Vec::new());
    for word in words {
        let Some((setting, value)) = word.split_once('=').filter(|(_, value)| !value.is_empty()) else {
            return Err(format!("after the name, give a setting and its value, such as model=NAME, not \"{word}\""));
        };
        let value = value.to_owned();
        match setting {
            "profile" => create.profile = Some(value),
            "folder" => folder = Some(value),
            "agent" => create.agent = Some(value),
            "model" => create.model = Some(value),
            "provider" => create.provider = Some(value),
            "thinking" => {
                let level = value.parse().map_err(|_| "thinking is off, low, medium, high or max".to_owned())?;
                create.thinking = Some(level);
            }
            "read" => scope.push((Access::Read, value)),
            "write" => scope.push((Access::Write, value)),
            "deny" => scope.push((Access::Deny, value)),
            "runtime" => create.runtime_id = Some(RuntimeId::parse(&value).map_err(|error| error.to_string())?),
            _ => return Err(format!("a new Pod has no \"{setting}\"; it has {}", SETTINGS.join(", "))),
        }
    }
    create.cwd = folder.map(|folder| absolute(&folder, started_in)).transpose()?;
    let beside = create.cwd.as_deref().or(started_in);
    let rule = |(access, path): (Access, String)| {
        Ok::<_, String>(ScopeRule { path: absolute(&path, beside)?, access, recursive: true })
    };
    let scope = scope.into_iter().map(rule).collect::<Result<Vec<_>, _>>()?;
    create.scope = Some(scope).filter(|scope| !scope.is_empty());
    Ok(create)
}

/// Parses `NAME FILE [folder=PATH]`.
pub(crate) fn read_import(text: &str, started_in: Option<&str>) -> Result<Importing, String> {
    const HELP: &str =
        "write :import NAME FILE, and folder=PATH behind it if you like; `yoi import --list` shows the sessions here";
    let words = words(text);
    let (name, path, folder) = match words.as_slice() {
        [name, path] => (name, path, None),
        [name, path, setting] => (name, path, Some(setting.strip_prefix("folder=").ok_or(HELP)?)),
        _ => return Err(HELP.to_owned()),
    };
    let cwd = folder.map(|folder| absolute(folder, started_in)).transpose()?;
    Ok(Importing { name: sentences::name(name)?, path: path.clone(), cwd })
}

fn absolute(path: &str, beside: Option<&str>) -> Result<String, String> {
    let whole = match (Path::new(path).is_absolute(), beside) {
        (true, _) => path.into(),
        (false, Some(beside)) => Path::new(beside).join(path),
        (false, None) => return Err(format!("{path} must be an absolute path on the server")),
    };
    Ok(whole.components().collect::<std::path::PathBuf>().to_string_lossy().into_owned())
}

/// Splits a line that makes a Pod, and already has its name, into what precedes the last word, and that word.
fn being_said(line: &str) -> Option<(&str, &str)> {
    let at = line.match_indices(' ').map(|(at, _)| at).rfind(|at| !line[..*at].ends_with('\\'))?;
    let (before, word) = (&line[..at], &line[at + 1..]);
    let mut said = before.split_whitespace();
    (said.next() == Some("new") && said.next().is_some()).then_some((before, word))
}

/// The last word of this line, if it is a setting of a new Pod.
pub(crate) fn last_setting(line: &str) -> Option<&str> {
    being_said(line).map(|(_, word)| word).filter(|word| word.contains('='))
}

/// The folder path that is being typed.
pub(crate) fn folder_word(line: &str) -> Option<FolderWord> {
    let (before, word) = being_said(line)?;
    let (setting, value) = word.split_once('=')?;
    let begun = words(value).concat();
    let is_path = matches!(setting, "folder" | "read" | "write" | "deny") && begun.starts_with('/');
    is_path.then(|| FolderWord { runtime: Said::of(before).runtime, begun })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_name_and_settings_and_what_is_none_is_refused_with_the_way_out() {
        let create = read(
            "ada profile=reviewer folder=/srv/my\\ app/ model=m provider=p thinking=high read=docs deny=.env",
            None,
        );
        let create = create.unwrap();
        assert_eq!(create.cwd.as_deref(), Some("/srv/my app"));
        assert_eq!((create.profile.as_deref(), create.model.as_deref()), (Some("reviewer"), Some("m")));
        let scope: Vec<_> = create.scope.unwrap().into_iter().map(|rule| (rule.access, rule.path)).collect();
        assert_eq!(scope, [(Access::Read, "/srv/my app/docs".into()), (Access::Deny, "/srv/my app/.env".into())]);
        assert_eq!(
            read("ada", Some("/here")).unwrap(),
            CreatePod::named("ada".parse().unwrap()),
            "the rest is the server's"
        );
        assert_eq!(read("ada folder=src", Some("/here")).unwrap().cwd.as_deref(), Some("/here/src"));
        for (line, says) in [
            ("ada folder=src", "an absolute path"),
            ("ada big", "such as model=NAME"),
            ("ada model=", "such as model=NAME"),
            ("ada size=3", "no \"size\"; it has profile, folder"),
            ("ada thinking=hard", "off, low, medium, high or max"),
            ("a/b", "name"),
        ] {
            assert!(read(line, None).unwrap_err().contains(says), "{line}: {:?}", read(line, None));
        }
    }

    #[test]
    fn an_import_is_a_name_a_file_and_perhaps_a_folder() {
        let read = |line: &str| read_import(line, Some("/here"));
        let (name, path) = ("old".parse().unwrap(), "my session.jsonl".to_owned());
        assert_eq!(read("old my\\ session.jsonl"), Ok(Importing { name, path, cwd: None }));
        assert_eq!(read("old a.jsonl folder=src").unwrap().cwd.as_deref(), Some("/here/src"));
        for line in ["old", "old a b", "old a folder=x more", ""] {
            assert!(read(line).unwrap_err().contains(":import NAME FILE"), "{line}");
        }
        assert!(read("a/b c").unwrap_err().contains("name"));
    }

    #[test]
    fn words_end_at_spaces_that_are_not_escaped() {
        assert_eq!(words("  a b\\ c  d\\\\e f\\g"), ["a", "b c", "d\\e", "f\\g"]);
        for path in ["/srv/my app", "/odd\\name", "/plain"] {
            assert_eq!(words(&escaped(path)), [path]);
        }
        assert_eq!(being_said("new ada folder=/my\\ a"), Some(("new ada", "folder=/my\\ a")));
        assert_eq!((being_said("new ad"), being_said("new "), being_said("open a b")), (None, None, None));
    }
}
