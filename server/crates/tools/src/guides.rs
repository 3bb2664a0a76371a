//! What a repository and this account tell Pods in Markdown files: instructions, skills, and commands of a person's own.
//!
//! Files are small, plain and reached without a symbolic link, so none of them leads out of its folder. What the Pod's
//! scope denies is not read.

mod front;
mod skill;

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
};

use pod::{Guide, Scope, SkillOffer, covers};
use protocol::{Access, OwnCommand};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};

use self::front::{Front, one_line};
pub use self::skill::SkillTool;

/// The most bytes of one file; the rest is left out, and the text says so.
const FILE_BYTES_MAX: u64 = 64 * 1024;
/// The most bytes of all instructions together.
const ALL_BYTES_MAX: usize = 128 * 1024;
/// How many folders are walked up to find the repository.
const FOLDERS_MAX: usize = 64;
/// The most names that are read in one folder, and the most skills or commands in all.
const NAMES_MAX: usize = 256;
const ITEMS_MAX: usize = 64;
/// The files with instructions, in each folder.
const INSTRUCTIONS: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];
/// Where skills are, in each folder of a repository; in the configuration folder, only `skills`.
const SKILLS: [&str; 2] = [".yoi/skills", ".claude/skills"];
const COMMANDS: &str = ".yoi/commands";

/// Finds such files.
#[derive(Debug, Clone, Default)]
pub struct Guides {
    /// The configuration folder of this account's yoi; `None`: nothing is read there.
    config: Option<PathBuf>,
}

/// A command of a person's own, ready to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    pub name: String,
    pub path: PathBuf,
    pub text: String,
}

impl Guides {
    /// `config` is the folder with `config.toml`.
    pub fn new(config: Option<&Path>) -> Self {
        // A link on the way to it is the person's own business.
        Self { config: config.and_then(|folder| fs::canonicalize(folder).ok()) }
    }

    /// The instructions for a Pod in `cwd`: of this account, then those of the repository from its root down.
    pub fn instructions(&self, cwd: &str, scope: &Scope) -> Vec<Guide> {
        let mut room = ALL_BYTES_MAX;
        let mut found: Vec<Guide> = Vec::new();
        let of_account = self.config.iter().map(|folder| folder.join(INSTRUCTIONS[0]));
        let mut folders = folders(cwd);
        folders.reverse();
        let of_folders = folders.iter().flat_map(|folder| INSTRUCTIONS.map(|name| folder.join(name)));
        let paths = of_account.chain(of_folders.filter(|path| !is_denied(scope, path)));
        for path in paths {
            let Some(text) = read(&path) else { continue };
            if text.trim().is_empty() || text.len() > room || found.iter().any(|guide| guide.text == text) {
                continue;
            }
            room -= text.len();
            found.push(Guide { path: path.display().to_string(), text });
        }
        found
    }

    /// The skills that a Pod in `cwd` can read with the tool Skill, nearest first.
    pub fn skills(&self, cwd: &str, scope: &Scope) -> Vec<SkillOffer> {
        self.all_skills(cwd, scope)
            .into_iter()
            .map(|(name, path)| {
                let front = read(&path).map(|text| Front::of(&text).0).unwrap_or_default();
                SkillOffer { name, description: one_line(front.description.as_deref().unwrap_or_default()) }
            })
            .collect()
    }

    /// A skill by its name, as it is now.
    pub fn skill(&self, cwd: &str, scope: &Scope, name: &str) -> Option<Skill> {
        let (name, path) = self.all_skills(cwd, scope).into_iter().find(|(known, _)| known == name)?;
        let text = read(&path)?;
        Some(Skill { name, path, text })
    }

    fn all_skills(&self, cwd: &str, scope: &Scope) -> Vec<(String, PathBuf)> {
        let folders = folders(cwd).into_iter().flat_map(|folder| SKILLS.map(|name| folder.join(name)));
        let folders = folders.filter(|folder| !is_denied(scope, folder));
        let mut known = BTreeSet::new();
        let mut found = Vec::new();
        for folder in folders.chain(self.config.iter().map(|folder| folder.join("skills"))) {
            for name in names_in(&folder) {
                let path = folder.join(&name).join("SKILL.md");
                if is_name(&name) && read(&path).is_some() && known.insert(name.clone()) && found.len() < ITEMS_MAX {
                    found.push((name, path));
                }
            }
        }
        found
    }

    /// The commands of a person's own for a Pod in `cwd`, nearest first.
    pub fn commands(&self, cwd: &str, scope: &Scope) -> Vec<OwnCommand> {
        let command = |(name, path): (String, PathBuf)| {
            let front = read(&path).map(|text| Front::of(&text).0).unwrap_or_default();
            let description = one_line(front.description.as_deref().unwrap_or_default());
            OwnCommand { name, description, path: path.display().to_string() }
        };
        self.all_commands(cwd, scope).into_iter().map(command).collect()
    }

    /// The message that a command stands for: its text, with `$ARGUMENTS`, `$1` to `$9` replaced; arguments that it has
    /// no place for are appended.
    pub fn message(&self, cwd: &str, scope: &Scope, name: &str, arguments: &str) -> Option<String> {
        let (_, path) = self.all_commands(cwd, scope).into_iter().find(|(known, _)| known == name)?;
        let text = read(&path)?;
        Some(filled(Front::of(&text).1, arguments.trim()))
    }

    fn all_commands(&self, cwd: &str, scope: &Scope) -> Vec<(String, PathBuf)> {
        let folders = folders(cwd).into_iter().map(|folder| folder.join(COMMANDS));
        let folders = folders.filter(|folder| !is_denied(scope, folder));
        let mut known = BTreeSet::new();
        let mut found = Vec::new();
        for folder in folders.chain(self.config.iter().map(|folder| folder.join("commands"))) {
            for file in names_in(&folder) {
                let Some(name) = file.strip_suffix(".md") else { continue };
                let path = folder.join(&file);
                if is_name(name) && read(&path).is_some() && known.insert(name.to_owned()) && found.len() < ITEMS_MAX {
                    found.push((name.to_owned(), path));
                }
            }
        }
        found
    }
}

/// The folder and those above it, up to the root of its repository; only the folder if it is in none.
fn folders(cwd: &str) -> Vec<PathBuf> {
    let above: Vec<&Path> = Path::new(cwd).ancestors().take(FOLDERS_MAX).collect();
    let root = above.iter().position(|folder| fs::symlink_metadata(folder.join(".git")).is_ok()).unwrap_or(0);
    above.into_iter().take(root + 1).map(Path::to_owned).collect()
}

fn is_denied(scope: &Scope, path: &Path) -> bool {
    let Some(path) = path.to_str() else { return true };
    scope.rules().iter().any(|rule| rule.access == Access::Deny && covers(rule, path))
}

/// The names in a folder, sorted.
fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(NAMES_MAX);
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

/// A name that can be typed after a colon.
fn is_name(name: &str) -> bool {
    let is_fit = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    !name.is_empty() && name.len() <= 64 && name.chars().all(is_fit)
}

/// The beginning of a plain file that no symbolic link leads to.
fn read(path: &Path) -> Option<String> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let opened = openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS).ok()?;
    let bytes = beginning(File::from(opened)).ok()??;
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    if bytes.len() as u64 == FILE_BYTES_MAX {
        text.push_str("\n[the rest of the file is left out: it is too long]");
    }
    Some(text)
}

fn beginning(file: File) -> io::Result<Option<Vec<u8>>> {
    if !file.metadata()?.is_file() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

fn filled(body: &str, arguments: &str) -> String {
    let words: Vec<&str> = arguments.split_whitespace().collect();
    let mut text = String::new();
    let (mut rest, mut has_place) = (body.trim(), false);
    while let Some(at) = rest.find('$') {
        text.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let number = after.chars().next().and_then(|letter| letter.to_digit(10)).filter(|number| *number > 0);
        rest = match (after.strip_prefix("ARGUMENTS"), number) {
            (Some(after), _) => {
                text.push_str(arguments);
                has_place = true;
                after
            }
            (None, Some(number)) => {
                text.push_str(words.get(number as usize - 1).copied().unwrap_or_default());
                has_place = true;
                &after[1..]
            }
            (None, None) => {
                text.push('$');
                after
            }
        };
    }
    text.push_str(rest);
    match has_place || arguments.is_empty() {
        true => text,
        false => format!("{text}\n\n{arguments}"),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use protocol::ScopeRule;

    use super::*;

    fn write(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    struct Place {
        root: tempfile::TempDir,
        guides: Guides,
        cwd: String,
    }

    fn place() -> Place {
        let root = tempfile::tempdir().unwrap();
        let real = root.path().canonicalize().unwrap();
        fs::create_dir_all(real.join("repo/.git")).unwrap();
        fs::create_dir_all(real.join("repo/a/b")).unwrap();
        fs::create_dir_all(real.join("config")).unwrap();
        let guides = Guides::new(Some(&real.join("config")));
        Place { cwd: real.join("repo/a/b").to_str().unwrap().to_owned(), root, guides }
    }

    #[test]
    fn instructions_are_read_from_the_home_and_from_the_root_down_and_nothing_above_it() {
        let Place { root, guides, cwd } = place();
        write(root.path(), "AGENTS.md", "above");
        write(root.path(), "config/AGENTS.md", "mine");
        write(root.path(), "repo/AGENTS.md", "root");
        write(root.path(), "repo/CLAUDE.md", "root");
        write(root.path(), "repo/a/CLAUDE.md", "middle");
        write(root.path(), "repo/a/b/AGENTS.md", "here");
        let texts = |scope: &Scope| -> Vec<String> {
            guides.instructions(&cwd, scope).into_iter().map(|guide| guide.text).collect()
        };
        assert_eq!(texts(&Scope::default()), ["mine", "root", "middle", "here"]);
        let path = root.path().canonicalize().unwrap().join("repo/a/CLAUDE.md").to_str().unwrap().to_owned();
        let denied = ScopeRule { path, access: Access::Deny, recursive: true };
        assert_eq!(texts(&Scope::new([denied], [])), ["mine", "root", "here"]);
        fs::remove_dir(root.path().join("repo/.git")).unwrap();
        assert_eq!(texts(&Scope::default()), ["mine", "here"], "in no repository");
    }

    #[test]
    fn no_link_is_followed_and_what_is_no_file_is_not_read() {
        let Place { root, guides, cwd } = place();
        write(root.path(), "secret/SKILL.md", "zebra");
        write(root.path(), "secret/x.md", "zebra");
        symlink(root.path().join("secret/x.md"), root.path().join("repo/AGENTS.md")).unwrap();
        fs::create_dir_all(root.path().join("repo/CLAUDE.md")).unwrap();
        fs::create_dir_all(root.path().join("repo/.yoi/skills")).unwrap();
        symlink(root.path().join("secret"), root.path().join("repo/.yoi/skills/leak")).unwrap();
        symlink(root.path().join("secret"), root.path().join("repo/.yoi/commands")).unwrap();
        let scope = Scope::default();
        assert!(guides.instructions(&cwd, &scope).is_empty());
        assert!(guides.skills(&cwd, &scope).is_empty());
        assert!(guides.commands(&cwd, &scope).is_empty());
    }

    #[test]
    fn skills_and_commands_are_offered_by_name_and_the_nearest_one_counts() {
        let Place { root, guides, cwd } = place();
        let skill = |what: &str| format!("---\nname: x\ndescription: \"{what}\"\n---\nDo it.");
        write(root.path(), "config/skills/deploy/SKILL.md", &skill("mine"));
        write(root.path(), "repo/.claude/skills/deploy/SKILL.md", &skill("the repository's"));
        write(root.path(), "repo/a/b/.yoi/skills/lint/SKILL.md", "no head");
        write(root.path(), "repo/.yoi/skills/bad name/SKILL.md", "x");
        let scope = Scope::default();
        let offers = guides.skills(&cwd, &scope);
        let names: Vec<_> = offers.iter().map(|offer| (offer.name.as_str(), offer.description.as_str())).collect();
        assert_eq!(names, [("lint", ""), ("deploy", "the repository's")]);
        assert!(guides.skill(&cwd, &scope, "deploy").unwrap().text.ends_with("Do it."));
        assert_eq!(guides.skill(&cwd, &scope, "../deploy"), None);

        write(
            root.path(),
            "config/commands/fix.md",
            "---\ndescription: Fixes an issue\n---\nFix $1 and then $ARGUMENTS.",
        );
        write(root.path(), "repo/.yoi/commands/plain.md", "Look around.");
        let commands = guides.commands(&cwd, &scope);
        let names: Vec<_> = commands.iter().map(|one| (one.name.as_str(), one.description.as_str())).collect();
        assert_eq!(names, [("plain", ""), ("fix", "Fixes an issue")]);
        assert_eq!(guides.message(&cwd, &scope, "fix", " 7 now ").unwrap(), "Fix 7 and then 7 now.");
        assert_eq!(guides.message(&cwd, &scope, "plain", "").unwrap(), "Look around.");
        assert_eq!(guides.message(&cwd, &scope, "plain", "here").unwrap(), "Look around.\n\nhere");
        assert_eq!(guides.message(&cwd, &scope, "nothing", ""), None);
    }
}
